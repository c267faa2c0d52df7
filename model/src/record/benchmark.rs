//! The score of a microbenchmark.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One benchmark method in all its forks, as JMH reports it; times in microseconds per operation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BenchmarkScore {
    /// The method with its class.
    pub method: String,
    /// JMH's version.
    pub jmh: String,
    /// The mean over all measured iterations.
    pub score_us: f64,
    /// Half of JMH's 99.9 % interval, within this one run; `None`: too few iterations.
    pub error_us: Option<f64>,
    /// JMH's unit, e.g. `us/op`.
    pub unit: String,
    /// Number of JVMs.
    pub forks: u32,
    /// Number of measured iterations in each.
    pub iterations: u32,
    /// Each measured iteration, fork by fork.
    pub iterations_us: Vec<Vec<f64>>,
    /// JMH's own file, relative to the result folder.
    pub file: Option<String>,
}
