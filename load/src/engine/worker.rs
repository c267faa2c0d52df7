//! One thread's event loop.

use super::connection::{Connection, State};
use super::deadlines::Deadlines;
use super::pace::Pace;
use super::patience::Patience;
use crate::clock::{Nanos, now_ns};
use crate::driver::{Driver, Slot};
use crate::plan::LoadPlan;
use crate::recorder::Recorder;
use crate::request::RequestWriter;
use crate::run::{Done, Work};
use crate::times::Times;
use std::collections::VecDeque;
use std::io;
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};

/// The loop comes back at least this often, to see the stop flag and to hand over a finished second.
const HEARTBEAT_NS: Nanos = 100_000_000;
/// In an open load the clock is looked at after so many completions: hundreds of answers that come at once, after a stall of
/// the server, must not hold up what is due.
const LOOK_AFTER: u32 = 16;
/// Connections that are opened in advance at the same time: fewer than any server's backlog of unaccepted ones, since what
/// overflows it waits a second for the kernel to try again.
const OPENING_AT_ONCE: u32 = 64;

/// Everything one thread has. Its methods are spread over the files of this room by what they are about.
pub(super) struct Worker<'a, D> {
    pub(super) driver: D,
    pub(super) writer: RequestWriter<'a>,
    pub(super) plan: &'a LoadPlan,
    pub(super) connections: Vec<Connection>,
    pub(super) deadlines: Deadlines,
    pub(super) pace: Pace,
    /// Free connections, longest free first; some may have been closed meanwhile.
    pub(super) free: VecDeque<Slot>,
    /// Slots without a connection that wait for a request, longest closed first.
    pub(super) closed: VecDeque<Slot>,
    /// Requests on free connections that the next flush sends.
    pub(super) to_send: Vec<Slot>,
    pub(super) in_flight: u32,
    /// Connections still to be opened in advance, and those being opened so.
    pub(super) to_open: u32,
    pub(super) opening: u32,
    /// Where connections come from, one after the other; empty: the kernel chooses.
    pub(super) sources: Sources<'a>,
    pub(super) connect_timeout_ns: Nanos,
    pub(super) request_timeout_ns: Nanos,
    pub(super) recorder: Recorder,
    pub(super) patience: Patience,
    pub(super) last_event_ns: Nanos,
    loop_lag: Times,
    started_ns: Nanos,
    deadline_ns: Nanos,
    stop: &'a AtomicBool,
}

/// The source addresses in turn, shared with the other threads by taking every `step`-th.
pub(super) struct Sources<'a> {
    addresses: &'a [IpAddr],
    next: u32,
    step: u32,
}

impl Sources<'_> {
    pub(super) fn next(&mut self) -> Option<IpAddr> {
        let index = self.next as usize % self.addresses.len().max(1);
        self.next = self.next.wrapping_add(self.step);
        self.addresses.get(index).copied()
    }
}

impl<'a, D: Driver> Worker<'a, D> {
    pub(super) fn new(work: Work<'a>, driver: D) -> Self {
        let plan = work.plan;
        let slots = slots(&work);
        let thread = (work.index, work.threads);
        Self {
            driver,
            writer: plan.requests.writer(work.index, work.threads, plan.seed, plan.keep_alive),
            plan,
            connections: (0..slots).map(|_| Connection::new()).collect(),
            deadlines: Deadlines::new(slots as usize),
            pace: Pace::new(plan, thread, work.requests, work.started_ns, work.deadline_ns),
            // A slot can be listed twice as free (see `take_free`), hence the room.
            free: VecDeque::with_capacity(2 * slots as usize),
            closed: (0..slots).collect(),
            to_send: Vec::with_capacity(slots as usize),
            in_flight: 0,
            to_open: if plan.keep_alive { slots } else { 0 },
            opening: 0,
            sources: Sources { addresses: work.source_addresses, next: work.index, step: work.threads },
            connect_timeout_ns: plan.connect_timeout.as_nanos() as Nanos,
            request_timeout_ns: plan.request_timeout.as_nanos() as Nanos,
            recorder: work.recorder,
            patience: Patience::default(),
            last_event_ns: work.started_ns,
            loop_lag: Times::default(),
            started_ns: work.started_ns,
            deadline_ns: work.deadline_ns.unwrap_or(Nanos::MAX),
            stop: work.stop,
        }
    }

    /// Runs to the end of the load.
    ///
    /// # Errors
    /// The driver itself broke; what happens to single connections is recorded instead.
    pub(super) fn run(mut self) -> io::Result<Done> {
        let mut passed = Vec::with_capacity(self.connections.len());
        let mut now = now_ns();
        let mut looked_ns = now;
        loop {
            self.open_in_advance(now);
            self.begin_due(now);
            self.deadlines.take_passed(now, &mut passed);
            for slot in passed.drain(..) {
                self.on_deadline(slot, now);
            }
            self.flush()?;
            self.recorder.turn_to(now);
            if now >= self.deadline_ns || self.stop.load(Ordering::Relaxed) {
                return Ok(self.finish(now));
            }
            if self.in_flight == 0 && self.pace.is_exhausted() {
                let ended_ns = self.last_event_ns;
                return Ok(self.finish(ended_ns));
            }
            let before = now_ns();
            let until = self.wake_at(before);
            self.driver.wait(before, until, self.patience.wake(before, until))?;
            now = now_ns();
            // How long something could have waited to be looked at: while the loop was busy, or overslept.
            self.loop_lag.record_ns((before - looked_ns).max(now.saturating_sub(until)));
            looked_ns = now;
            now = self.take_completions(now)?;
        }
    }

