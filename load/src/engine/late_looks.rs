//! Keeps track of when the generator itself was late to look for requests that are due.
//!
//! When the generator comes back late, the first of the requests that fell due meanwhile take every connection, and the others find all
//! connections busy. They waited for the generator, not for a connection: had it been there, earlier requests would have used the
//! connections and freed them in time. So such a request counts as ready to be sent when it was due, but at most as much earlier than a
//! connection became free as the generator was late, because any longer wait is the server's doing. The same holds for requests that fall
//! due right afterwards, as long as late ones are before them and at most for as long again as the generator was late.

use crate::clock::Nanos;
use crate::driver::Wake;
use std::collections::VecDeque;

/// A shorter delay comes from the timer and the scheduler.
const LATE_NS: Nanos = 1_000_000;
/// The number of late looks that are kept apart while requests that fell due in them still wait; further ones are merged.
const MOST: usize = 64;

/// A pause in which the generator waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rest {
    /// The latest end of the pause.
    pub until_ns: Nanos,
    /// When there is something to do that no response brings: a request falls due, or a wait has lasted too long. `MAX`: only responses are
    /// expected.
    pub task_ns: Nanos,
    /// Every connection is busy, so the next request can begin only after a response.
    pub needs_response: bool,
    pub wake: Wake,
}

/// A look of the generator that came too late.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct LateLook {
    /// When the look should have come.
    from_ns: Nanos,
    until_ns: Nanos,
    lost_ns: Nanos,
}

impl LateLook {
    /// The latest due time of a request that has to wait for the late ones before it.
    fn last_due_ns(self) -> Nanos {
        self.until_ns + self.lost_ns
    }
}

/// The late looks whose requests have not all been sent.
#[derive(Debug)]
pub(super) struct LateLooks {
    /// How much later than due requests may leave.
    lateness_ns: Nanos,
    looked_ns: Nanos,
    /// All bytes that had arrived by this time were read.
    read_ns: Nanos,
    /// When the last wait began.
    waited_ns: Nanos,
    has_read: bool,
    /// When the next look should come; `MAX`: after the next response, whenever that is.
    expected_ns: Nanos,
    rest: Rest,
    late: VecDeque<LateLook>,
}

impl LateLooks {
    pub(super) fn new(lateness_ns: Nanos, now_ns: Nanos) -> Self {
        let late = VecDeque::with_capacity(MOST);
        let rest = Rest { until_ns: now_ns, task_ns: now_ns, needs_response: false, wake: Wake::AtOnce };
        Self {
            lateness_ns,
            looked_ns: now_ns,
            read_ns: now_ns,
            waited_ns: now_ns,
            has_read: true,
            expected_ns: now_ns,
            rest,
            late,
        }
    }

    /// Notes that the generator rests after its last look.
    pub(super) fn rest(&mut self, rest: Rest, now_ns: Nanos) {
        if !self.has_read {
            // The thread may have been stopped after the kernel had nothing for it, so responses may have come before that look.
            self.read_ns = self.waited_ns;
        }
        (self.waited_ns, self.has_read) = (now_ns, false);
        self.expected_ns = self.looked_ns.max(rest.task_ns);
        self.rest = rest;
    }

    /// Notes a response, which may have been due to end the rest. A response without a stamp may have been there when the rest was due to
    /// end.
    #[inline]
    pub(super) fn on_response(&mut self, stamp_ns: Option<Nanos>) {
        self.has_read = true;
        if !self.rest.needs_response {
            return;
        }
        let until_ns = self.rest.until_ns;
        let task_ns = match (stamp_ns, self.rest.wake) {
            (Some(stamp_ns), Wake::AtOnce) => stamp_ns,
            (Some(stamp_ns), Wake::OnTime) => stamp_ns.max(until_ns),
            (None, _) => until_ns,
        };
        self.expected_ns = self.expected_ns.min(task_ns.max(self.read_ns));
    }

