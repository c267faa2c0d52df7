//! The CPU of a process tree as one counter that only grows, while processes start and end.

use std::collections::HashMap;

/// The identity of a process although pids are reused: the pid and its start time in ticks after boot.
pub type ProcessKey = (i32, u64);

/// CPU of one process at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessCpu {
    pub key: ProcessKey,
    /// Time used by its own threads since its start, in nanoseconds.
    pub own_ns: u64,
    /// Time used by the children it has waited for, and theirs, in nanoseconds (`cutime` + `cstime`).
    pub reaped_ns: u64,
}

/// Adds up readings of a changing set of processes.
///
/// A child's time moves to its parent's `reaped_ns` when the parent waits for it. The time counted while the child lived is therefore
/// subtracted from what the parents gained, so that nothing counts twice; the remainder is the work of children that started and ended
/// between two readings. A child that ends after its parent was read reaches the parent only by the next reading, and is subtracted then;
/// if nobody waits for it, it never is.
#[derive(Debug, Default)]
pub struct CpuAccount {
    total_ns: u64,
    /// Time counted for children that ended before the last reading but was in no parent's time yet.
    not_reaped_ns: u64,
    last: HashMap<ProcessKey, ProcessCpu>,
}

impl CpuAccount {
    /// Takes the next reading of all processes of the tree; returns the counter, in nanoseconds.
    pub fn add(&mut self, now: &[ProcessCpu]) -> u64 {
        let mut own_gained = 0;
        let mut reaped_gained = 0;
        let mut ended = std::mem::take(&mut self.last);
        for process in now {
            let before = ended.remove(&process.key);
            own_gained += process.own_ns.saturating_sub(before.map_or(0, |it| it.own_ns));
            reaped_gained += process.reaped_ns.saturating_sub(before.map_or(0, |it| it.reaped_ns));
            self.last.insert(process.key, *process);
        }
        let counted_while_alive: u64 = ended.values().map(|it| it.own_ns + it.reaped_ns).sum();
        let reaped_now = reaped_gained.saturating_sub(std::mem::take(&mut self.not_reaped_ns));
        self.not_reaped_ns = counted_while_alive.saturating_sub(reaped_now);
        self.total_ns += own_gained + reaped_now.saturating_sub(counted_while_alive);
        self.total_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn cpu(pid: i32, own_ns: u64, reaped_ns: u64) -> ProcessCpu {
        ProcessCpu { key: (pid, 1), own_ns, reaped_ns }
    }

    #[test]
    fn one_process_counts_what_it_used() {
        let mut account = CpuAccount::default();
        let start = account.add(&[cpu(1, 500, 0)]);
        assert_eq!(account.add(&[cpu(1, 1_700, 0)]) - start, 1_200);
    }

    #[test]
    fn a_child_that_was_waited_for_is_counted_once() {
        let mut account = CpuAccount::default();
        let start = account.add(&[cpu(1, 100, 0), cpu(2, 300, 0)]);
        // The child used 50 more before it ended, and its parent has waited for it.
        assert_eq!(account.add(&[cpu(1, 100, 350)]) - start, 50);
    }

    #[test]
    fn a_child_born_and_ended_between_two_readings_counts() {
        let mut account = CpuAccount::default();
        let start = account.add(&[cpu(1, 100, 0)]);
        assert_eq!(account.add(&[cpu(1, 110, 40)]) - start, 50);
    }

    #[test]
    fn a_child_that_ends_while_the_tree_is_read_is_counted_once() {
        let mut account = CpuAccount::default();
        let start = account.add(&[cpu(1, 100, 0), cpu(2, 300, 0)]);
        // The parent was read before it had waited for the child, when the child could no longer be read.
        assert_eq!(account.add(&[cpu(1, 100, 0)]) - start, 0);
        assert_eq!(account.add(&[cpu(1, 100, 350)]) - start, 50);
    }

    #[test]
    fn a_child_that_nobody_waited_for_hides_no_work_of_later_ones() {
        let mut account = CpuAccount::default();
        let start = account.add(&[cpu(1, 100, 0), cpu(2, 900, 0)]);
        assert_eq!(account.add(&[cpu(1, 100, 0)]) - start, 0);
        assert_eq!(account.add(&[cpu(1, 100, 0)]) - start, 0);
        assert_eq!(account.add(&[cpu(1, 100, 40)]) - start, 40);
    }

    #[test]
    fn the_counter_never_falls_when_nobody_waited_for_a_child() {
        let mut account = CpuAccount::default();
        let start = account.add(&[cpu(1, 100, 0), cpu(2, 900, 0)]);
        assert_eq!(account.add(&[cpu(1, 130, 0)]) - start, 30);
    }

    #[test]
    fn a_pid_that_is_used_again_is_another_process() {
        let mut account = CpuAccount::default();
        let start = account.add(&[cpu(1, 0, 0), cpu(2, 900, 0)]);
        let again = ProcessCpu { key: (2, 77), own_ns: 20, reaped_ns: 0 };
        assert_eq!(account.add(&[cpu(1, 0, 900), again]) - start, 20);
    }
}
