//! Which code allocates, by the JVM's samples in the explaining window.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Samples of allocations by stack; those of the probe are left out.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AllocationProfile {
    /// Number of all samples, including those whose stacks are not in `stacks`.
    pub samples: u64,
    /// Bytes that the samples stand for.
    pub bytes: u64,
    /// The stacks with the most bytes, at most 200, in descending order.
    pub stacks: Vec<AllocationStack>,
}

/// One stack.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AllocationStack {
    /// `Class.method`, the bottom of the stack first; the last one is `new` and the class of the object.
    pub frames: Vec<String>,
    /// Number of samples with this stack.
    pub samples: u64,
    /// Bytes that these samples stand for.
    pub bytes: u64,
    /// The sum of the squared bytes of each sample: the variance of `bytes`, as samples come by chance.
    pub bytes_squared: f64,
}
