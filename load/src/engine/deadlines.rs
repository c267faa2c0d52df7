//! Detects that a stream has waited too long for its connection, a response, or its next try.

use super::connection::Place;
use crate::clock::Nanos;

const NONE: Nanos = Nanos::MAX;
/// Deadlines are checked no more often than this, so that many of them cost no more than a few.
const GRAIN_NS: Nanos = 1_000_000;

/// One deadline per stream in a plain list. Setting a deadline is one store. The list is searched only when the earliest deadline may have
/// passed, which in a healthy load is once per timeout. A deadline is noticed at most a millisecond late.
#[derive(Debug)]
pub(super) struct Deadlines {
    of_place: Vec<Nanos>,
    /// No deadline is earlier than this.
    look_at_ns: Nanos,
}

impl Deadlines {
    pub(super) fn new(places: usize) -> Self {
        Self { of_place: vec![NONE; places], look_at_ns: NONE }
    }

    /// Sets a stream's deadline, replacing the last one.
    pub(super) fn set(&mut self, place: Place, at_ns: Nanos) {
        self.of_place[place as usize] = at_ns;
        self.look_at_ns = self.look_at_ns.min(at_ns);
    }

    pub(super) fn clear(&mut self, place: Place) {
        self.of_place[place as usize] = NONE;
    }

    /// The next time at which [`take_passed`](Self::take_passed) must be called.
    pub(super) fn look_at_ns(&self) -> Nanos {
        self.look_at_ns
    }

    /// Puts the places whose deadline has passed into `passed`, and clears those deadlines.
    pub(super) fn take_passed(&mut self, now_ns: Nanos, passed: &mut Vec<Place>) {
        if now_ns < self.look_at_ns {
            return;
        }
        let mut next = NONE;
        for (place, at_ns) in (0..).zip(&mut self.of_place) {
            if *at_ns <= now_ns {
                *at_ns = NONE;
                passed.push(place);
            } else {
                next = next.min(*at_ns);
            }
        }
        self.look_at_ns = next.max(now_ns + GRAIN_NS);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passed(deadlines: &mut Deadlines, now_ns: Nanos) -> Vec<Place> {
        let mut passed = Vec::new();
        deadlines.take_passed(now_ns, &mut passed);
        passed
    }

    #[test]
    fn a_deadline_passes_once_and_not_before_its_time() {
        let mut deadlines = Deadlines::new(3);
        deadlines.set(1, 5_000_000);
        deadlines.set(2, 9_000_000);
        assert_eq!(deadlines.look_at_ns(), 5_000_000);
        assert!(passed(&mut deadlines, 4_999_999).is_empty());
        assert_eq!(passed(&mut deadlines, 5_000_000), [1]);
        assert_eq!(deadlines.look_at_ns(), 9_000_000);
        assert_eq!(passed(&mut deadlines, 9_000_000), [2]);
        assert!(passed(&mut deadlines, 90_000_000).is_empty());
        assert_eq!(deadlines.look_at_ns(), NONE, "with none left there is nothing to wake up for");
    }

    #[test]
    fn a_cleared_or_moved_deadline_does_not_pass() {
        let mut deadlines = Deadlines::new(2);
        deadlines.set(0, 1_000_000);
        deadlines.set(1, 1_000_000);
        deadlines.clear(0);
        deadlines.set(1, 8_000_000);
        assert!(passed(&mut deadlines, 7_999_999).is_empty());
        assert_eq!(passed(&mut deadlines, 9_000_000), [1]);
    }

    #[test]
    fn close_deadlines_are_looked_at_once_a_millisecond() {
        let mut deadlines = Deadlines::new(2);
        deadlines.set(0, 1_000_000);
        deadlines.set(1, 1_000_001);
        assert_eq!(passed(&mut deadlines, 1_000_000), [0]);
        assert_eq!(deadlines.look_at_ns(), 2_000_000);
        assert_eq!(passed(&mut deadlines, 2_000_000), [1]);
    }
}
