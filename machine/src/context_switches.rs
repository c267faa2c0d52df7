//! Context switches of a process tree: voluntary and involuntary.

use super::process_file;
use super::read_limit::ReadLimit;
use super::thread_times::threads;
use std::collections::HashMap;

/// Voluntary: the thread waited. Involuntary: the kernel took the core from a runnable thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the kernel's own names")]
pub struct Switches {
    pub voluntary: u64,
    pub involuntary: u64,
}

/// Adds up the switches of a changing set of threads as counters that only grow.
///
/// The kernel keeps these counters per thread and drops them when it ends, so the switches between the last reading and its end are
/// missing: with short-lived threads the counters are a lower bound.
#[derive(Debug, Default)]
pub struct SwitchAccount {
    total: Switches,
    last: HashMap<i32, Switches>,
}

impl SwitchAccount {
    /// Takes the next reading of all threads (by thread id); returns the counters.
    pub fn add(&mut self, now: HashMap<i32, Switches>) -> Switches {
        for (tid, switches) in &now {
            let before = self.last.get(tid).copied().unwrap_or_default();
            // A smaller number means that the id was given to a new thread.
            let is_new = switches.voluntary < before.voluntary || switches.involuntary < before.involuntary;
            let before = if is_new { Switches::default() } else { before };
            self.total.voluntary += switches.voluntary - before.voluntary;
            self.total.involuntary += switches.involuntary - before.involuntary;
        }
        self.last = now;
        self.total
    }
}

/// Reads the switches of every thread of one process. Threads that end meanwhile are left out.
pub fn read_threads(pid: i32, into: &mut HashMap<i32, Switches>) {
    let switches = |tid| {
        let file = format!("task/{tid}/status");
        parse(&process_file::text(pid.unsigned_abs(), &file, ReadLimit::KERNEL_TEXT).ok()?)
    };
    into.extend(threads(pid).filter_map(|tid| Some((tid, switches(tid)?))));
}

/// Parses the last two lines of a `status` file (proc_pid_status(5)).
fn parse(status: &str) -> Option<Switches> {
    let value =
        |name: &str| status.lines().rev().find_map(|line| line.strip_prefix(name))?.trim().parse().ok();
    Some(Switches {
        voluntary: value("voluntary_ctxt_switches:")?,
        involuntary: value("nonvoluntary_ctxt_switches:")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(threads: &[(i32, u64, u64)]) -> HashMap<i32, Switches> {
        threads
            .iter()
            .map(|&(tid, voluntary, involuntary)| (tid, Switches { voluntary, involuntary }))
            .collect()
    }

    #[test]
    fn a_status_file_gives_both_counters() {
        let status =
            "Name:\tjava\nThreads:\t27\nvoluntary_ctxt_switches:\t1234\nnonvoluntary_ctxt_switches:\t56\n";
        assert_eq!(parse(status), Some(Switches { voluntary: 1234, involuntary: 56 }));
    }

    #[test]
    fn threads_that_come_and_go_never_make_the_counters_fall() {
        let mut account = SwitchAccount::default();
        let start = account.add(reading(&[(1, 10, 1), (2, 100, 5)]));
        let later = account.add(reading(&[(1, 15, 1), (3, 7, 2)]));
        assert_eq!(later.voluntary - start.voluntary, 5 + 7);
        assert_eq!(later.involuntary - start.involuntary, 2);
    }

    #[test]
    fn a_thread_id_that_is_used_again_counts_from_nothing() {
        let mut account = SwitchAccount::default();
        let start = account.add(reading(&[(1, 1000, 9)]));
        assert_eq!(account.add(reading(&[(1, 3, 1)])).voluntary - start.voluntary, 3);
    }

    #[test]
    fn the_threads_of_this_process_are_found() {
        let mut threads = HashMap::new();
        read_threads(std::process::id() as i32, &mut threads);
        assert!(threads.contains_key(&(std::process::id() as i32)));
    }
}
