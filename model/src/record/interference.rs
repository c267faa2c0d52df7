//! CPU that others used during a run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Who used it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
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
        /// Who used the most.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        busiest: Option<BusiestProcess>,
    },
}

/// The processes of one name that used the most CPU, of those that are neither the server, nor its backend, nor the load generator.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BusiestProcess {
    /// The name that the kernel has of them (`/proc/PID/comm`, proc_pid_comm(5)).
    pub name: String,
    /// The process id of the busiest one.
    pub pid: u32,
    /// Cores that they used on average, with their children that have ended.
    pub cores: f64,
}
