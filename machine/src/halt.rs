//! Finds out why no thread of a process runs although the process has not ended.

use crate::cgroup::Membership;
use crate::cgroup::membership::Levels;
use crate::process_file;
use crate::read_limit::ReadLimit;
use std::fmt;

/// The reason why no thread of a process runs. Until somebody lets the process go on, it answers nobody.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Halt {
    /// A signal stopped the process: SIGSTOP, or SIGTSTP by Ctrl-Z.
    Signal,
    /// A debugger has stopped the process; the debugger's id.
    Debugger(u32),
    /// The control group of the process is frozen, as by `docker pause`.
    Frozen,
}

impl Halt {
    /// Finds the reason; `None` if the process runs, waits for an event or does not exist.
    #[must_use]
    pub fn find(pid: u32) -> Option<Self> {
        let status = process_file::text(pid, "status", ReadLimit::KERNEL_TEXT).ok()?;
        let field = |name| process_file::field(&status, name);
        match field("State").and_then(|state| state.chars().next()) {
            Some('T') => Some(Self::Signal),
            Some('t') => Some(Self::Debugger(field("TracerPid").and_then(|it| it.parse().ok()).unwrap_or(0))),
            _ => is_frozen(pid).then_some(Self::Frozen),
        }
    }

    /// How somebody lets the process go on, as a sentence.
    #[must_use]
    pub fn advice(self, pid: u32) -> String {
        match self {
            Self::Signal => format!("`kill -CONT {pid}` lets it go on"),
            Self::Debugger(debugger) => format!("Let the debugger (process {debugger}) go on"),
            Self::Frozen => "Thaw its control group, as by `docker unpause`".to_owned(),
        }
    }
}

impl fmt::Display for Halt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Signal => {
                f.write_str("its process is stopped (SIGSTOP or Ctrl-Z), so no thread of it runs")
            }
            Self::Debugger(debugger) => write!(f, "process {debugger} debugs it and has stopped it"),
            Self::Frozen => f.write_str("its control group is frozen, so no thread of it runs"),
        }
    }
}

fn is_frozen(pid: u32) -> bool {
    let Membership { unified, freezer, .. } = Membership::of_process(pid);
    let has_line = |group: Option<Levels>, file: &str, line: &str| {
        let folder = group.and_then(|levels| levels.folders.into_iter().next());
        let text = folder.and_then(|it| ReadLimit::KERNEL_TEXT.read_file(&it.join(file)).ok());
        text.is_some_and(|text| text.lines().any(|it| it == line))
    };
    has_line(unified, "cgroup.events", "frozen 1") || has_line(freezer, "freezer.state", "FROZEN")
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::process::{Pid, Signal, kill_process};
    use std::process::Command;
    use std::thread::sleep;
    use std::time::Duration;

    #[test]
    fn a_process_that_a_signal_stopped_is_halted_until_it_goes_on_and_one_that_sleeps_is_not() {
        let mut child = Command::new("sleep").arg("1000").spawn().unwrap();
        let becomes = |signal, halt| {
            kill_process(Pid::from_child(&child), signal).unwrap();
            while Halt::find(child.id()) != halt {
                sleep(Duration::from_millis(1));
            }
        };
        assert_eq!(Halt::find(child.id()), None);
        becomes(Signal::STOP, Some(Halt::Signal));
        becomes(Signal::CONT, None);
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(Halt::find(child.id()), None, "it does not exist");
    }
}
