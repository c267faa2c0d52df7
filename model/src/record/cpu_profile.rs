//! Which code uses the CPU, by the JVM's samples in the explaining window.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Samples of running threads by stack; those of the probe are left out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CpuProfile {
    pub source: CpuSampleSource,
    /// All samples, those of stacks that are not in `stacks` included.
    pub samples: u64,
    /// Those with the most samples first, at most 400.
    pub stacks: Vec<CpuStack>,
}

/// How the JVM takes the samples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CpuSampleSource {
    /// Each thread after so much CPU time of its own (JEP 509, Java 25 and later).
    CpuTime,
    /// Some of the threads that run Java code, at fixed times.
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
