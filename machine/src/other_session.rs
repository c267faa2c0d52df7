//! Detects another session of this program on this machine, which would use the same cores.

use procfs::process::{Process, all_processes};
use std::collections::HashMap;
use std::process;

/// The kernel's name for this program.
const PROGRAM: &str = "threadcount";
/// The commands that send requests, or start servers for them.
const SENDING: [&str; 4] = ["run", "compare", "load", "worker"];

/// The process id of another session that sends requests; `None` if there is none. This searches `/proc`.
#[must_use]
pub fn other_session() -> Option<u32> {
    let all: Vec<Process> = all_processes().into_iter().flatten().flatten().collect();
    let found = all.iter().filter_map(|process| {
        let stat = process.stat().ok()?;
        let is_ours = stat.comm == PROGRAM && stat.state != 'Z';
        let words = if is_ours { process.cmdline().unwrap_or_default() } else { Vec::new() };
        Some(Seen { pid: stat.pid, parent: stat.ppid, sends: sends(&words) })
    });
    first_other(&found.collect::<Vec<_>>(), process::id() as i32).map(i32::unsigned_abs)
}

struct Seen {
    pid: i32,
    parent: i32,
    sends: bool,
}

fn sends(words: &[String]) -> bool {
    words.get(1).is_some_and(|word| SENDING.contains(&word.as_str()))
}

/// Finds another session, ignoring ancestors and descendants of our own process.
fn first_other(all: &[Seen], own: i32) -> Option<i32> {
    let parents: HashMap<i32, i32> = all.iter().map(|it| (it.pid, it.parent)).collect();
    let descends = |from: i32, ancestor: i32| {
        let mut line = std::iter::successors(Some(from), |pid| parents.get(pid).copied()).take(all.len() + 1);
        line.any(|pid| pid == ancestor)
    };
    let is_other = |it: &&Seen| it.sends && !descends(it.pid, own) && !descends(own, it.pid);
    all.iter().find(is_other).map(|it| it.pid)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(pid: i32, parent: i32, sends: bool) -> Seen {
        Seen { pid, parent, sends }
    }

    #[test]
    fn another_session_is_neither_an_ancestor_nor_a_descendant_of_this_one() {
        let with = |other: Seen| {
            let own = [seen(1, 0, false), seen(10, 1, false), seen(20, 10, true), seen(30, 20, false)];
            first_other(&own.into_iter().chain([other]).collect::<Vec<_>>(), 20)
        };
        assert_eq!(with(seen(40, 1, true)), Some(40));
        assert_eq!(with(seen(40, 10, true)), Some(40), "of the same shell");
        assert_eq!(with(seen(40, 30, true)), None, "a server of ours");
        assert_eq!(with(seen(40, 1, false)), None, "a report");
        let inner = [seen(5, 1, true), seen(10, 5, false), seen(20, 10, true)];
        assert_eq!(first_other(&inner, 20), None, "it started us");
    }

    #[test]
    fn a_command_that_sends_nothing_is_no_session() {
        let sends = |line: &str| sends(&line.split(' ').map(str::to_owned).collect::<Vec<_>>());
        assert!(sends("./threadcount run x") && sends("threadcount load http://127.0.0.1/"));
        assert!(!sends("threadcount report out/x") && !sends("threadcount"));
    }
}
