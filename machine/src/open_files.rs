//! The number of open files (including sockets) of a process, and its limit.

use procfs::process::{LimitValue, Process};

/// The open files of one process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OpenFiles {
    pub open: u64,
    /// The soft limit. A JVM raises its own to the hard limit.
    pub limit: u64,
}

impl OpenFiles {
    /// Reads a process; `None` if it is unreadable, or has no limit.
    #[must_use]
    pub fn read(process: &Process) -> Option<Self> {
        let LimitValue::Value(limit) = process.limits().ok()?.max_open_files.soft_limit else { return None };
        let open = process.fd_count().ok()? as u64;
        Some(Self { open, limit })
    }

    /// The share of the limit that is in use, 0 to 1.
    #[must_use]
    pub fn share(self) -> f64 {
        if self.limit == 0 { 0.0 } else { self.open as f64 / self.limit as f64 }
    }

    /// The one of the two that is nearer to its limit.
    #[must_use]
    pub fn nearer(self, other: Self) -> Self {
        if other.share() > self.share() { other } else { self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;

    #[test]
    fn thirty_files_more_read_as_thirty_more() {
        let own = Process::myself().unwrap();
        let before = OpenFiles::read(&own).unwrap();
        let held: Vec<File> = (0..30).map(|_| File::open("/dev/null").unwrap()).collect();
        let after = OpenFiles::read(&own).unwrap();
        // Other tests of this process open and close files meanwhile.
        assert!(after.open.abs_diff(before.open + held.len() as u64) < 20, "{before:?} {after:?}");
        let allowed = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
        assert_eq!(Some(after.limit), allowed);
    }

    #[test]
    fn the_process_nearer_to_its_limit_is_the_one_that_counts() {
        let many = OpenFiles { open: 900, limit: 20_000 };
        let few = OpenFiles { open: 60, limit: 64 };
        assert_eq!(many.nearer(few), few);
        assert_eq!(few.nearer(many), few);
    }
}
