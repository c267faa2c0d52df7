//! The thresholds of the rule that finds the limit, each with its reason.

use std::ops::RangeInclusive;

/// Fewer samples of threads may be alike by chance.
pub(super) const FEWEST_SAMPLES: usize = 3;
/// The fewest samples for a wait in a window without a load, where there is no other evidence.
pub(super) const FEWEST_SAMPLES_OF_WAITS: usize = 5;
/// A queue has at least this many requests: a single one may just be arriving, and may find a server free.
pub(super) const FEWEST_QUEUED: f64 = 2.0;
/// The fewest waiting requests if counters show them, or if counts of all threads show that no server is free.
pub(super) const FEWEST_WAITING: f64 = 1.0;
/// From this share on, threads, requests, samples or time count as most of them.
pub(crate) const MOST: f64 = 0.5;
/// A reading shows a full pool if this share of its servers is busy, because a server is briefly free between two requests.
pub const FULL_READING: f64 = 0.95;
/// A pool is full if this share of its readings shows it full. Samples of its threads show a full pool if they include this share of them.
pub(crate) const MOSTLY_FULL: f64 = 0.9;
/// An executor is full if this share of its threads works in the samples.
pub(super) const NEARLY_ALL: f64 = 0.85;
/// If more than this share of the requests in flight is in service, counting cannot show a queue.
pub(super) const FEWER: f64 = 0.9;
/// The same share if only the time of a request alone shows how many are in service: a smaller gap may just mean a busy machine.
pub(super) const MUCH_FEWER: f64 = 0.75;
/// The pool is full by arithmetic if the throughput, relative to threads / fastest response time, lies in this range. It can exceed 1 only
/// as far as the fastest response differs from the mean of the requests that did not queue.
pub(super) const NEAR_CEILING: RangeInclusive<f64> = FEWER..=1.02;
/// In this share of the samples the number of requests in service must be the same, because a pool that is full only at times is no limit.
pub(super) const STEADY: f64 = 0.75;
/// Numbers within this share of their median count as the same; estimates from a draw of threads may differ by twice as much.
pub(super) const SPREAD: f64 = 0.1;
/// If independent requests would be as alike in number with less than this probability, the likeness is no chance.
pub(super) const SELDOM: f64 = 0.01;
/// A wait with less than this share of the requests limits little.
pub(super) const AT_ONE_PLACE: f64 = 0.2;
/// The low end of that share's interval must reach this, or the wait may be chance.
pub(super) const AT_LEAST: f64 = AT_ONE_PLACE * MOST;
/// The same share if only the time of a request alone shows how many wait, which is less certain.
pub(super) const AT_ONE_PLACE_BY_TIME: f64 = 0.25;
/// If requests wait for the results of these threads, there are this many of them per working thread.
pub(super) const AWAITED_PER_THREAD: RangeInclusive<f64> = 0.6..=1.0 / 0.6;
/// Waits per request of threads that work for requests: a request may have several tasks, each of which may wait several times.
pub(super) const SWITCHES_PER_REQUEST: RangeInclusive<f64> = MOST..=20.0;
/// Waits per request of a task that serves one request after the other: the task seldom ends, and waits once per request.
pub(super) const ONCE_PER_REQUEST: RangeInclusive<f64> = FEWER..=1.1;

/// The threads of an unknown server belong to the waiting requests if there are this many of them per request. Idle workers would be more.
pub(super) const AS_MANY_THREADS: RangeInclusive<f64> = MOST..=1.2;

/// Are these two counts about the same? Samples of two related groups of threads differ by up to this factor.
pub(super) fn is_about_as_many(count: f64, other: f64) -> bool {
    (MOST..=1.0 / MOST).contains(&(count / other))
}
