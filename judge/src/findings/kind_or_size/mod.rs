//! Does the kind of thread help, or only the number of threads? Compares virtual threads with a platform pool that has a thread for
//! each request in flight and is alike in everything else.

mod rule;
mod words;

pub(crate) use rule::find;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use threadcount_model::interval::Interval;
use threadcount_model::metric::Metric;

/// A platform pool with a thread for each request in flight, compared with virtual threads (pool divided by virtual).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names are the definition")]
pub struct KindOrSize {
    pub pool_threads: u32,
    /// The metric that the load is run for: throughput, under an open load the median response time, in a search the capacity.
    pub metric: Metric,
    pub ratio: f64,
    pub interval: Interval,
    /// Whether the interval is so close to 1 that the difference does not matter in practice.
    pub is_same: bool,
    pub pool_os_threads: f64,
    pub virtual_os_threads: Option<f64>,
    pub cpu_per_request_ratio: Option<f64>,
    /// Interval of `cpu_per_request_ratio`.
    pub cpu_per_request_interval: Option<Interval>,
}
