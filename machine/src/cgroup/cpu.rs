//! A cgroup's CPU quota, its throttling, and the CPUs it may use.

use super::file::{counter, number, text};
use super::membership::Levels;
use std::path::Path;
use threadcount_model::parse::cores as parse_cores;

/// A limit on the CPU time in each period.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quota {
    /// Quota divided by period.
    pub cores: f64,
    /// The length of a period in ms.
    pub period_ms: f64,
}

/// Counters since the group was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ThrottleCounters {
    /// Periods in which the group had something to run.
    pub periods: u64,
    /// Periods in which the group had used up its quota.
    pub throttled_periods: u64,
    /// The time for which its CPUs were throttled, added up over all CPUs, in ns.
    pub throttled_ns: u64,
}

/// The quota of one level; `None` if it has none.
#[must_use]
pub fn quota(folder: &Path, is_v2: bool) -> Option<Quota> {
    let (quota_us, period_us) = if is_v2 {
        let max = text(folder, "cpu.max")?;
        let (quota, period) = max.split_once(' ')?;
        (quota.parse::<u64>().ok()?, period.parse::<u64>().ok()?)
    } else {
        (number(folder, "cpu.cfs_quota_us")?, number(folder, "cpu.cfs_period_us")?)
    };
    (period_us > 0)
        .then(|| Quota { cores: quota_us as f64 / period_us as f64, period_ms: period_us as f64 / 1e3 })
}

/// The smallest quota of all levels, with the index of its level.
#[must_use]
pub fn smallest_quota(levels: &Levels) -> Option<(usize, Quota)> {
    let quotas = levels.folders.iter().enumerate();
    let quotas = quotas.filter_map(|(level, folder)| Some((level, quota(folder, levels.is_v2)?)));
    quotas.min_by(|a, b| a.1.cores.total_cmp(&b.1.cores))
}

/// The counters in `cpu.stat`.
#[must_use]
pub fn throttle_counters(folder: &Path, is_v2: bool) -> Option<ThrottleCounters> {
    let stat = text(folder, "cpu.stat")?;
    let throttled_ns =
        if is_v2 { counter(&stat, "throttled_usec")? * 1_000 } else { counter(&stat, "throttled_time")? };
    Some(ThrottleCounters {
        periods: counter(&stat, "nr_periods")?,
        throttled_periods: counter(&stat, "nr_throttled")?,
        throttled_ns,
    })
}

/// The number of CPUs that the group may use.
#[must_use]
pub fn cpuset_cpus(levels: &Levels) -> Option<u32> {
    let folder = levels.folders.first()?;
    let names = ["cpuset.cpus.effective", "cpuset.effective_cpus", "cpuset.cpus"];
    let list = names.iter().filter_map(|name| text(folder, name)).find(|list| !list.is_empty())?;
    cpus_in(&list)
}

/// The number of CPUs in a list as the kernel writes it: `0-3,8`.
#[must_use]
fn cpus_in(list: &str) -> Option<u32> {
    parse_cores(list).ok().and_then(|cores| u32::try_from(cores.0.len()).ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::path::PathBuf;

    fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        files.iter().for_each(|(name, text)| fs::write(folder.path().join(name), text).unwrap());
        folder
    }

    #[test]
    fn a_quota_is_cores_in_both_versions_and_none_where_there_is_no_limit() {
        let half = Some(Quota { cores: 0.5, period_ms: 100.0 });
        assert_eq!(quota(folder(&[("cpu.max", "50000 100000\n")]).path(), true), half);
        assert_eq!(quota(folder(&[("cpu.max", "max 100000\n")]).path(), true), None);
        let v1 = [("cpu.cfs_quota_us", "50000\n"), ("cpu.cfs_period_us", "100000\n")];
        assert_eq!(quota(folder(&v1).path(), false), half);
        let unlimited = [("cpu.cfs_quota_us", "-1\n"), ("cpu.cfs_period_us", "100000\n")];
        assert_eq!(quota(folder(&unlimited).path(), false), None);
        assert_eq!(quota(folder(&[]).path(), true), None);
    }

    #[test]
    fn the_smallest_quota_of_all_levels_holds() {
        let (own, above) = (folder(&[("cpu.max", "400000 100000")]), folder(&[("cpu.max", "200000 100000")]));
        let folders: Vec<PathBuf> = [&own, &above].map(|it| it.path().to_owned()).to_vec();
        let (level, quota) = smallest_quota(&Levels { is_v2: true, folders }).unwrap();
        assert_eq!((level, quota.cores), (1, 2.0));
    }

    /// The files are those of Debian 12 with systemd, and of Linux 6.18 with version 1.
    #[test]
    fn throttled_periods_are_read_from_both_versions() {
        let expected =
            Some(ThrottleCounters { periods: 93, throttled_periods: 88, throttled_ns: 7_123_456_000 });
        let v2 = "usage_usec 2000000\nuser_usec 1\nsystem_usec 1\nnr_periods 93\nnr_throttled 88\nthrottled_usec 7123456\n\
                  nr_bursts 0\nburst_usec 0\n";
        assert_eq!(throttle_counters(folder(&[("cpu.stat", v2)]).path(), true), expected);
        let v1 = "nr_periods 93\nnr_throttled 88\nthrottled_time 7123456000\nnr_bursts 0\nburst_time 0\n";
        assert_eq!(throttle_counters(folder(&[("cpu.stat", v1)]).path(), false), expected);
        assert_eq!(throttle_counters(folder(&[("cpu.stat", "usage_usec 1\n")]).path(), true), None);
    }

    #[test]
    fn cpus_are_counted_from_the_kernels_list() {
        assert_eq!((cpus_in("0-1"), cpus_in("0-3,8,10-11"), cpus_in("")), (Some(2), Some(7), None));
    }
}
