//! What took CPU away from a run from outside. Its figures are then not the server's alone.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What weighed on a run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the fields are cores, and the cores of the machine")]
pub enum Interference {
    /// The hypervisor gave cores of this virtual machine to others.
    Steal { cores: f64, of_cores: u32 },
    /// Neither the server, nor its backend, nor the load generator.
    OtherProcesses { cores: f64, of_cores: u32 },
}
