//! Periods: parts of a running load that are counted separately, because the server is changed between them.
//!
//! A period counts the responses that complete in it. It takes response times only from requests that belong to it as a whole, because they
//! were due after the change. Between two periods nothing is counted here; the load's own figures contain everything.
//!
//! In a steady state, the completions of a window are a fair sample of all requests, long ones included, if the window begins when no
//! request from before the change is left. Counting only requests that began *and* ended in it would leave out the long ones.

use crate::clock::Nanos;
use crate::times::Times;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct PeriodCounts {
    /// Expected responses that completed in the period.
    pub ok: u64,
    /// Failures in the period of requests that were due after the change.
    pub failed: u64,
    /// Expected responses that completed in the period, to requests that were due before the change.
    pub overlapping: u64,
    /// Due → last byte, without the overlapping requests.
    pub response_time: Times,
}

impl PeriodCounts {
    fn add(&mut self, other: &Self) {
        self.ok += other.ok;
        self.failed += other.failed;
        self.overlapping += other.overlapping;
        self.response_time.merge(&other.response_time);
    }
}

/// The period that is being counted.
#[derive(Clone, Copy, Debug)]
struct OpenPeriod {
    number: u32,
    changed_ns: Nanos,
}

/// The periods of one load, shared by its threads and by the code that begins and ends them.
#[derive(Debug, Default)]
pub struct Periods {
    /// Changes with each begin and end, so that a thread sees without locking that nothing has changed.
    epoch: AtomicU32,
    open: Mutex<Option<OpenPeriod>>,
    counted: Mutex<BTreeMap<u32, PeriodCounts>>,
}

impl Periods {
    /// From now on counts into this period, until [`end`](Self::end). Requests that were due before `changed_ns` overlap.
    pub fn begin(&self, number: u32, changed_ns: Nanos) {
        self.turn(Some(OpenPeriod { number, changed_ns }));
    }

    /// Counts into no period from now on.
    pub fn end(&self) {
        self.turn(None);
    }

    /// Takes the counts of a period. They are complete once each thread has had an event after the period's end, or the load has ended.
    #[must_use]
    pub fn take(&self, number: u32) -> Option<PeriodCounts> {
        locked(&self.counted).remove(&number)
    }

    fn turn(&self, period: Option<OpenPeriod>) {
        *locked(&self.open) = period;
        self.epoch.fetch_add(1, Ordering::Release);
    }
}

/// Locks a mutex. A panic elsewhere cannot have left incomplete counts.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// One thread's part of the current period.
#[derive(Debug)]
pub(crate) struct PeriodRecorder {
    periods: Arc<Periods>,
    epoch: u32,
    open: Option<OpenPeriod>,
    counts: PeriodCounts,
}

impl PeriodRecorder {
    pub(crate) fn new(periods: Arc<Periods>) -> Self {
        Self { periods, epoch: 0, open: None, counts: PeriodCounts::default() }
    }

    /// Counts an expected response.
    pub(crate) fn ok(&mut self, due_ns: Nanos, response_ns: Nanos) {
        self.turn();
        let Some(open) = self.open else { return };
        self.counts.ok += 1;
        if due_ns < open.changed_ns {
            self.counts.overlapping += 1;
        } else {
            self.counts.response_time.record_ns(response_ns);
        }
    }

    /// Counts a failed request. A request that was due before the change does not count, because the new treatment did not cause its
    /// failure.
    pub(crate) fn failed(&mut self, due_ns: Nanos) {
        self.turn();
        self.counts.failed += u64::from(self.open.is_some_and(|open| due_ns >= open.changed_ns));
    }

    /// Passes on the counts of a period that is over. This is cheap if nothing changed.
    pub(crate) fn turn(&mut self) {
        let epoch = self.periods.epoch.load(Ordering::Acquire);
        if epoch != self.epoch {
            self.hand_over();
            self.epoch = epoch;
            self.open = *locked(&self.periods.open);
        }
    }

    /// Passes on the counts when the load has ended.
    pub(crate) fn hand_over(&mut self) {
        if let Some(open) = self.open.take() {
            let counts = std::mem::take(&mut self.counts);
            locked(&self.periods.counted).entry(open.number).or_default().add(&counts);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Nanos = 1_000_000;

    #[test]
    fn a_period_has_what_completes_in_it_and_the_times_of_requests_that_were_due_after_the_change() {
        let periods = Arc::new(Periods::default());
        let mut thread = PeriodRecorder::new(Arc::clone(&periods));
        thread.ok(0, 5 * MS);
        periods.begin(1, 100 * MS);
        thread.ok(90 * MS, 40 * MS);
        thread.ok(110 * MS, 20 * MS);
        thread.failed(110 * MS);
        thread.failed(90 * MS);
        assert!(periods.take(1).is_none(), "it is not over");
        periods.end();
        thread.ok(130 * MS, 7 * MS);
        let counts = periods.take(1).unwrap();
        assert_eq!((counts.ok, counts.failed, counts.overlapping), (2, 1, 1));
        let times = counts.response_time.summary().unwrap();
        assert!((times.max - 20.0).abs() < 0.02 && counts.response_time.count() == 1, "{times:?}");
        assert!(periods.take(1).is_none());
    }

    #[test]
    fn threads_add_up_and_a_thread_without_an_event_hands_over_when_it_ends() {
        let periods = Arc::new(Periods::default());
        let mut threads = [(); 2].map(|()| PeriodRecorder::new(Arc::clone(&periods)));
        periods.begin(7, 0);
        threads.iter_mut().for_each(|thread| thread.ok(MS, MS));
        periods.begin(8, 5 * MS);
        threads[0].ok(6 * MS, MS);
        threads.iter_mut().for_each(PeriodRecorder::hand_over);
        let ok = |number| periods.take(number).map(|it| it.ok);
        assert_eq!((ok(7), ok(8)), (Some(2), Some(1)));
    }
}