    /// Acts on all that has happened; returns the time of the last of it.
    fn take_completions(&mut self, seen_ns: Nanos) -> io::Result<Nanos> {
        let mut now = seen_ns;
        let mut taken = 0;
        while let Some(completion) = self.driver.next() {
            self.on_completion(completion)?;
            now = now.max(completion.at_ns);
            taken += 1;
            if self.pace.is_open() && taken % LOOK_AFTER == 0 {
                now = now_ns();
                self.begin_due(now);
                self.send_now()?;
            }
        }
        Ok(now)
    }

    /// Until when there is nothing to do unless something happens.
    fn wake_at(&self, now_ns: Nanos) -> Nanos {
        let has_room = !self.free.is_empty() || (self.may_open_for_request() && !self.closed.is_empty());
        let due_ns = if has_room { self.pace.next_due_ns() } else { Nanos::MAX };
        due_ns.min(self.deadlines.look_at_ns()).min(self.deadline_ns).min(now_ns + HEARTBEAT_NS)
    }

    /// Opens connections before a request needs them, so that no request's time holds what no user waits for.
    fn open_in_advance(&mut self, now_ns: Nanos) {
        while self.to_open > 0 && self.opening < OPENING_AT_ONCE {
            self.to_open -= 1;
            let Some(slot) = self.closed.pop_front() else { return };
            self.opening += 1;
            self.connections[slot as usize].has_request = false;
            self.connect(slot, now_ns);
        }
    }

    /// Begins what is due as long as there is a slot for it: a free connection, or else one that must be opened first,
    /// which then is part of what the request waits for.
    fn begin_due(&mut self, now_ns: Nanos) {
        while self.pace.may_begin(now_ns) {
            let Some(slot) = self.take_free().or_else(|| self.take_closed()) else { return };
            self.begin(slot, now_ns);
        }
    }

    /// In a closed loop a connection's first request begins when the connection has been opened in advance.
    fn may_open_for_request(&self) -> bool {
        self.pace.is_open() || self.to_open == 0
    }

    fn take_closed(&mut self) -> Option<Slot> {
        if self.may_open_for_request() { self.closed.pop_front() } else { None }
    }

    /// The connection that has been free for longest. One that was closed meanwhile may be listed still, and one that was
    /// opened again twice: a slot is free if it says so itself.
    fn take_free(&mut self) -> Option<Slot> {
        while let Some(slot) = self.free.pop_front() {
            if self.connections[slot as usize].state == State::Free {
                return Some(slot);
            }
        }
        None
    }

    /// Accounts for what has no end: requests in flight, and those that were due and never begun.
    fn finish(mut self, ended_ns: Nanos) -> Done {
        for connection in self.connections.iter().filter(|connection| connection.is_in_flight()) {
            self.recorder.unfinished(connection.exchange, ended_ns);
        }
        while let Some(due_ns) = self.pace.take_missed(ended_ns) {
            self.recorder.not_sent(due_ns, ended_ns);
        }
        self.recorder.bytes.sent = self.driver.bytes_sent();
        self.recorder.finish();
        Done {
            recorder: self.recorder,
            ended_ns: ended_ns.max(self.started_ns),
            cpu_ns: super::thread_cpu_ns(),
            loop_lag: self.loop_lag,
            protocol: "HTTP/1.1".to_owned(),
            driver: D::NAME,
        }
    }
}

/// A closed loop never needs more connections than it has requests.
pub(super) fn slots(work: &Work<'_>) -> u32 {
    let requests = work.requests.unwrap_or(u64::MAX);
    u64::from(work.connections).min(requests) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::burst::{Burst, Step};
    use crate::plan::{Arrivals, Pacing, RateShape, Stop};
    use crate::request::{Origin, RequestSource};
    use std::cell::RefCell;
    use std::num::{NonZeroU32, NonZeroU64};
    use std::rc::Rc;
    use std::sync::Arc;
    use std::sync::mpsc::channel;

    const CONNECTIONS: u32 = 200;
    const REQUESTS: u64 = 300;

    /// 300 requests are due within 300 us, and 200 answers come at once long after that.
    #[test]
    fn a_burst_of_answers_does_not_hold_up_what_is_due() {
        let origin = Origin { tls: false, host: "127.0.0.1".to_owned(), port: 1 };
        let requests = Arc::new(RequestSource::get(origin, "/"));
        let stop = Stop::Requests(NonZeroU64::new(REQUESTS).expect("some"));
        let mut plan = LoadPlan::closed(requests, NonZeroU32::new(CONNECTIONS).expect("some"), stop);
        let shape = RateShape::Constant { rate_per_s: 1e6 };
        plan.pacing = Pacing::Open { shape, arrivals: Arrivals::Constant };

        let (steps, started_ns) = (Rc::new(RefCell::new(Vec::new())), now_ns());
        let driver = Burst::until(started_ns + 2_000_000, CONNECTIONS, Rc::clone(&steps));
        let (slices, _seconds) = channel();
        let work = Work {
            plan: &plan,
            address: ([127, 0, 0, 1], 1).into(),
            source_addresses: &[],
            tls: None,
            index: 0,
            threads: 1,
            connections: CONNECTIONS,
            requests: Some(REQUESTS),
            started_ns,
            deadline_ns: None,
            stop: &AtomicBool::new(false),
            recorder: Recorder::new(started_ns, slices),
        };
        let done = Worker::new(work, driver).run().expect("it runs");

        assert_eq!(done.recorder.counts.ok, REQUESTS);
        let steps = steps.borrow();
        let left = steps.iter().rposition(|&step| step == Step::Sent).expect("it sent");
        let longest = steps[..left].split(|&step| step == Step::Sent).map(<[Step]>::len).max();
        assert_eq!(longest, Some(LOOK_AFTER as usize), "answers taken in a row while a request was due");
    }
}
