//! Which code allocates, by the JVM's samples in the explaining window.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Samples of allocations by stack; those of the probe are left out.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AllocationProfile {
    /// All samples, those of stacks that are not in `stacks` included.
    pub samples: u64,
    /// What they stand for.
    pub bytes: u64,
    /// Those with the most bytes first, at most 200.
    pub stacks: Vec<AllocationStack>,
}

/// One stack.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AllocationStack {
    /// `Class.method`, the bottom of the stack first; the last one is `new` and the class of the object.
    pub frames: Vec<String>,
    /// Its samples.
    pub samples: u64,
    /// What they stand for.
    pub bytes: u64,
    /// The sum of the squares of what each stands for: the variance of `bytes`, as samples come by chance.
    pub bytes_squared: f64,
}
