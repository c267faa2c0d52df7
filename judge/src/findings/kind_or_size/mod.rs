//! Is it the kind of thread that helps, or only how many there are? Virtual threads against a platform pool with a thread for
//! each request in flight, alike in everything else.

mod rule;
mod words;

pub(crate) use rule::find;

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
    pub metric: Metric,
    pub ratio: f64,
    pub interval: Interval,
    /// The interval lies so near 1 that the difference does not matter in practice.
    pub is_same: bool,
    pub pool_os_threads: f64,
    pub virtual_os_threads: Option<f64>,
    pub cpu_per_request_ratio: Option<f64>,
    /// Of `cpu_per_request_ratio`.
    pub cpu_per_request_interval: Option<Interval>,
}
