//! What the server and the load generator may use of the machine, and what the kernel held back over the window.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Limits and what they did.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ResourceLimits {
    /// CPUs of the machine that are online.
    pub machine_cpus: u32,
    /// What the server may use.
    pub server: CpuLimits,
    /// What the load generator may use.
    pub generator: CpuLimits,
    /// How often the server had used up its quota; `None`: it has no quota.
    pub throttling: Option<Throttling>,
    /// Is the load generator held back by the same quota?
    pub generator_shares_quota: bool,
    /// Memory the server's control groups may use, bytes; `None`: no limit.
    pub memory_limit_bytes: Option<u64>,
    /// How often the server's control group ran into its memory limits.
    pub memory_events: Option<MemoryEvents>,
    /// Tasks of the whole machine that waited for a resource.
    pub machine_pressure: Pressure,
    /// Tasks of the server's control group; `None`: it has no group of its own, or only the controllers of version 1.
    pub server_pressure: Option<Pressure>,
}

/// How much CPU a process may use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CpuLimits {
    /// CPUs in its affinity mask, in which those outside of its cpuset are missing.
    pub affinity_cpus: u32,
    /// CPUs of its control group's cpuset; `None`: no such controller.
    pub cpuset_cpus: Option<u32>,
    /// The smallest quota of its control groups, in cores; `None`: no quota.
    pub quota_cores: Option<f64>,
}

impl CpuLimits {
    /// The most cores it can use on average.
    #[must_use]
    pub fn cores(&self) -> f64 {
        let cpus = f64::from(self.affinity_cpus);
        self.quota_cores.map_or(cpus, |quota| quota.min(cpus))
    }
}

/// A quota over the window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Throttling {
    /// CPU time per time, in cores.
    pub quota_cores: f64,
    /// The kernel gives it out in periods of this length.
    pub period_ms: f64,
    /// Periods of the window in which there was something to run.
    pub periods: u64,
    /// Those in which the quota was used up and everything waited for the next period.
    pub throttled_periods: u64,
    /// How long CPUs were held back, all of them added up.
    pub throttled_ms: f64,
    /// Throttled periods, as a share of the periods that the window has room for.
    pub share: f64,
}

/// How often a limit of memory was met, as `memory.events` counts it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryEvents {
    /// Above `memory.high`: memory was reclaimed at once.
    pub high: u64,
    /// At the limit: an allocation had to wait for memory to be reclaimed.
    pub max: u64,
    /// Nothing could be reclaimed.
    pub oom: u64,
    /// Processes killed.
    pub oom_kill: u64,
}

/// Shares of the window in which tasks waited (pressure stall information); `None`: the kernel does not tell. `some`: at least
/// one task; `full`: all of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names are the definition")]
pub struct Pressure {
    pub cpu_some_share: Option<f64>,
    pub memory_some_share: Option<f64>,
    pub memory_full_share: Option<f64>,
    pub io_some_share: Option<f64>,
    pub io_full_share: Option<f64>,
}
