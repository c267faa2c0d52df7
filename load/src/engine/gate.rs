//! The common start of a load's threads: it begins when the connections of all threads are open.

use crate::clock::{Nanos, now_ns, unix_now_ns};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

/// The time from the arrival of the last thread until the start, so that all threads are awake by then.
const START_DELAY_NS: Nanos = 5_000_000;
/// The latest start of a process after the common start; a process that cannot begin by then does not begin.
pub(crate) const LATEST_START_NS: Nanos = 50_000_000;
/// Polling interval of a thread that waits for the others.
pub(super) const LOOK_EVERY_NS: Nanos = 1_000_000;

/// The gate at which the threads of one load wait for each other.
#[derive(Debug)]
pub(crate) struct Gate {
    missing: AtomicU32,
    /// The start of the load; 0: not known yet.
    started_ns: AtomicU64,
    started_unix_ns: AtomicU64,
    /// A thread failed, so the others must not go on alone.
    is_broken: AtomicBool,
    /// The number of the next request that no thread has taken; only closed loops share it.
    next_number: AtomicU64,
    /// The common start of several processes, by the wall clock.
    start_at_unix_ns: Option<u64>,
    /// How late this process was for the common start; 0: not late.
    late_ns: AtomicU64,
}

impl Gate {
    pub(crate) fn new(threads: u32) -> Self {
        Self {
            missing: AtomicU32::new(threads),
            started_ns: AtomicU64::new(0),
            started_unix_ns: AtomicU64::new(0),
            is_broken: AtomicBool::new(false),
            next_number: AtomicU64::new(0),
            start_at_unix_ns: None,
            late_ns: AtomicU64::new(0),
        }
    }

    /// The same gate with a fixed start: the load begins at this moment, or not at all.
    pub(crate) fn starting_at(self, start_at_unix_ns: Option<u64>) -> Self {
        Self { start_at_unix_ns, ..self }
    }

    /// Reports that the connections of a thread are open, or will not be. The last thread to arrive sets the start.
    pub(crate) fn arrive(&self) {
        if self.missing.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.set_start(now_ns(), unix_now_ns());
        }
    }

    /// Sets the start. The wall clock is read as late as possible, because it may be set until then.
    fn set_start(&self, now_ns: Nanos, unix_now_ns: u64) {
        let start = |left_ns: Nanos| {
            self.started_unix_ns.store(unix_now_ns + left_ns, Ordering::Relaxed);
            self.started_ns.store(now_ns + left_ns, Ordering::Release);
        };
        let Some(start_at_unix_ns) = self.start_at_unix_ns else { return start(START_DELAY_NS) };
        let late_ns = (unix_now_ns + START_DELAY_NS).saturating_sub(start_at_unix_ns);
        if late_ns > LATEST_START_NS {
            self.late_ns.store(late_ns, Ordering::Relaxed);
            return self.break_off();
        }
        start(start_at_unix_ns.saturating_sub(unix_now_ns).max(START_DELAY_NS));
    }

    /// How late this process was for the common start; `None` if it could begin.
    pub(crate) fn late_ns(&self) -> Option<Nanos> {
        Some(self.late_ns.load(Ordering::Relaxed)).filter(|&late_ns| late_ns > 0)
    }

    /// The load's time zero, from which due times count; `None` until it is known.
    pub(crate) fn started_ns(&self) -> Option<Nanos> {
        Some(self.started_ns.load(Ordering::Acquire)).filter(|&started_ns| started_ns > 0)
    }

    /// The load's time zero on the wall clock as it was set then, because it may be set again during the load.
    pub(crate) fn started_unix_ns(&self) -> Option<u64> {
        self.started_ns().map(|_| self.started_unix_ns.load(Ordering::Relaxed))
    }

    pub(crate) fn break_off(&self) {
        self.is_broken.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_broken(&self) -> bool {
        self.is_broken.load(Ordering::Relaxed)
    }

    /// Takes up to `count` request numbers below `limit`; returns the first one and how many were taken.
    pub(super) fn take_numbers(&self, count: u64, limit: u64) -> (u64, u64) {
        let first = self.next_number.fetch_add(count, Ordering::Relaxed);
        (first, limit.saturating_sub(first).min(count))
    }

    /// The number of request numbers below `limit` that are not taken.
    pub(super) fn numbers_left(&self, limit: u64) -> u64 {
        limit.saturating_sub(self.next_number.load(Ordering::Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Nanos = 1_000_000;
    /// The common start on the wall clock.
    const START_AT: u64 = 1_700_000_000_000 * MS;

    fn gate_at(unix_now_ns: u64) -> Gate {
        let gate = Gate::new(1).starting_at(Some(START_AT));
        gate.set_start(77 * MS, unix_now_ns);
        gate
    }

    #[test]
    fn a_common_start_is_a_moment_of_the_wall_clock_on_the_clock_of_the_load() {
        assert_eq!(gate_at(START_AT - 2_000 * MS).started_ns(), Some(2_077 * MS));
        let without = Gate::new(1);
        without.set_start(77 * MS, START_AT);
        assert_eq!(without.started_ns(), Some(77 * MS + START_DELAY_NS));
        assert_eq!(without.started_unix_ns(), Some(START_AT + START_DELAY_NS));
        assert_eq!(gate_at(START_AT - 2_000 * MS).started_unix_ns(), Some(START_AT));
        assert_eq!(Gate::new(1).started_unix_ns(), None);
    }

    #[test]
    fn who_is_a_little_late_begins_at_once_and_who_is_more_than_that_does_not() {
        let little = gate_at(START_AT + 40 * MS);
        assert_eq!((little.started_ns(), little.late_ns()), (Some(77 * MS + START_DELAY_NS), None));
        let late = gate_at(START_AT + 46 * MS);
        assert!(late.is_broken());
        assert_eq!((late.started_ns(), late.late_ns()), (None, Some(51 * MS)));
    }
}
