//! CPU that others used during a run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The source of the interference.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the fields are cores, and the cores of the machine")]
pub enum Interference {
    /// The hypervisor ran other machines.
    Steal { cores: f64, of_cores: u32 },
    /// Processes other than the server, its backends and the load generator used CPU.
    OtherProcesses {
        cores: f64,
        of_cores: u32,
        /// The process id of another session of this program, if one was among the processes.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        session: Option<u32>,
        /// The processes of one name that used the most CPU.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        busiest: Option<BusiestProcess>,
    },
}

/// The processes of one name that used the most CPU, apart from the server, its backends and the load generator.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BusiestProcess {
    /// The processes' name in the kernel (`/proc/PID/comm`, proc_pid_comm(5)).
    pub name: String,
    /// The id of the busiest of these processes.
    pub pid: u32,
    /// Cores that these processes used on average, including their children that have ended.
    pub cores: f64,
}
