//! The size of a microbenchmark: what JMH is asked to do, where a server would be asked by a load.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How often JMH repeats. Each iteration is as long as the load's duration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Benchmark {
    /// Fresh JVMs, one after the other.
    pub forks: u32,
    /// Iterations in each of them that are not measured.
    pub warmups: u32,
    /// Iterations in each of them that are measured.
    pub iterations: u32,
}

impl Benchmark {
    /// All iterations of all forks, measured or not.
    #[must_use]
    pub const fn all_iterations(self) -> u32 {
        self.forks * (self.warmups + self.iterations)
    }
}
