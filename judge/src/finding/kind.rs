//! The kind of thread, and how many.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use threadcount_model::interval::Interval;
use threadcount_model::metric::Metric;

/// A platform pool with a thread for each request in flight, divided by virtual threads.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names are the definition")]
pub struct KindOrSize {
    pub pool_threads: u32,
    /// What the load is run for: throughput, under an open load the median response time, of a search the capacity.
    #[serde(default = "rate")]
    pub metric: Metric,
    #[serde(alias = "rate_ratio")]
    pub ratio: f64,
    #[serde(alias = "rate_interval")]
    pub interval: Interval,
    /// The interval lies so near 1 that the difference does not matter in practice.
    #[serde(alias = "is_same_rate")]
    pub is_same: bool,
    pub pool_os_threads: f64,
    pub virtual_os_threads: Option<f64>,
    pub cpu_per_request_ratio: Option<f64>,
    /// Of `cpu_per_request_ratio`; `None`: an older result.
    #[serde(default)]
    pub cpu_per_request_interval: Option<Interval>,
}

/// Of results of versions that compared the throughput only.
const fn rate() -> Metric {
    Metric::Rate
}

/// Two variants that are compared differ in the kind of thread and in how many requests may be in work at once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct KindAndNumber {
    /// The variant on the smaller platform pool.
    pub pool_variant: String,
    /// The threads of its pool.
    pub pool_threads: u32,
    /// Requests in flight, each of which has a thread of its own in the other variant; so large a platform pool would tell the
    /// two apart.
    pub requests_in_flight: u32,
    /// A variant of the experiment with such a pool, which was not measured under this load; `None`: it has none.
    pub sized_variant: Option<String>,
    /// What makes so many requests be in flight where the load does not say it; `None`: the clients of a closed loop.
    #[serde(default)]
    pub arrivals: Option<Arrivals>,
}

/// Requests that arrive at a rate. By Little's law rate x service time of them are in flight on average.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names are the definition")]
pub struct Arrivals {
    pub rate_per_s: f64,
    /// On average, where each request has a thread of its own.
    pub service_time_ms: f64,
}

impl Arrivals {
    /// How many requests are in flight on average.
    #[must_use]
    pub fn in_flight(&self) -> f64 {
        self.rate_per_s * self.service_time_ms / 1_000.0
    }

    /// How many threads a pool needs to have one for each of them nearly always: a tenth more than the mean, and three
    /// standard deviations of arrivals at random (Poisson) where that is more. One of the mean is full half of the time.
    #[must_use]
    pub fn threads_needed(&self) -> f64 {
        let mean = self.in_flight();
        (1.1 * mean).max(mean + 3.0 * mean.sqrt())
    }
}
