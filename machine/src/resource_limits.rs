//! The limits of the server and of the load generator, read before and after a load.

use super::cgroup::cpu::{self, Quota, ThrottleCounters};
use super::cgroup::membership::Levels;
use super::cgroup::pressure::StallTotals;
use super::cgroup::{Membership, memory};
use super::{machine, own_cores, scheduling_group};
use std::path::PathBuf;
use threadcount_load::clock::{Nanos, now_ns};
use threadcount_model::record::resource_limits::{
    CpuLimits, MemoryEvents, Pressure, ResourceLimits, Throttling,
};

/// The counters at the moment when a load began.
#[derive(Clone, Debug)]
pub struct LimitsReading {
    server_pid: u32,
    groups: Membership,
    /// The counters of the level with the smallest quota.
    throttled: Option<(PathBuf, Quota, ThrottleCounters)>,
    memory_events: Option<MemoryEvents>,
    machine: StallTotals,
    server: Option<StallTotals>,
    at_ns: Nanos,
}

impl LimitsReading {
    /// Reads the counters of the server with this process id.
    #[must_use]
    pub fn take(server_pid: u32) -> Self {
        let groups = Membership::of_process(server_pid);
        Self {
            server_pid,
            throttled: groups.cpu.as_ref().and_then(throttled),
            memory_events: groups.memory.as_ref().and_then(memory::events),
            machine: StallTotals::of_machine(),
            server: groups.unified.as_ref().and_then(StallTotals::of_group),
            at_ns: now_ns(),
            groups,
        }
    }

    /// The limits, and their effect since this reading.
    #[must_use]
    pub fn until_now(&self) -> ResourceLimits {
        let after = Self::take(self.server_pid);
        let between_ns = after.at_ns.saturating_sub(self.at_ns);
        let own = Membership::of_process(std::process::id());
        let pressure = |before: StallTotals, after: StallTotals| before.until(after, between_ns);
        ResourceLimits {
            machine_cpus: machine::online_cpus(),
            server: cpu_limits(self.server_pid, &self.groups),
            generator: cpu_limits(std::process::id(), &own),
            throttling: self.throttling(&after, between_ns),
            generator_shares_quota: self.throttled.as_ref().is_some_and(|(folder, ..)| {
                own.cpu.as_ref().is_some_and(|levels| levels.folders.contains(folder))
            }),
            shared_group: scheduling_group::shared(self.server_pid, std::process::id()),
            memory_limit_bytes: self.groups.memory.as_ref().and_then(memory::limit_bytes),
            memory_events: self.memory_events.zip(after.memory_events).map(|(a, b)| memory::grown(a, b)),
            machine_pressure: pressure(self.machine, after.machine),
            server_pressure: self.server.zip(after.server).map(|(a, b)| -> Pressure { pressure(a, b) }),
        }
    }

    fn throttling(&self, after: &Self, between_ns: Nanos) -> Option<Throttling> {
        let (folder, quota, before) = self.throttled.as_ref()?;
        let (_, _, after) = after.throttled.as_ref().filter(|(other, ..)| other == folder)?;
        let throttled_periods = after.throttled_periods.saturating_sub(before.throttled_periods);
        let room_for = between_ns as f64 / 1e6 / quota.period_ms;
        Some(Throttling {
            quota_cores: quota.cores,
            period_ms: quota.period_ms,
            periods: after.periods.saturating_sub(before.periods),
            throttled_periods,
            throttled_ms: after.throttled_ns.saturating_sub(before.throttled_ns) as f64 / 1e6,
            share: if room_for > 0.0 { (throttled_periods as f64 / room_for).min(1.0) } else { 0.0 },
        })
    }
}

/// The counters of a server's CPU quota, to be read often.
#[derive(Clone, Debug)]
pub struct QuotaReader {
    folder: PathBuf,
    is_v2: bool,
}

impl QuotaReader {
    /// A reader for a process's quota; `None` if it has none.
    #[must_use]
    pub fn of_process(pid: u32) -> Option<Self> {
        let levels = Membership::of_process(pid).cpu?;
        let (folder, ..) = throttled(&levels)?;
        Some(Self { folder, is_v2: levels.is_v2 })
    }

    /// Reads the counters now.
    #[must_use]
    pub fn counters(&self) -> Option<ThrottleCounters> {
        cpu::throttle_counters(&self.folder, self.is_v2)
    }
}

fn throttled(levels: &Levels) -> Option<(PathBuf, Quota, ThrottleCounters)> {
    let (level, quota) = cpu::smallest_quota(levels)?;
    let folder = &levels.folders[level];
    Some((folder.clone(), quota, cpu::throttle_counters(folder, levels.is_v2)?))
}

fn cpu_limits(pid: u32, groups: &Membership) -> CpuLimits {
    CpuLimits {
        affinity_cpus: own_cores::count_of(pid).unwrap_or_else(machine::online_cpus),
        cpuset_cpus: groups.cpuset.as_ref().and_then(cpu::cpuset_cpus),
        quota_cores: groups.cpu.as_ref().and_then(cpu::smallest_quota).map(|(_, quota)| quota.cores),
    }
}
