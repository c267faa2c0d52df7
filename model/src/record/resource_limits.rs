//! Limits on CPU and memory of the server and the load generator, and their effects over the window.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The limits and their effects.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ResourceLimits {
    /// Online CPUs.
    pub machine_cpus: u32,
    pub server: CpuLimits,
    pub generator: CpuLimits,
    /// Throttling by the server's CPU quota; `None`: the server has no quota.
    pub throttling: Option<Throttling>,
    /// The load generator is under the same quota.
    pub generator_shares_quota: bool,
    /// The scheduling group in which all threads of the server compete with the load generator for the CPU, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shared_group: Option<SharedGroup>,
    /// The memory limit of the server's control groups; `None`: no limit.
    pub memory_limit_bytes: Option<u64>,
    /// Memory events of the server's control group.
    pub memory_events: Option<MemoryEvents>,
    /// Pressure on the whole machine.
    pub machine_pressure: Pressure,
    /// Pressure in the server's control group; `None`: no group of its own, or cgroup v1.
    pub server_pressure: Option<Pressure>,
}

impl ResourceLimits {
    /// The figures of several windows of about the same length as one.
    #[must_use]
    pub fn of_windows(windows: &[Self]) -> Option<Self> {
        let last = windows.last()?;
        let throttling: Vec<Throttling> = windows.iter().filter_map(|it| it.throttling).collect();
        let events: Vec<MemoryEvents> = windows.iter().filter_map(|it| it.memory_events).collect();
        let machine: Vec<Pressure> = windows.iter().map(|it| it.machine_pressure).collect();
        let server: Vec<Pressure> = windows.iter().filter_map(|it| it.server_pressure).collect();
        Some(Self {
            throttling: Throttling::of_windows(&throttling),
            memory_events: MemoryEvents::of_windows(&events),
            machine_pressure: Pressure::of_windows(&machine),
            server_pressure: last.server_pressure.map(|_| Pressure::of_windows(&server)),
            ..last.clone()
        })
    }
}

/// The CPU that a process may use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CpuLimits {
    /// CPUs in the affinity mask, which lies within the cpuset. For a load generator with pinned threads, the CPUs of its threads.
    pub affinity_cpus: u32,
    /// CPUs in the cpuset of the process's control group; `None`: no such controller.
    pub cpuset_cpus: Option<u32>,
    /// The smallest quota of the process's control groups, in cores; `None`: no quota.
    pub quota_cores: Option<f64>,
}

impl CpuLimits {
    /// Takes into account that the threads are pinned to these cores; an empty list means not pinned.
    pub fn pinned_to(&mut self, cores: &[usize]) {
        if !cores.is_empty() {
            self.affinity_cpus = self.affinity_cpus.min(cores.len() as u32);
        }
    }

    /// The largest number of cores that the process can use on average.
    #[must_use]
    pub fn cores(&self) -> f64 {
        let cpus = f64::from(self.affinity_cpus);
        self.quota_cores.map_or(cpus, |quota| quota.min(cpus))
    }
}

/// A scheduling group that contains both the server and the load generator. The CPU is divided among groups first, so within one group
/// a server with many threads gets more of it (sched(7), "The autogroup feature").
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SharedGroup {
    /// The autogroup of their common session.
    Session,
    /// A control group with the cpu controller.
    ControlGroup,
    /// The only scheduling group of the machine.
    Machine,
}

impl SharedGroup {
    /// Whether sharing a group matters for a server that uses this many of the machine's cores.
    #[must_use]
    pub fn matters(cpu_cores: f64, machine_cores: u32) -> bool {
        cpu_cores >= f64::from(machine_cores) / 2.0
    }
}

/// The effect of a CPU quota over the window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Throttling {
    /// The quota, in cores.
    pub quota_cores: f64,
    /// Length of a quota period.
    pub period_ms: f64,
    /// Periods of the window with something to run.
    pub periods: u64,
    /// Periods in which the quota was used up.
    pub throttled_periods: u64,
    /// Throttled time, summed over all CPUs.
    pub throttled_ms: f64,
    /// Throttled periods divided by the periods that fit into the window.
    pub share: f64,
}

impl Throttling {
    fn of_windows(windows: &[Self]) -> Option<Self> {
        let last = windows.last()?;
        Some(Self {
            periods: windows.iter().map(|it| it.periods).sum(),
            throttled_periods: windows.iter().map(|it| it.throttled_periods).sum(),
            throttled_ms: windows.iter().map(|it| it.throttled_ms).sum(),
            share: windows.iter().map(|it| it.share).sum::<f64>() / windows.len() as f64,
            ..*last
        })
    }
}

/// Counters of `memory.events`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryEvents {
    /// Times that usage was above `memory.high`, so that memory was reclaimed at once.
    pub high: u64,
    /// Times that usage was at the limit, so that an allocation waited for memory to be reclaimed.
    pub max: u64,
    /// Times that nothing could be reclaimed.
    pub oom: u64,
    /// Number of processes killed.
    pub oom_kill: u64,
}

impl MemoryEvents {
    fn of_windows(windows: &[Self]) -> Option<Self> {
        let sum = |counter: fn(&Self) -> u64| windows.iter().map(counter).sum();
        (!windows.is_empty()).then(|| Self {
            high: sum(|it| it.high),
            max: sum(|it| it.max),
            oom: sum(|it| it.oom),
            oom_kill: sum(|it| it.oom_kill),
        })
    }
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

impl Pressure {
    fn of_windows(windows: &[Self]) -> Self {
        let mean = |share: fn(&Self) -> Option<f64>| {
            let shares = windows.iter().map(share).collect::<Option<Vec<f64>>>()?;
            (!shares.is_empty()).then(|| shares.iter().sum::<f64>() / shares.len() as f64)
        };
        Self {
            cpu_some_share: mean(|it| it.cpu_some_share),
            memory_some_share: mean(|it| it.memory_some_share),
            memory_full_share: mean(|it| it.memory_full_share),
            io_some_share: mean(|it| it.io_some_share),
            io_full_share: mean(|it| it.io_full_share),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_of_several_windows_are_added_up_and_shares_are_their_mean() {
        let window = |throttled_periods, share, cpu| ResourceLimits {
            machine_cpus: 2,
            throttling: Some(Throttling { throttled_periods, share, periods: 10, ..Throttling::default() }),
            memory_events: Some(MemoryEvents { max: throttled_periods, ..MemoryEvents::default() }),
            machine_pressure: Pressure { cpu_some_share: Some(cpu), ..Pressure::default() },
            ..ResourceLimits::default()
        };
        let whole = ResourceLimits::of_windows(&[window(3, 0.3, 0.5), window(5, 0.5, 0.7)]).unwrap();
        let throttling = whole.throttling.unwrap();
        assert_eq!((throttling.throttled_periods, throttling.periods), (8, 20));
        assert!((throttling.share - 0.4).abs() < 1e-9);
        assert_eq!((whole.machine_cpus, whole.memory_events.unwrap().max), (2, 8));
        assert!((whole.machine_pressure.cpu_some_share.unwrap() - 0.6).abs() < 1e-9);
        assert_eq!((whole.machine_pressure.io_full_share, whole.server_pressure), (None, None));
        assert_eq!(ResourceLimits::of_windows(&[]), None);
    }
}
