//! The kind of thread, and how many.

use crate::model::interval::Interval;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A platform pool as large as the load has clients, divided by virtual threads.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names are the definition")]
pub struct KindOrSize {
    pub pool_threads: u32,
    pub rate_ratio: f64,
    pub rate_interval: Interval,
    /// The interval lies so near 1 that the difference does not matter in practice.
    pub is_same_rate: bool,
    pub pool_os_threads: f64,
    pub virtual_os_threads: Option<f64>,
    pub cpu_per_request_ratio: Option<f64>,
}

/// Two variants that are compared differ in the kind of thread and in how many requests may be in work at once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
}
