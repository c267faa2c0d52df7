//! CPU that others used during a run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Who used it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the fields are cores, and the cores of the machine")]
pub enum Interference {
    /// The hypervisor ran other machines.
    Steal { cores: f64, of_cores: u32 },
    /// Other than the server, its backend and the load generator.
    OtherProcesses {
        cores: f64,
        of_cores: u32,
        /// The process id of another session of this program among them.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        session: Option<u32>,
    },
}
