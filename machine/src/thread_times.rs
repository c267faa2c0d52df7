//! CPU time of each thread of a process tree: a backend that does everything on one thread is full with one core of many.

use super::process_tree::ProcessTree;
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
    /// Reads all threads of a process and of those it started.
    #[must_use]
    pub fn of_tree(root: u32) -> Self {
        let members = ProcessTree::rooted_at(root).members();
        let by_thread = members.into_iter().flat_map(|(pid, _)| threads_of(pid)).collect();
        Self { at_ns: now_ns(), by_thread }
    }

    /// CPU of the thread that used most of it since an earlier reading, in cores; `None`: no thread could be read.
    #[must_use]
    pub fn busiest_since(&self, earlier: &Self) -> Option<f64> {
        let since = |(thread, ns): (&(i32, i32), &u64)| {
            // A number that was given to a new thread has a smaller time.
            ns.checked_sub(earlier.by_thread.get(thread).copied().unwrap_or_default()).unwrap_or(*ns)
        };
        let most_ns = self.by_thread.iter().map(since).max()?;
        let between_ns = self.at_ns.saturating_sub(earlier.at_ns);
        (between_ns > 0).then(|| most_ns as f64 / between_ns as f64)
    }
}

/// The first figure of schedstat is the time that the thread ran.
fn threads_of(pid: i32) -> Vec<((i32, i32), u64)> {
    let Ok(tasks) = fs::read_dir(format!("/proc/{pid}/task")) else { return Vec::new() };
    let times = tasks.flatten().filter_map(|task| {
        let thread = task.file_name().to_str()?.parse().ok()?;
        let text = fs::read_to_string(task.path().join("schedstat")).ok()?;
        Some(((pid, thread), text.split_whitespace().next()?.parse().ok()?))
    });
    times.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu_clock::own_thread_cpu_ns;
    use threadcount_load::clock::NANOS_PER_S;

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
