//! The slowest requests of a thread in bounded memory: a random sample of all requests that may turn out to be beyond the 99th percentile.

use crate::clock::Nanos;
use crate::times::Times;

/// The number of requests that are kept at once.
const ROOM: usize = 8_192;

/// Requests below this quantile so far are not kept. It is far enough below the 99th percentile in case the tail becomes shorter.
const KEPT_FROM: f64 = 0.95;

/// A request's due time, and the arrival of its last byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are the definition")]
pub struct SlowRequest {
    pub due_ns: Nanos,
    pub ended_ns: Nanos,
}

impl SlowRequest {
    /// Due → last byte.
    #[must_use]
    pub const fn response_ns(self) -> Nanos {
        self.ended_ns.saturating_sub(self.due_ns)
    }
}

/// A sample of the slow requests of a load. Each request beyond the threshold is in it with the same probability.
#[derive(Clone, Debug, PartialEq)]
pub struct Slowest {
    kept: Vec<SlowRequest>,
    /// Only requests with a longer response time are kept.
    threshold_ns: Nanos,
    /// The inverse of the probability with which a request is kept, a power of two.
    one_in: u64,
    /// The state of the random draw (xorshift64, Marsaglia 2003).
    random: u64,
}

impl Default for Slowest {
    fn default() -> Self {
        Self { kept: Vec::new(), threshold_ns: 0, one_in: 1, random: 0x9e37_79b9_7f4a_7c15 }
    }
}

impl Slowest {
    /// An empty sample with all the memory that it will need.
    #[must_use]
    pub fn with_room() -> Self {
        Self { kept: Vec::with_capacity(ROOM), ..Self::default() }
    }

    /// Offers a complete request. `times` contains all response times so far. Most requests cost only a comparison here.
    #[inline]
    pub fn offer(&mut self, request: SlowRequest, times: &Times) {
        if request.response_ns() > self.threshold_ns {
            self.keep(request, times);
        }
    }

    fn keep(&mut self, request: SlowRequest, times: &Times) {
        if self.kept.len() >= ROOM {
            self.make_room(times);
        }
        if request.response_ns() > self.threshold_ns && self.is_drawn(self.one_in) {
            self.kept.push(request);
        }
    }

    fn make_room(&mut self, times: &Times) {
        let threshold_ns = times.at_quantile(KEPT_FROM).as_nanos() as Nanos;
        self.threshold_ns = self.threshold_ns.max(threshold_ns);
        self.kept.retain(|request| request.response_ns() > self.threshold_ns);
        if self.kept.len() > ROOM / 2 {
            self.thin();
        }
    }

    fn thin(&mut self) {
        let mut kept = std::mem::take(&mut self.kept);
        kept.retain(|_| self.is_drawn(2));
        self.kept = kept;
        self.one_in *= 2;
    }

    fn is_drawn(&mut self, one_in: u64) -> bool {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        (self.random >> 32) & (one_in - 1) == 0
    }

    /// Adds the sample of another thread.
    pub fn merge(&mut self, mut other: Self) {
        while self.one_in < other.one_in {
            self.thin();
        }
        while other.one_in < self.one_in {
            other.thin();
        }
        self.threshold_ns = self.threshold_ns.max(other.threshold_ns);
        self.kept.append(&mut other.kept);
    }

    /// The same requests, moved to an earlier time by `ns`.
    #[must_use]
    pub(crate) fn earlier_by(mut self, ns: Nanos) -> Self {
        for request in &mut self.kept {
            request.due_ns = request.due_ns.saturating_sub(ns);
            request.ended_ns = request.ended_ns.saturating_sub(ns);
        }
        self
    }

    /// The requests that took longer than this.
    #[must_use]
    pub fn beyond(&self, response_ns: Nanos) -> Vec<SlowRequest> {
        self.kept.iter().copied().filter(|request| request.response_ns() > response_ns).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Nanos = 1_000_000;

    /// Every hundredth request takes 50 ms, or as long as `slow_ms` returns for it; the others take 1 to 9 ms.
    fn sampled(requests: u64, slow_ms: impl Fn(u64) -> u64) -> (Slowest, Times) {
        let (mut slowest, mut times) = (Slowest::with_room(), Times::default());
        for index in 0..requests {
            let took_ms = if index % 100 == 7 { slow_ms(index) } else { 1 + index % 9 };
            times.record_ns(took_ms * MS);
            let request = SlowRequest { due_ns: index * MS, ended_ns: (index + took_ms) * MS };
            slowest.offer(request, &times);
        }
        (slowest, times)
    }

    #[test]
    fn of_a_short_load_every_slow_request_is_kept_and_nothing_else_is_beyond() {
        let (slowest, _) = sampled(5_000, |_| 50);
        let beyond = slowest.beyond(40 * MS);
        assert_eq!(beyond.len(), 50);
        assert!(beyond.iter().all(|request| request.due_ns / MS % 100 == 7));
        assert!(slowest.beyond(50 * MS).is_empty(), "longer than that");
    }

    #[test]
    fn of_a_long_load_the_sample_is_bounded_and_spread_over_all_of_it() {
        let requests = 4_000_000;
        let (slowest, _) = sampled(requests, |_| 50);
        assert!(slowest.kept.capacity() == ROOM && slowest.kept.len() <= ROOM);
        let beyond = slowest.beyond(40 * MS);
        assert!(beyond.len() >= 1_000, "{}", beyond.len());
        let expected = beyond.len() / 4;
        for quarter in 0..4 {
            let part = requests / 4 * MS;
            let count = beyond.iter().filter(|it| it.due_ns / part == quarter).count();
            assert!(count.abs_diff(expected) < expected / 4, "{quarter}: {count} of {}", beyond.len());
        }
    }

    #[test]
    fn the_samples_of_two_threads_weigh_as_much_as_their_threads_had_slow_requests() {
        let (mut long, _) = sampled(3_000_000, |_| 50);
        let (short, _) = sampled(300_000, |_| 90);
        long.merge(short);
        let of_short = long.beyond(60 * MS).len() as f64;
        let share = of_short / long.beyond(40 * MS).len() as f64;
        assert!((share - 1.0 / 11.0).abs() < 0.03, "{share}");
    }
}
