//! A server behind the server: how it was started, and what was observed of it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A server behind the server, as it was started.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BackendFacts {
    /// The backend's role.
    pub name: String,
    /// The exact command line.
    pub command: Vec<String>,
    pub url: String,
    /// The version of its JVM; `None`: not a JVM.
    pub java: Option<String>,
    /// Its log file, relative to the result folder.
    pub log: Option<String>,
    /// Its process id; `None`: not known.
    pub pid: Option<u32>,
    /// The time from launch until the backend was ready; `None`: not known.
    pub ready_after_ms: Option<f64>,
}

/// CPU, threads, memory and connections of a server behind the server, over the measured window.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BackendFigures {
    /// The backend's role.
    pub name: String,
    /// CPU of its process tree, in cores.
    pub cpu_cores: f64,
    /// CPU of its process tree in the busiest second, in cores; `None`: a window below one second.
    pub cpu_cores_peak: Option<f64>,
    /// CPU of its busiest thread from just before the load until just after it, in cores; `None`: not readable.
    pub busiest_thread_cores: Option<f64>,
    /// The cores that it may use, by number.
    pub cores: Vec<usize>,
    /// CPU in use on these cores, by all processes; `None`: not known of single cores.
    pub cores_in_use: Option<f64>,
    /// Threads of all its processes.
    pub os_threads_peak: u32,
    /// Resident memory; pages shared between its processes count once per process.
    pub rss_peak_bytes: u64,
    /// Proportional set size: pages shared between its processes count once.
    pub pss_peak_bytes: Option<u64>,
    /// Established connections to its port; `None`: not readable.
    pub connections: Option<BackendConnections>,
}

/// Established connections to its port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BackendConnections {
    pub mean: f64,
    pub peak: u32,
    /// The most connections that it accepts, as the experiment states.
    pub limit: Option<u32>,
}
