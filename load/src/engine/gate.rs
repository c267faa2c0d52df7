//! The common start: a load begins when the connections of all threads are open.

use crate::clock::{Nanos, now_ns};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

/// From the last thread's arrival to the start, so that all threads are awake for it.
const START_DELAY_NS: Nanos = 5_000_000;
/// Polling interval of a thread that waits for the others.
pub(super) const LOOK_EVERY_NS: Nanos = 1_000_000;

/// What the threads of one load share.
#[derive(Debug)]
pub(crate) struct Gate {
    missing: AtomicU32,
    /// 0: not known yet.
    started_ns: AtomicU64,
    /// A thread failed: the others must not go on alone.
    is_broken: AtomicBool,
    /// The number of the next request that no thread has taken; only closed loops share it.
    next_number: AtomicU64,
}

impl Gate {
    pub(crate) fn new(threads: u32) -> Self {
        Self {
            missing: AtomicU32::new(threads),
            started_ns: AtomicU64::new(0),
            is_broken: AtomicBool::new(false),
            next_number: AtomicU64::new(0),
        }
    }

    /// A thread's connections are open, or will not be. The last to arrive sets the start.
    pub(crate) fn arrive(&self) {
        if self.missing.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.started_ns.store(now_ns() + START_DELAY_NS, Ordering::Release);
        }
    }

    /// The load's zero, once it is known: due times count from here.
    pub(crate) fn started_ns(&self) -> Option<Nanos> {
        Some(self.started_ns.load(Ordering::Acquire)).filter(|&started_ns| started_ns > 0)
    }

    pub(crate) fn break_off(&self) {
        self.is_broken.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_broken(&self) -> bool {
        self.is_broken.load(Ordering::Relaxed)
    }

    /// Takes up to `count` request numbers below `limit`; the first and how many.
    pub(super) fn take_numbers(&self, count: u64, limit: u64) -> (u64, u64) {
        let first = self.next_number.fetch_add(count, Ordering::Relaxed);
        (first, limit.saturating_sub(first).min(count))
    }

    /// How many numbers below `limit` are not taken.
    pub(super) fn numbers_left(&self, limit: u64) -> u64 {
        limit.saturating_sub(self.next_number.load(Ordering::Relaxed))
    }
}
