//! How long each thread of a process ran or wanted to run, by the kernel.

use std::collections::HashMap;
use std::fs;

/// Of one thread since it began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RunTime {
    pub on_cpu_ns: u64,
    /// Runnable, while others had the core.
    pub queued_ns: u64,
}

/// By the thread's id as it sees itself.
#[must_use]
pub fn read(pid: u32) -> HashMap<u32, RunTime> {
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    tasks
        .filter_map(|task| {
            let status = fs::read_to_string(task.path().join("status")).ok()?;
            let ids = status.lines().find_map(|line| line.strip_prefix("NSpid:"))?;
            let id = ids.split_whitespace().last()?.parse().ok()?;
            Some((id, parse(&fs::read_to_string(task.path().join("schedstat")).ok()?)?))
        })
        .collect()
}

fn parse(schedstat: &str) -> Option<RunTime> {
    let mut fields = schedstat.split_whitespace().map(str::parse);
    Some(RunTime { on_cpu_ns: fields.next()?.ok()?, queued_ns: fields.next()?.ok()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_own_threads_are_read() {
        assert!(read(std::process::id()).values().any(|it| it.on_cpu_ns > 0));
        assert_eq!(parse("12 34 5\n"), Some(RunTime { on_cpu_ns: 12, queued_ns: 34 }));
    }
}
