//! Which code uses the CPU, by the JVM's samples in the explaining window.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Samples of running threads by stack; those of the probe are left out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CpuProfile {
    pub source: CpuSampleSource,
    /// Number of all samples, including those whose stacks are not in `stacks`.
    pub samples: u64,
    /// The stacks with the most samples, at most 400, in descending order.
    pub stacks: Vec<CpuStack>,
}

/// How the JVM takes the samples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CpuSampleSource {
    /// Each thread is sampled after a fixed amount of its own CPU time (JEP 509, Java 25 and later).
    CpuTime,
    /// Some of the threads that run Java code are sampled at fixed times.
    #[default]
    Execution,
}

/// One stack.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CpuStack {
    /// `Class.method`, the bottom of the stack first.
    pub frames: Vec<String>,
    pub samples: u64,
}
