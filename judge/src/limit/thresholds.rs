//! The thresholds of the one rule that finds a limit, each with its reason.

use std::ops::RangeInclusive;

/// With fewer samples of threads chance decides.
pub(super) const FEWEST_SAMPLES: usize = 3;
/// The same for a wait in a window without a load, which has no other evidence.
pub(super) const FEWEST_SAMPLES_OF_WAITS: usize = 5;
/// Fewer requests in a queue are no queue: one request may just be arriving, and may find a server free.
pub(super) const FEWEST_QUEUED: f64 = 2.0;
/// The same where counters show those that wait, or counts of all threads those that are served: then none of the servers is free.
pub(super) const FEWEST_WAITING: f64 = 1.0;
/// From this share on, threads, requests, samples or time count as most of them.
pub(crate) const MOST: f64 = 0.5;
/// A reading of a pool shows it full from this share of busy servers on: a server between two requests is briefly free.
pub const FULL_READING: f64 = 0.95;
/// A pool is full if this share of its readings shows it full, and samples of its threads show a full pool if they show this share of them.
pub(crate) const MOSTLY_FULL: f64 = 0.9;
/// An executor is full if this share of its threads works in the samples.
pub(super) const NEARLY_ALL: f64 = 0.85;
/// At most this share of the requests in flight is in service, or there is no queue that counting can show.
pub(super) const FEWER: f64 = 0.9;
/// The same where nothing but the time of a request alone shows how many are in service: a smaller gap may only mean that the machine is busy.
pub(super) const MUCH_FEWER: f64 = 0.75;
/// The throughput relative to what a pool can do if each request takes as long as the fastest. It can exceed that only as far as the fastest
/// request differs from the mean of those that did not queue.
pub(super) const NEAR_CEILING: RangeInclusive<f64> = FEWER..=1.02;
/// Least share of the samples in which the same number of requests is in service, within this part of their median: a pool that is full
/// only at times is no limit. Estimates from a draw of threads differ by up to twice as much ...
pub(super) const STEADY: f64 = 0.75;
pub(super) const SPREAD: f64 = 0.1;
/// ... and with less than this probability, requests that run independently would be as alike in number.
pub(super) const SELDOM: f64 = 0.01;
/// A wait limits little if less than this share of the requests is in it.
pub(super) const AT_ONE_PLACE: f64 = 0.2;
/// The low end of the interval of that share must reach this, or the wait may be chance.
pub(super) const AT_LEAST: f64 = AT_ONE_PLACE * MOST;
/// The least share at one place where only the time of a request alone shows how many wait, so that the share is less certain.
pub(super) const AT_ONE_PLACE_BY_TIME: f64 = 0.25;
/// Requests that wait for a result, per thread that works on results, where the results are those of these threads.
pub(super) const AWAITED_PER_THREAD: RangeInclusive<f64> = 0.6..=1.0 / 0.6;
/// Waits per request of threads that work for requests: a request may have several tasks, each of which begins to wait several times.
pub(super) const SWITCHES_PER_REQUEST: RangeInclusive<f64> = MOST..=20.0;
/// Waits per request of a task that serves one request after the other: it seldom ends, and waits once for each.
pub(super) const ONCE_PER_REQUEST: RangeInclusive<f64> = FEWER..=1.1;

/// Threads of an unknown server are those of the requests that wait if they are as many, relatively. Workers with nothing to do are more.
pub(super) const AS_MANY_THREADS: RangeInclusive<f64> = MOST..=1.2;

/// Are these two counts about the same? Samples of two groups of threads that belong together differ by up to this much.
pub(super) fn is_about_as_many(count: f64, other: f64) -> bool {
    (MOST..=1.0 / MOST).contains(&(count / other))
}
