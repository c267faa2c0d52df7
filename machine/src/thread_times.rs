//! The CPU time of each thread of a process tree: a backend that does everything on one thread is at its limit with one core of many.

use super::process_file;
use super::process_tree::ProcessTree;
use super::read_limit::ReadLimit;
use std::collections::HashMap;
use std::fs;
use threadcount_load::clock::now_ns;

/// CPU time of each thread so far, in nanoseconds.
#[derive(Clone, Debug, Default)]
pub struct ThreadTimes {
    at_ns: u64,
    by_thread: HashMap<(i32, i32), u64>,
}

impl ThreadTimes {
    /// Reads all threads of a process and its descendants.
    #[must_use]
    pub fn of_tree(root: u32) -> Self {
        let members = ProcessTree::rooted_at(root).members();
        let of_process = |(pid, _): (i32, u64)| {
            threads(pid).filter_map(move |thread| Some(((pid, thread), RunTimes::read(pid, thread)?.ran_ns)))
        };
        Self { at_ns: now_ns(), by_thread: members.into_iter().flat_map(of_process).collect() }
    }

    /// The CPU of the busiest thread since an earlier reading, in cores; `None` if no thread could be read.
    #[must_use]
    pub fn busiest_since(&self, earlier: &Self) -> Option<f64> {
        let since = |(thread, ns): (&(i32, i32), &u64)| {
            // A thread id that was reused for a new thread has a smaller time.
            ns.checked_sub(earlier.by_thread.get(thread).copied().unwrap_or_default()).unwrap_or(*ns)
        };
        let most_ns = self.by_thread.iter().map(since).max()?;
        let between_ns = self.at_ns.saturating_sub(earlier.at_ns);
        (between_ns > 0).then(|| most_ns as f64 / between_ns as f64)
    }
}

/// The threads of a process.
pub(super) fn threads(pid: i32) -> impl Iterator<Item = i32> {
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    tasks.filter_map(|task| task.file_name().to_str()?.parse().ok())
}

/// The run times of a thread since it began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct RunTimes {
    pub ran_ns: u64,
    /// The time for which it was runnable but waited for a core.
    pub waited_ns: u64,
}

impl RunTimes {
    /// Reads a thread; `None` if it has ended meanwhile.
    pub fn read(pid: i32, thread: i32) -> Option<Self> {
        let file = format!("task/{thread}/schedstat");
        Self::parse(&process_file::text(pid.unsigned_abs(), &file, ReadLimit::KERNEL_TEXT).ok()?)
    }

    /// Parses the time on a core, the time in a run queue and the timeslices (the kernel's Documentation/scheduler/sched-stats.rst).
    fn parse(schedstat: &str) -> Option<Self> {
        let mut fields = schedstat.split_whitespace().map(|field| field.parse().ok());
        Some(Self { ran_ns: fields.next()??, waited_ns: fields.next()?? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu_clock::own_thread_cpu_ns;
    use threadcount_load::clock::NANOS_PER_S;

    #[test]
    fn a_thread_has_its_time_on_a_core_and_its_time_in_the_queue_for_one() {
        assert_eq!(RunTimes::parse("700 90 3\n"), Some(RunTimes { ran_ns: 700, waited_ns: 90 }));
        assert_eq!(RunTimes::parse("700"), None);
        assert_eq!(RunTimes::parse(""), None);
    }

    #[test]
    fn the_busiest_thread_is_found_and_new_threads_count_from_their_start() {
        let at = |at_s: u64, threads: &[((i32, i32), u64)]| ThreadTimes {
            at_ns: at_s * NANOS_PER_S,
            by_thread: threads.iter().map(|&(thread, ms)| (thread, ms * 1_000_000)).collect(),
        };
        let before = at(10, &[((1, 1), 9_000), ((1, 2), 100)]);
        let after = at(12, &[((1, 1), 9_500), ((1, 2), 2_000), ((1, 3), 1_000)]);
        assert_eq!(after.busiest_since(&before), Some(0.95));
        assert_eq!(
            at(12, &[((1, 1), 500)]).busiest_since(&before),
            Some(0.25),
            "another thread with this number"
        );
        assert_eq!(at(12, &[]).busiest_since(&before), None);
        assert_eq!(before.busiest_since(&before), None);
    }

    #[test]
    fn a_thread_of_this_process_that_computes_is_seen() {
        let before = ThreadTimes::of_tree(std::process::id());
        let until_ns = own_thread_cpu_ns() + 50_000_000;
        while own_thread_cpu_ns() < until_ns {
            std::hint::spin_loop();
        }
        let busiest = ThreadTimes::of_tree(std::process::id()).busiest_since(&before).unwrap();
        assert!(busiest > 0.0, "{busiest}");
    }
}