    /// Notes that the generator looks for requests that are due.
    #[inline]
    pub(super) fn look(&mut self, now_ns: Nanos) {
        if now_ns > self.expected_ns.saturating_add(LATE_NS) {
            self.add(self.expected_ns, now_ns);
        }
        (self.looked_ns, self.expected_ns) = (now_ns, now_ns);
        if self.has_read {
            self.read_ns = now_ns;
        }
    }

    fn add(&mut self, from_ns: Nanos, until_ns: Nanos) {
        let lost_ns = until_ns - from_ns;
        if self.late.len() < MOST {
            self.late.push_back(LateLook { from_ns, until_ns, lost_ns });
        } else if let Some(last) = self.late.back_mut() {
            last.until_ns = until_ns;
            last.lost_ns += lost_ns;
        }
    }

    /// Forgets the late looks once all due requests have been sent.
    pub(super) fn clear(&mut self) {
        self.late.clear();
    }

    /// When a request could have been sent whose connection became free at `free_ns`. Must be called in the order of due times.
    pub(super) fn ready_ns(&mut self, due_ns: Nanos, free_ns: Nanos) -> Nanos {
        if free_ns <= due_ns || self.late.is_empty() {
            return due_ns.max(free_ns);
        }
        while self.late.front().is_some_and(|late| due_ns > late.last_due_ns()) {
            self.late.pop_front();
        }
        let may_leave_ns = due_ns.saturating_add(self.lateness_ns);
        let begun = self.late.iter().take_while(|late| late.from_ns <= may_leave_ns);
        // A connection that the kernel's stamp shows to have been freed in the middle of the late look would not have been free earlier.
        let delayed = begun.filter(|late| due_ns <= late.last_due_ns() && free_ns + LATE_NS >= late.until_ns);
        let lost_ns: Nanos = delayed.map(|late| late.lost_ns).sum();
        due_ns.max(free_ns.saturating_sub(lost_ns))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Nanos = 1_000_000;

    /// A rest until there is something to do.
    fn until(task_ms: u64, wake: Wake) -> Rest {
        Rest { until_ns: task_ms * MS, task_ns: task_ms * MS, needs_response: true, wake }
    }

    /// A generator that was expected to look at 100 ms and did so at 400 ms.
    fn late() -> LateLooks {
        let mut looks = LateLooks::new(0, 90 * MS);
        looks.rest(until(100, Wake::OnTime), 0);
        looks.look(400 * MS);
        looks
    }

    #[test]
    fn what_fell_due_meanwhile_was_ready_when_it_was_due() {
        let mut looks = late();
        assert_eq!(
            looks.ready_ns(100 * MS, 401 * MS),
            101 * MS,
            "a connection was free 301 ms after it was due"
        );
        assert_eq!(looks.ready_ns(250 * MS, 420 * MS), 250 * MS);
        assert_eq!(looks.ready_ns(410 * MS, 430 * MS), 410 * MS, "behind the late ones");
        assert_eq!(looks.ready_ns(701 * MS, 760 * MS), 760 * MS, "as long again as the generator was late");
    }

    #[test]
    fn no_request_was_delayed_by_more_than_the_generator_was_late() {
        let mut looks = late();
        assert_eq!(
            looks.ready_ns(50 * MS, 9_000 * MS),
            9_000 * MS,
            "it waited before the generator was late"
        );
        assert_eq!(looks.ready_ns(300 * MS, 9_000 * MS), 8_700 * MS);
    }

    #[test]
    fn a_connection_that_was_freed_meanwhile_was_not_free_before() {
        assert_eq!(late().ready_ns(120 * MS, 150 * MS), 150 * MS);
        assert_eq!(late().ready_ns(150 * MS, 120 * MS), 150 * MS);
        assert_eq!(
            late().ready_ns(120 * MS, 400 * MS),
            120 * MS,
            "seen at the end: it may have been free for some time"
        );
    }

    #[test]
    fn once_all_that_was_due_is_sent_requests_wait_for_connections_again() {
        let mut looks = late();
        looks.look(450 * MS);
        assert_eq!(looks.ready_ns(440 * MS, 460 * MS), 440 * MS);
        looks.clear();
        assert_eq!(looks.ready_ns(455 * MS, 470 * MS), 470 * MS);
    }

    #[test]
    fn a_look_within_a_millisecond_is_punctual() {
        let mut looks = LateLooks::new(0, 0);
        looks.rest(until(100, Wake::OnTime), 0);
        looks.look(101 * MS);
        assert_eq!(looks.ready_ns(100 * MS, 300 * MS), 300 * MS);
    }

    #[test]
    fn a_rest_that_any_response_ends_is_over_with_the_first() {
        let rested = |wake| {
            let mut looks = LateLooks::new(0, 0);
            looks.rest(until(100, wake), 0);
            looks.on_response(Some(20 * MS));
            looks.on_response(Some(30 * MS));
            looks.on_response(None);
            looks.look(100 * MS);
            looks.ready_ns(50 * MS, 110 * MS)
        };
        assert_eq!(rested(Wake::AtOnce), 50 * MS, "80 ms late");
        assert_eq!(rested(Wake::OnTime), 110 * MS, "as it was to be");
    }

    #[test]
    fn a_generator_that_only_waits_for_a_response_is_late_from_when_that_arrived() {
        let looked_late = |responses: &[Option<Nanos>]| {
            let mut looks = LateLooks::new(0, 0);
            looks.rest(Rest { task_ns: Nanos::MAX, ..until(100, Wake::AtOnce) }, 0);
            responses.iter().for_each(|&stamp_ns| looks.on_response(stamp_ns));
            looks.look(400 * MS);
            looks.ready_ns(150 * MS, 450 * MS)
        };
        assert_eq!(looked_late(&[]), 450 * MS, "there was nothing to do");
        assert_eq!(looked_late(&[Some(390 * MS)]), 450 * MS, "it fell due before that");
        assert_eq!(looked_late(&[Some(120 * MS)]), 170 * MS, "280 ms late");
        assert_eq!(looked_late(&[None]), 150 * MS, "it may have been there from 100 ms on");
    }

    #[test]
    fn a_wait_that_ends_with_nothing_hides_no_response_that_came_before_the_look() {
        let mut looks = LateLooks::new(0, 0);
        let rest = Rest { task_ns: Nanos::MAX, ..until(100, Wake::AtOnce) };
        looks.rest(rest, 10 * MS);
        // The thread was stopped in that wait, which a signal ended before the response came.
        looks.look(400 * MS);
        looks.rest(rest, 400 * MS);
        looks.on_response(Some(20 * MS));
        looks.look(401 * MS);
        assert_eq!(looks.ready_ns(150 * MS, 450 * MS), 150 * MS, "381 ms late");
    }

    #[test]
    fn requests_that_may_leave_later_are_late_from_then_on() {
        let mut looks = LateLooks::new(10 * MS, 0);
        // The request is due at 100 ms and may leave until 110 ms.
        looks.rest(until(110, Wake::OnTime), 0);
        looks.look(200 * MS);
        assert_eq!(looks.ready_ns(100 * MS, 201 * MS), 111 * MS);
    }

    #[test]
    fn late_looks_in_a_row_add_up_where_a_request_fell_due_in_both_and_take_no_more_memory_than_some() {
        let mut looks = late();
        looks.rest(until(400, Wake::AtOnce), 0);
        looks.look(500 * MS);
        assert_eq!(looks.ready_ns(450 * MS, 1_000 * MS), 600 * MS, "300 and 100 ms");
        for look in 1..10_000 {
            looks.rest(until(500, Wake::AtOnce), 0);
            looks.look((500 + 2 * look) * MS);
        }
        assert_eq!(looks.late.len(), MOST);
    }
}
