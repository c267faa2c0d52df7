//! The report of an external load tool.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use threadcount_load::health::FULL_CORE;

/// One load, sent by one or more concurrent processes of the tool.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ExternalLoad {
    /// The tool's name and version as it prints them, e.g. `ApacheBench 2.3`.
    pub tool: String,
    pub processes: Vec<ExternalProcess>,
    /// Response times of all requests of all processes.
    pub times: ExternalTimes,
}

impl ExternalLoad {
    /// Number of processes that used a whole core (each has one thread): the tool is then the bottleneck.
    #[must_use]
    pub fn full_processes(&self) -> u32 {
        self.processes.iter().filter(|process| process.cpu_share > FULL_CORE).count() as u32
    }
}

/// One process of the tool.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ExternalProcess {
    /// The exact command line.
    pub command: Vec<String>,
    /// File with its output, relative to the result folder.
    pub output: Option<String>,
    /// Completed requests, failed ones included.
    pub requests: u64,
    /// Failed requests, as the tool counts them.
    pub failed: u64,
    /// Responses with another status than 2xx, which the tool does not count as failed.
    pub not_2xx: u64,
    /// Requests per second, as printed.
    pub rate_per_s: f64,
    /// Measured time, as printed, in seconds.
    pub elapsed_s: f64,
    pub received_bytes: u64,
    /// CPU time of the process, by the kernel's account, in seconds.
    pub cpu_s: f64,
    /// CPU time as a share of one core over the time that the process measured.
    pub cpu_share: f64,
}

/// Response times in milliseconds that the tool reports: in steps of 1 %, so beyond p99 only the slowest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names are the definition")]
pub struct ExternalTimes {
    pub mean_ms: f64,
    pub p50_ms: f64,
    pub p75_ms: f64,
    pub p90_ms: f64,
    pub p95_ms: f64,
    pub p99_ms: f64,
    pub max_ms: f64,
}
