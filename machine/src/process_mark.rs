//! A mark in the environment of a server's processes. Processes that left the server's group and lost their parent (a daemon, or the child
//! of a script that has ended) still have the mark, and nothing else shows where they came from.

use super::cpu_account::ProcessKey;
use super::process_file;
use super::read_limit::ReadLimit;
use procfs::process::{Process, StatFlags, all_processes};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};
use std::{io, process, thread};

/// The name of the environment variable.
pub const VARIABLE: &str = "THREADCOUNT_SERVER";

/// An `exec` takes microseconds, plus the time it waits for a core on a full CPU.
const EXEC_LIMIT: Duration = Duration::from_secs(2);

/// The mark of one server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessMark(String);

impl ProcessMark {
    /// A mark that no other server has had, in this or another process, since the machine was started.
    #[must_use]
    pub fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        // Another process may get our id later, or have it now in another container.
        let began = Process::myself().and_then(|it| it.stat()).map_or(0, |it| it.starttime);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        // The final dot ensures that no mark is the beginning of another.
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

    /// The processes with this mark, among those that we may read.
    #[must_use]
    pub fn processes(&self) -> Vec<ProcessKey> {
        let setting = self.setting();
        // One limit for all processes together, because any user can have many that stay in `exec`.
        let give_up = Instant::now() + EXEC_LIMIT;
        let has_it =
            |pid: i32| environment(pid, give_up).split(|&byte| byte == 0).any(|it| it == setting.as_bytes());
        let all = all_processes().into_iter().flatten().flatten();
        let marked = all.filter(|it| has_it(it.pid())).filter_map(|it| it.stat().ok());
        marked.map(|stat| (stat.pid, stat.starttime)).collect()
    }
}

/// The environment of a process; empty if it is gone or may not be read.
fn environment(pid: i32, give_up: Instant) -> Vec<u8> {
    let read = || ReadLimit::ARGUMENTS.read_beginning(process_file::open(pid.unsigned_abs(), "environ")?);
    let mut environment = read();
    while may_get_one(&environment, pid) && Instant::now() < give_up {
        thread::sleep(Duration::from_millis(1));
        environment = read();
    }
    match environment {
        // The process may have got its environment since.
        Ok(none) if none.is_empty() => read().unwrap_or_default(),
        environment => environment.unwrap_or_default(),
    }
}

/// Whether an empty environment may still be filled. An unreadable one does not count: for another user's process `env_end` is 0 too.
fn may_get_one(environment: &io::Result<Vec<u8>>, pid: i32) -> bool {
    environment.as_ref().is_ok_and(Vec::is_empty) && is_in_exec(pid)
}

/// Whether a process has left its old program but does not have the new one's environment yet. Its parent may already run again:
/// `exec_mmap` in the kernel's `fs/exec.c` ends a `vfork` before the new stack is made.
fn is_in_exec(pid: i32) -> bool {
    let Ok(stat) = Process::new(pid).and_then(|it| it.stat()) else { return false };
    let has_none_for_ever = StatFlags::PF_KTHREAD | StatFlags::PF_EXITING;
    let flags = StatFlags::from_bits_truncate(stat.flags);
    stat.env_end == Some(0) && stat.state != 'Z' && !flags.intersects(has_none_for_ever)
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

    #[test]
    fn a_process_has_its_environment_from_the_moment_on_that_its_parent_goes_on() {
        let mark = ProcessMark::new();
        for _ in 0..300 {
            let mut sleeper = Command::new("sleep").arg("600").env(VARIABLE, mark.value()).spawn().unwrap();
            let seen = environment(sleeper.id() as i32, Instant::now() + EXEC_LIMIT);
            sleeper.kill().unwrap();
            sleeper.wait().unwrap();
            assert!(String::from_utf8_lossy(&seen).contains(&mark.setting()), "{seen:?}");
        }
    }
    #[test]
    fn a_process_of_another_user_is_not_waited_for() {
        const NOBODY: libc::c_long = 65_534;
        let seen = thread::spawn(|| {
            // SAFETY: a system call on numbers; unlike libc's function it affects this thread alone. A user other than root cannot read
            // process 1 anyway.
            unsafe { libc::syscall(libc::SYS_setresuid, NOBODY, NOBODY, NOBODY) };
            (is_in_exec(1), may_get_one(&std::fs::read("/proc/1/environ"), 1))
        });
        assert_eq!(seen.join().unwrap(), (true, false), "it looks like one in `exec`, and is none");
    }
}
