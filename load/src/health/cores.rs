//! How busy each core of this machine was with all processes. A full core next to an idle one limits the threads that are bound to it,
//! which neither the sum of all cores nor the generator's own share shows.

use procfs::{CpuTime, CurrentSI, KernelStats};

/// From this share on a core counts as full: something was always waiting to run on it.
pub const FULL: f64 = 0.97;

/// The time that each core has spent so far, in the kernel's ticks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CoreTimes(Vec<Ticks>);

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Ticks {
    busy: u64,
    idle: u64,
}

impl CoreTimes {
    /// Reads `/proc/stat`; empty if it cannot be read.
    #[must_use]
    pub fn read() -> Self {
        let cores = KernelStats::current().map(|stats| stats.cpu_time).unwrap_or_default();
        Self(cores.iter().map(Ticks::new).collect())
    }

    /// The share of time, 0..=1, that each core was not idle since an earlier reading, in the order of the cores. Time stolen by the
    /// hypervisor counts as busy, because it was not available here. Empty if a reading is missing, or cores were added or removed in
    /// between.
    #[must_use]
    pub fn busy_since(&self, earlier: &Self) -> Vec<f64> {
        if self.0.len() != earlier.0.len() {
            return Vec::new();
        }
        self.0.iter().zip(&earlier.0).map(|(now, before)| now.busy_share_since(*before)).collect()
    }
}

impl Ticks {
    fn new(time: &CpuTime) -> Self {
        let waiting = time.iowait.unwrap_or(0);
        let kernel = time.irq.unwrap_or(0) + time.softirq.unwrap_or(0) + time.steal.unwrap_or(0);
        Self { busy: time.user + time.nice + time.system + kernel, idle: time.idle + waiting }
    }

    fn busy_share_since(self, before: Self) -> f64 {
        let busy = self.busy.saturating_sub(before.busy) as f64;
        let idle = self.idle.saturating_sub(before.idle) as f64;
        if busy + idle > 0.0 { busy / (busy + idle) } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(cores: &[(u64, u64)]) -> CoreTimes {
        CoreTimes(cores.iter().map(|&(busy, idle)| Ticks { busy, idle }).collect())
    }

    #[test]
    fn a_core_is_as_busy_as_it_was_not_idle_between_the_readings() {
        let shares = times(&[(1_990, 1_010), (250, 5_750)]).busy_since(&times(&[(1_000, 1_000), (0, 5_000)]));
        assert_eq!(shares, [0.99, 0.25]);
    }

    #[test]
    fn readings_that_do_not_match_say_nothing() {
        assert!(times(&[(1, 1)]).busy_since(&CoreTimes::default()).is_empty());
        assert_eq!(times(&[(1, 1)]).busy_since(&times(&[(1, 1)])), [0.0]);
    }

    #[test]
    fn this_machine_tells_every_core() {
        let before = CoreTimes::read();
        let shares = CoreTimes::read().busy_since(&before);
        assert!(!shares.is_empty() && shares.iter().all(|share| (0.0..=1.0).contains(share)), "{shares:?}");
    }
}
