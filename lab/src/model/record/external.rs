//! What an external load tool reports of its own load.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use threadcount_load::health::FULL_CORE;

/// One load by an external tool: one or more processes at once.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ExternalLoad {
    /// Its name and version as it prints them, e.g. `ApacheBench 2.3`.
    pub tool: String,
    /// Each of its processes.
    pub processes: Vec<ExternalProcess>,
    /// Over all requests of all processes.
    pub times: ExternalTimes,
}

impl ExternalLoad {
    /// How many of its processes, which have one thread each, used their whole core: then the figures are the tool's own.
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
    /// What it printed; a file relative to the result folder.
    pub output: Option<String>,
    /// Requests it completed, failures among them.
    pub requests: u64,
    /// Those it counts as failed.
    pub failed: u64,
    /// Answers with another status than 2xx, which it does not count as failed.
    pub not_2xx: u64,
    /// Requests per second, as printed.
    pub rate_per_s: f64,
    /// How long it measured, as printed, in seconds.
    pub elapsed_s: f64,
    /// Bytes it received.
    pub received_bytes: u64,
    /// CPU time it used from its start to its end, by the kernel's account, in seconds.
    pub cpu_s: f64,
    /// The same as a share of one core over the time it measured.
    pub cpu_share: f64,
}

/// Response times in milliseconds, as far as the tool reports them: in steps of 1 %, so nothing beyond p99 but the slowest.
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
