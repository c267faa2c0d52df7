//! When a response is due: at once, after a delay, or when a stall has passed. Pure; the server reads the clock.

use crate::truth::{Delay, Stall};

/// When a server responds.
#[derive(Clone, Debug, Default)]
pub struct Pace {
    delay: Delay,
    stall: Option<Stall>,
    first_ns: Option<u64>,
    asked: u64,
}

impl Pace {
    /// Each response after its share of `delay`, and none during a stall.
    #[must_use]
    pub fn new(delay: Delay, stall: Option<Stall>) -> Self {
        Self { delay, stall, first_ns: None, asked: 0 }
    }

    /// Whether every response is due as soon as its request has arrived.
    #[must_use]
    pub fn is_immediate(&self) -> bool {
        self.delay == Delay::None && self.stall.is_none()
    }

    /// Whether many responses become due at the same moment.
    #[must_use]
    pub fn stalls(&self) -> bool {
        self.stall.is_some()
    }

    /// The moment the response to the next request is due, which arrived at `now_ns`. The first request starts the stalls.
    pub fn due_ns(&mut self, now_ns: u64) -> u64 {
        let first_ns = *self.first_ns.get_or_insert(now_ns);
        let ready_ns = now_ns + self.delay.nth(self.asked).as_nanos() as u64;
        self.asked += 1;
        match &self.stall {
            None => ready_ns,
            Some(stall) => first_ns + stall.release_ns(ready_ns - first_ns),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn stalls_are_counted_from_the_first_request_not_from_the_clocks_origin() {
        let stall = Stall::new(Duration::from_millis(200), Duration::from_secs(2)).unwrap();
        let mut pace = Pace::new(Delay::None, Some(stall));
        let start = 7_123_456_789;
        assert_eq!(pace.due_ns(start), start);
        assert_eq!(pace.due_ns(start + 950_000_000), start + 1_100_000_000);
    }

    #[test]
    fn a_delay_that_ends_in_a_stall_waits_for_its_end() {
        let stall = Stall::new(Duration::from_millis(200), Duration::from_secs(2)).unwrap();
        let mut pace = Pace::new(Delay::Point(Duration::from_millis(500)), Some(stall));
        assert_eq!(pace.due_ns(0), 500_000_000);
        assert_eq!(pace.due_ns(450_000_000), 1_100_000_000);
    }
}
