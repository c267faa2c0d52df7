//! Pressure stall information: how long tasks waited for CPU, memory or I/O (Linux 4.20 and newer).

use super::file::text;
use super::membership::Levels;
use std::path::Path;
use threadcount_load::clock::Nanos;
use threadcount_model::record::resource_limits::Pressure;

/// Totals since boot, or since the group was made, in µs; `None`: not readable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are the kernel's")]
pub struct StallTotals {
    pub cpu_some_us: Option<u64>,
    pub memory_some_us: Option<u64>,
    pub memory_full_us: Option<u64>,
    pub io_some_us: Option<u64>,
    pub io_full_us: Option<u64>,
}

impl StallTotals {
    /// The totals of the whole machine.
    #[must_use]
    pub fn of_machine() -> Self {
        Self::read(Path::new("/proc/pressure"), "")
    }

    /// The totals of a group; `None` for the root group, which is the machine.
    #[must_use]
    pub fn of_group(levels: &Levels) -> Option<Self> {
        let totals = Self::read(levels.folders.first()?, ".pressure");
        (totals != Self::default()).then_some(totals)
    }

    fn read(folder: &Path, ending: &str) -> Self {
        let total = |resource: &str, kind: &str| {
            let pressure = text(folder, &format!("{resource}{ending}"))?;
            let line = pressure.lines().find(|line| line.starts_with(kind))?;
            line.rsplit_once("total=")?.1.parse().ok()
        };
        Self {
            cpu_some_us: total("cpu", "some"),
            memory_some_us: total("memory", "some"),
            memory_full_us: total("memory", "full"),
            io_some_us: total("io", "some"),
            io_full_us: total("io", "full"),
        }
    }

    /// The shares of the time from one reading to the other.
    #[must_use]
    pub fn until(self, after: Self, between_ns: Nanos) -> Pressure {
        let share = |before: Option<u64>, after: Option<u64>| {
            let stalled_us = after?.saturating_sub(before?);
            (between_ns > 0).then(|| (stalled_us as f64 * 1e3 / between_ns as f64).min(1.0))
        };
        Pressure {
            cpu_some_share: share(self.cpu_some_us, after.cpu_some_us),
            memory_some_share: share(self.memory_some_us, after.memory_some_us),
            memory_full_share: share(self.memory_full_us, after.memory_full_us),
            io_some_share: share(self.io_some_us, after.io_some_us),
            io_full_share: share(self.io_full_us, after.io_full_us),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_the_stalled_time_between_two_readings() {
        let folder = tempfile::tempdir().unwrap();
        let write = |total: u64| {
            let text = format!(
                "some avg10=9.10 avg60=1.00 avg300=0.10 total={total}\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=7\n"
            );
            std::fs::write(folder.path().join("memory.pressure"), text).unwrap();
            StallTotals::of_group(&Levels { is_v2: true, folders: vec![folder.path().to_owned()] }).unwrap()
        };
        let (before, after) = (write(1_000_000), write(1_250_000));
        let pressure = before.until(after, 1_000_000_000);
        assert_eq!((pressure.memory_some_share, pressure.memory_full_share), (Some(0.25), Some(0.0)));
        assert_eq!(pressure.cpu_some_share, None);
        let nowhere = Levels { is_v2: true, folders: vec!["/nowhere".into()] };
        assert_eq!(StallTotals::of_group(&nowhere), None);
    }
}
