//! The size of a microbenchmark.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The number of JMH's repetitions. Each iteration is as long as the load's duration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Benchmark {
    /// Fresh JVMs, one after the other.
    pub forks: u32,
    /// Warm-up iterations per fork.
    pub warmups: u32,
    /// Measured iterations per fork.
    pub iterations: u32,
}

impl Benchmark {
    /// The iterations of all forks, warm-up included.
    #[must_use]
    pub const fn all_iterations(self) -> u32 {
        self.forks * (self.warmups + self.iterations)
    }
}
