//! A mark in the environment of a server's processes. Those that left its group and lost their parent still have it, and nothing else shows
//! where they came from: a daemon, or the child of a script that has ended.

use super::cpu_account::ProcessKey;
use procfs::process::{Process, all_processes};
use std::fs;
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};

/// The name of the variable.
pub const VARIABLE: &str = "THREADCOUNT_SERVER";

/// The mark of one server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessMark(String);

impl ProcessMark {
    /// One that no other server has, of this process or another one since the machine was started.
    #[must_use]
    pub fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        // Another process may have our id later, and in another container at once.
        let began = Process::myself().and_then(|it| it.stat()).map_or(0, |it| it.starttime);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        // No mark is the beginning of another one.
        Self(format!("{}-{began}-{number}.", process::id()))
    }

    /// The value of the variable.
    #[must_use]
    pub fn value(&self) -> &str {
        &self.0
    }

    /// The variable with its value, as it stands in `/proc/PID/environ`.
    #[must_use]
    pub fn setting(&self) -> String {
        format!("{VARIABLE}={}", self.0)
    }

    /// The processes that have it, of those that we may read.
    #[must_use]
    pub fn processes(&self) -> Vec<ProcessKey> {
        let setting = self.setting();
        let has_it = |pid: i32| {
            let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            environment.split(|&byte| byte == 0).any(|it| it == setting.as_bytes())
        };
        let all = all_processes().into_iter().flatten().flatten();
        let marked = all.filter(|it| has_it(it.pid())).filter_map(|it| it.stat().ok());
        marked.map(|stat| (stat.pid, stat.starttime)).collect()
    }
}

impl Default for ProcessMark {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn a_process_is_found_by_its_mark_and_by_no_other() {
        let (mark, other) = (ProcessMark::new(), ProcessMark::new());
        let mut sleeper = Command::new("sleep").arg("600").env(VARIABLE, mark.value()).spawn().unwrap();
        let found: Vec<i32> = mark.processes().into_iter().map(|(pid, _)| pid).collect();
        let by_other = other.processes();
        sleeper.kill().unwrap();
        sleeper.wait().unwrap();
        assert_eq!(found, [sleeper.id() as i32]);
        assert!(by_other.is_empty(), "{by_other:?}");
    }
}
