//! A cgroup's memory limit, and how often it was reached.

use super::file::{counter, number, text};
use super::membership::Levels;
use std::path::PathBuf;
use threadcount_model::record::resource_limits::MemoryEvents;

/// Version 1 writes the largest number of pages for "no limit"; no machine has this much memory.
const NO_LIMIT: u64 = 1 << 60;

/// The smallest limit of all levels, bytes.
#[must_use]
pub fn limit_bytes(levels: &Levels) -> Option<u64> {
    let name = if levels.is_v2 { "memory.max" } else { "memory.limit_in_bytes" };
    let limits = levels.folders.iter().filter_map(|folder| number(folder, name));
    limits.filter(|&bytes| bytes < NO_LIMIT).min()
}

/// The caches that the kernel drops before it lets an allocation fail; version 1 does not report the last one.
const CACHES: [&str; 3] = ["inactive_file", "active_file", "slab_reclaimable"];

/// The files with a level's limits. Above `memory.high` the kernel slows the processes down instead of ending one.
const LIMITS_V2: [&str; 2] = ["memory.max", "memory.high"];
const LIMITS_V1: [&str; 1] = ["memory.limit_in_bytes"];

/// A group's memory limit, and how much memory cannot be reclaimed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryUse {
    /// The file that sets the limit.
    pub file: PathBuf,
    /// The memory in use without caches, which the kernel drops first.
    pub used_bytes: u64,
    pub limit_bytes: u64,
}

/// The memory use at each level that has a limit.
#[must_use]
pub fn uses(levels: &Levels) -> Vec<MemoryUse> {
    let (limits, used, prefix) = if levels.is_v2 {
        (&LIMITS_V2[..], "memory.current", "")
    } else {
        (&LIMITS_V1[..], "memory.usage_in_bytes", "total_")
    };
    let of_level = |folder: &PathBuf| {
        let limits = limits.iter().filter_map(|name| Some((number(folder, name)?, *name)));
        let (limit_bytes, limit) = limits.filter(|&(bytes, _)| bytes < NO_LIMIT).min()?;
        let stat = text(folder, "memory.stat")?;
        let cached = CACHES.map(|name| counter(&stat, &format!("{prefix}{name}")));
        let cached_bytes: u64 = cached.into_iter().flatten().sum();
        let used_bytes = number(folder, used)?.saturating_sub(cached_bytes);
        Some(MemoryUse { file: folder.join(limit), used_bytes, limit_bytes })
    };
    levels.folders.iter().filter_map(of_level).collect()
}

/// The counters of the process's own group, which in version 2 include the groups below it. Version 1 does not count `high`.
#[must_use]
pub fn events(levels: &Levels) -> Option<MemoryEvents> {
    let folder = levels.folders.first()?;
    if levels.is_v2 {
        let events = text(folder, "memory.events")?;
        let count = |name| counter(&events, name).unwrap_or_default();
        return Some(MemoryEvents {
            high: count("high"),
            max: count("max"),
            oom: count("oom"),
            oom_kill: count("oom_kill"),
        });
    }
    let oom_kill = counter(&text(folder, "memory.oom_control")?, "oom_kill").unwrap_or_default();
    let max = number(folder, "memory.failcnt")?;
    Some(MemoryEvents { high: 0, max, oom: oom_kill, oom_kill })
}

/// The growth of the counters.
#[must_use]
pub fn grown(before: MemoryEvents, after: MemoryEvents) -> MemoryEvents {
    MemoryEvents {
        high: after.high.saturating_sub(before.high),
        max: after.max.saturating_sub(before.max),
        oom: after.oom.saturating_sub(before.oom),
        oom_kill: after.oom_kill.saturating_sub(before.oom_kill),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn levels(is_v2: bool, files: &[(&str, &str)]) -> (Levels, tempfile::TempDir) {
        let folder = tempfile::tempdir().unwrap();
        files.iter().for_each(|(name, text)| fs::write(folder.path().join(name), text).unwrap());
        (Levels { is_v2, folders: vec![folder.path().to_owned()] }, folder)
    }

    #[test]
    fn events_and_limits_of_both_versions() {
        let events_v2 = "low 0\nhigh 4\nmax 17\noom 2\noom_kill 1\noom_group_kill 0\n";
        let (v2, _folder) = levels(true, &[("memory.events", events_v2), ("memory.max", "536870912\n")]);
        let expected = MemoryEvents { high: 4, max: 17, oom: 2, oom_kill: 1 };
        assert_eq!((events(&v2), limit_bytes(&v2)), (Some(expected), Some(512 << 20)));
        let v1_files = [
            ("memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 1\n"),
            ("memory.failcnt", "17\n"),
            ("memory.limit_in_bytes", "9223372036854771712\n"),
        ];
        let (v1, _folder) = levels(false, &v1_files);
        let expected = MemoryEvents { high: 0, max: 17, oom: 1, oom_kill: 1 };
        assert_eq!((events(&v1), limit_bytes(&v1)), (Some(expected), None));
        let (none, _folder) = levels(true, &[("memory.max", "max\n")]);
        assert_eq!(uses(&none), []);
        assert_eq!((events(&none), limit_bytes(&none)), (None, None));
    }
    #[test]
    fn the_cache_of_files_is_not_counted_as_used() {
        let used = |is_v2, files: &[(&str, &str)]| {
            let (levels, _folder) = levels(is_v2, files);
            uses(&levels).iter().map(|it| (it.used_bytes, it.limit_bytes)).collect::<Vec<_>>()
        };
        let stat = "anon 700\ninactive_file 200\nactive_file 60\nslab_reclaimable 40\n";
        let v2 = [("memory.max", "2000\n"), ("memory.current", "1000\n"), ("memory.stat", stat)];
        assert_eq!(used(true, &v2), [(700, 2_000)]);
        let high = [v2[0], v2[1], v2[2], ("memory.high", "1500\n")];
        assert_eq!(used(true, &high), [(700, 1_500)]);
        let stat = "inactive_file 1\ntotal_inactive_file 200\ntotal_active_file 100\n";
        let v1 =
            [("memory.limit_in_bytes", "2000\n"), ("memory.usage_in_bytes", "1000\n"), ("memory.stat", stat)];
        assert_eq!(used(false, &v1), [(700, 2_000)]);
    }
}
