//! Limits on CPU and memory of the server and the load generator, and their effects over the window.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Limits and their effects.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ResourceLimits {
    /// Online CPUs.
    pub machine_cpus: u32,
    pub server: CpuLimits,
    pub generator: CpuLimits,
    /// `None`: the server has no quota.
    pub throttling: Option<Throttling>,
    /// The load generator is under the same quota.
    pub generator_shares_quota: bool,
    /// Of the server's control groups; `None`: no limit.
    pub memory_limit_bytes: Option<u64>,
    /// Of the server's control group.
    pub memory_events: Option<MemoryEvents>,
    /// Of the whole machine.
    pub machine_pressure: Pressure,
    /// Of the server's control group; `None`: no group of its own, or cgroup v1.
    pub server_pressure: Option<Pressure>,
}

/// CPU that a process may use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CpuLimits {
    /// CPUs in its affinity mask, which has none outside its cpuset; of a load generator whose threads are pinned, those of
    /// the threads.
    pub affinity_cpus: u32,
    /// CPUs in the cpuset of its control group; `None`: no such controller.
    pub cpuset_cpus: Option<u32>,
    /// The smallest quota of its control groups, in cores; `None`: no quota.
    pub quota_cores: Option<f64>,
}

impl CpuLimits {
    /// Its threads are pinned to these cores; with none they are not pinned.
    pub fn pinned_to(&mut self, cores: &[usize]) {
        if !cores.is_empty() {
            self.affinity_cpus = self.affinity_cpus.min(cores.len() as u32);
        }
    }

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
    /// In cores.
    pub quota_cores: f64,
    /// Length of a period.
    pub period_ms: f64,
    /// Periods of the window with something to run.
    pub periods: u64,
    /// Periods in which the quota was used up.
    pub throttled_periods: u64,
    /// Sum over all CPUs.
    pub throttled_ms: f64,
    /// Throttled periods divided by the periods that fit into the window.
    pub share: f64,
}

/// Counters of `memory.events`.
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

/// Shares of the window in which tasks waited (pressure stall information); `None`: not reported. `some`: at least
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
