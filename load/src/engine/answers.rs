//! What happens to a connection, and how its request ends.

use super::connection::State;
use super::worker::Worker;
use crate::clock::Nanos;
use crate::driver::{Chunk, Completion, Driver, Event, Slot};
use crate::failure::FailureCause;
use crate::http1::{Answer, Parsed};
use std::io;

/// When an answer was complete: when its last byte came, and when we saw it.
#[derive(Clone, Copy)]
pub(super) struct Seen {
    came_ns: Nanos,
    at_ns: Nanos,
}

/// Bytes behind a complete answer, or on a connection without a request.
pub(super) const UNASKED: FailureCause = FailureCause::Malformed("bytes nobody asked for");

impl<D: Driver> Worker<'_, D> {
    pub(super) fn on_completion(&mut self, completion: Completion) -> io::Result<()> {
        let Completion { slot, event, at_ns, stamp_ns } = completion;
        match event {
            Event::Received(chunk) => self.on_received(slot, chunk, at_ns, stamp_ns),
            Event::Connected => self.on_connected(slot, at_ns),
            Event::Ended => self.on_ended(slot, at_ns),
            Event::Failed(errno) => self.on_failed(slot, errno, at_ns),
        }
        if self.to_send.len() < D::BATCH {
            return Ok(());
        }
        self.send_now()
    }

    fn on_received(&mut self, slot: Slot, chunk: Chunk, now_ns: Nanos, stamp_ns: Option<Nanos>) {
        let bytes = self.driver.bytes(chunk);
        self.recorder.bytes.received += bytes.len() as u64;
        let connection = &mut self.connections[slot as usize];
        if connection.state != State::Busy {
            return self.on_unasked_bytes(slot, now_ns);
        }
        let is_first = !connection.parser.has_begun();
        match connection.parser.feed(bytes) {
            Ok(Parsed::More) => self.patience.on_anything_else(),
            Ok(Parsed::Complete { answer, consumed }) => {
                let is_last = consumed == bytes.len();
                // No answer comes before its request: whatever that stamp says, it is not this.
                let stamp_ns = stamp_ns.filter(|&stamp_ns| stamp_ns >= connection.exchange.sent_ns);
                self.recorder.stamped += u64::from(stamp_ns.is_some());
                if is_first && is_last {
                    self.patience.on_whole_answer(stamp_ns.is_some());
                }
                self.complete(
                    slot,
                    answer,
                    is_last,
                    Seen { at_ns: now_ns, came_ns: stamp_ns.unwrap_or(now_ns) },
                );
            }
            Err(how) => {
                self.patience.on_anything_else();
                self.fail(slot, FailureCause::Malformed(how.0), now_ns);
            }
        }
    }

    /// Bytes on a connection that awaits none. The answer before them was complete and was counted, so the slot's next
    /// request answers for them: it fails without being sent, since something must tell.
    fn on_unasked_bytes(&mut self, slot: Slot, now_ns: Nanos) {
        let connection = &mut self.connections[slot as usize];
        if connection.state == State::Queued {
            self.recorder.sent(connection.exchange);
            return self.fail(slot, UNASKED, now_ns);
        }
        connection.has_unasked_bytes = true;
        self.driver.close(slot);
        self.on_closed(slot, now_ns);
    }

    /// The answer is complete. `is_last`: no byte followed it.
    fn complete(&mut self, slot: Slot, answer: Answer, is_last: bool, seen: Seen) {
        let Seen { at_ns: now_ns, came_ns } = seen;
        let connection = &mut self.connections[slot as usize];
        let (exchange, status) = (connection.exchange, answer.status);
        if !is_last {
            self.recorder.failed(exchange, UNASKED, Some(status), came_ns);
        } else if self.plan.expected_status.accepts(status) {
            self.recorder.ok(exchange, status, came_ns);
        } else {
            let cause = FailureCause::UnexpectedStatus(status);
            self.recorder.failed(exchange, cause, Some(status), came_ns);
        }
        connection.is_reused = true;
        self.end(slot, came_ns);
        if is_last && answer.keep_alive && self.plan.keep_alive && self.driver.has_sent(slot) {
            self.on_free(slot, now_ns);
        } else {
            self.driver.close(slot);
            self.on_closed(slot, now_ns);
        }
    }

    /// The request failed, and with it its connection, if it had one.
    pub(super) fn fail(&mut self, slot: Slot, cause: FailureCause, now_ns: Nanos) {
        self.recorder.failed(self.connections[slot as usize].exchange, cause, None, now_ns);
        self.end(slot, now_ns);
        self.driver.close(slot);
        self.on_closed(slot, now_ns);
    }

    /// The request has ended, one way or the other.
    pub(super) fn end(&mut self, slot: Slot, now_ns: Nanos) {
        self.in_flight -= 1;
        self.last_event_ns = self.last_event_ns.max(now_ns);
        self.deadlines.clear(slot);
    }

    fn on_connected(&mut self, slot: Slot, now_ns: Nanos) {
        self.recorder.connections_opened += 1;
        let connection = &mut self.connections[slot as usize];
        connection.refusals = 0;
        if connection.has_request {
            return self.send(slot, now_ns);
        }
        self.opening -= 1;
        self.deadlines.clear(slot);
        self.on_free(slot, now_ns);
    }

    fn on_ended(&mut self, slot: Slot, now_ns: Nanos) {
        let connection = &mut self.connections[slot as usize];
        if connection.state != State::Busy {
            return self.on_lost(slot, now_ns);
        }
        self.patience.on_anything_else();
        if connection.may_resend() {
            return self.resend(slot, now_ns);
        }
        match connection.parser.end_of_stream() {
            Ok(answer) => {
                let seen = Seen { at_ns: now_ns, came_ns: now_ns };
                self.complete(slot, Answer { keep_alive: false, ..answer }, true, seen);
            }
            Err(cause) => self.fail(slot, cause, now_ns),
        }
    }

    fn on_failed(&mut self, slot: Slot, errno: i32, now_ns: Nanos) {
        self.patience.on_anything_else();
        let connection = &self.connections[slot as usize];
        let cause = FailureCause::from_errno(errno);
        match connection.state {
            State::Opening => self.on_connect_failed(slot, cause, now_ns),
            State::Busy if cause == FailureCause::ConnectionReset && connection.may_resend() => {
                self.resend(slot, now_ns);
            }
            State::Busy => self.fail(slot, cause, now_ns),
            State::Queued | State::Free | State::Resting | State::Closed => self.on_lost(slot, now_ns),
        }
    }

    /// The server closed a connection on which no request was under way. One that was about to leave gets a fresh one.
    fn on_lost(&mut self, slot: Slot, now_ns: Nanos) {
        self.driver.close(slot);
        if self.connections[slot as usize].state == State::Queued {
            self.begin_with_connect(slot, now_ns);
        } else {
            self.on_closed(slot, now_ns);
        }
    }

    /// What the slot waited for did not come in time.
    pub(super) fn on_deadline(&mut self, slot: Slot, now_ns: Nanos) {
        match self.connections[slot as usize].state {
            State::Opening => self.on_connect_failed(slot, FailureCause::ConnectTimeout, now_ns),
            State::Busy => self.fail(slot, FailureCause::RequestTimeout, now_ns),
            State::Resting => self.on_closed(slot, now_ns),
            State::Free | State::Queued | State::Closed => {}
        }
    }
}
