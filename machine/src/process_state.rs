//! The state of a process, as the kernel reports it.

use procfs::process::Process;
use std::fmt;

/// The state in field 3 of /proc/PID/stat. A thread that computes and one that waits for work are both `Alive`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProcessState {
    /// The process runs, or waits for an event.
    Alive,
    /// The process was stopped by SIGSTOP or a debugger: none of its threads runs.
    Stopped,
    /// The process waits uninterruptibly in the kernel, usually for a disk or a network file system.
    Uninterruptible,
    /// The process has ended, but its parent has not collected it.
    Zombie,
}

impl ProcessState {
    /// Reads the state; `None` if there is no such process.
    #[must_use]
    pub fn read(pid: u32) -> Option<Self> {
        let stat = Process::new(i32::try_from(pid).ok()?).and_then(|process| process.stat()).ok()?;
        Some(match stat.state {
            'T' | 't' => Self::Stopped,
            'D' => Self::Uninterruptible,
            'Z' | 'X' => Self::Zombie,
            _ => Self::Alive,
        })
    }

    /// Whether a process in this state can respond to nobody.
    #[must_use]
    pub const fn is_dead(self) -> bool {
        matches!(self, Self::Stopped | Self::Zombie)
    }
}

impl fmt::Display for ProcessState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Alive => "its process is running",
            Self::Stopped => "its process is stopped (state T: SIGSTOP, or a debugger)",
            Self::Uninterruptible => "its process waits in the kernel, usually for a disk (state D)",
            Self::Zombie => "its process has ended (state Z: a zombie)",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::process::{Pid, Signal, kill_process};
    use std::process::{Child, Command};
    use std::thread::sleep;
    use std::time::Duration;

    fn sleeper() -> Child {
        Command::new("sleep").arg("1000").spawn().unwrap()
    }

    fn signal(child: &Child, signal: Signal) {
        kill_process(Pid::from_child(child), signal).unwrap();
    }

    /// Waits for a state, because the kernel delivers a signal some time after it is sent.
    fn becomes(child: &Child, state: ProcessState) {
        while ProcessState::read(child.id()) != Some(state) {
            sleep(Duration::from_millis(1));
        }
    }

    #[test]
    fn a_process_that_was_stopped_and_one_that_is_a_zombie_are_told_from_one_that_waits() {
        let mut child = sleeper();
        becomes(&child, ProcessState::Alive);
        signal(&child, Signal::STOP);
        becomes(&child, ProcessState::Stopped);
        signal(&child, Signal::CONT);
        becomes(&child, ProcessState::Alive);
        signal(&child, Signal::KILL);
        becomes(&child, ProcessState::Zombie);
        child.wait().unwrap();
        assert_eq!(ProcessState::read(child.id()), None);
    }
}
