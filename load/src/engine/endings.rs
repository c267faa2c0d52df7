//! Handles connections that end, and waits that have lasted too long.

use super::arrival::Arrival;
use super::connection::{Place, State, StreamState};

use super::feeding::Follows;
use super::worker::Worker;
use crate::clock::Nanos;
use crate::driver::Slot;
use crate::failure::FailureCause;
use crate::http1::Answer;

impl Worker<'_> {
    /// Handles that the server closed its side.
    pub(super) fn on_ended(&mut self, slot: Slot, now_ns: Nanos) {
        let connection = &mut self.connections[slot as usize];
        match connection.state {
            State::Opening => {
                let cause = connection
                    .session
                    .as_mut()
                    .map_or(FailureCause::ClosedBeforeAnswer, |session| session.refused());
                self.on_connect_failed(slot, cause, now_ns);
            }
            State::Open | State::Draining if connection.is_http2() => self.on_http2_end(slot, None, now_ns),
            State::Open | State::Draining => self.on_stream_end(slot, now_ns, false),
            State::Closed | State::Resting => {}
        }
    }

    /// Handles the end of an HTTP/1.1 connection. `by_word` is true if a TLS close_notify announced it.
    pub(super) fn on_stream_end(&mut self, slot: Slot, now_ns: Nanos, by_word: bool) {
        let place = self.width.place(slot, 0);
        if self.streams[place as usize].state != StreamState::Busy {
            return self.on_lost(slot, now_ns);
        }
        self.patience.on_anything_else();
        let connection = &mut self.connections[slot as usize];
        let may_be_missing =
            !by_word && connection.session.as_ref().is_some_and(|session| session.ends_by_word());
        if self.has_crossed_idle_close(place, now_ns) {
            return self.resend(place, now_ns);
        }
        match self.connections[slot as usize].parser.end_of_stream() {
            Ok(_) if may_be_missing => self.fail(place, FailureCause::TruncatedAnswer, None, now_ns),
            Ok(answer) => {
                let answer = Answer { keep_alive: false, ..answer };
                let arrival = Arrival::at(now_ns).since(self.streams[place as usize].first_byte_ns);
                self.complete(place, answer, Follows::Nothing, arrival);
            }
            Err(cause) => self.fail(place, cause, None, now_ns),
        }
    }

    /// Handles the end or failure of an HTTP/2 connection, and so of its streams.
    fn on_http2_end(&mut self, slot: Slot, errno: Option<i32>, now_ns: Nanos) {
        if let Some(session) = &mut self.connections[slot as usize].session {
            session.end(errno);
        }
        self.patience.on_anything_else();
        self.connections[slot as usize].state = State::Draining;
        self.end_streams(slot, Arrival::at(now_ns));
        // The requests that remain have not been sent yet.
        if self.connections[slot as usize].state == State::Draining {
            self.fail_all(slot, FailureCause::ClosedBeforeAnswer, now_ns);
        }
    }

    pub(super) fn on_failed(&mut self, slot: Slot, errno: i32, now_ns: Nanos) {
        self.patience.on_anything_else();
        let place = self.width.place(slot, 0);
        let connection = &self.connections[slot as usize];
        let cause = FailureCause::from_errno(errno);
        match connection.state {
            State::Opening => self.on_connect_failed(slot, cause, now_ns),
            State::Open | State::Draining if connection.is_http2() => {
                self.on_http2_end(slot, Some(errno), now_ns);
            }
            State::Open | State::Draining if self.streams[place as usize].state == StreamState::Busy => {
                if cause == FailureCause::ConnectionReset && self.has_crossed_idle_close(place, now_ns) {
                    self.resend(place, now_ns);
                } else {
                    self.fail(place, cause, None, now_ns);
                }
            }
            State::Open | State::Draining => self.on_lost(slot, now_ns),
            State::Closed | State::Resting => {}
        }
    }

    /// Whether the end of the connection crossed the request on the wire, which may then be sent again.
    fn has_crossed_idle_close(&self, place: Place, now_ns: Nanos) -> bool {
        let has_begun = self.connections[self.width.slot(place) as usize].parser.has_begun();
        let is_repeatable = !has_begun && self.streams[place as usize].is_idempotent;
        (is_repeatable && self.may_have_crossed(place, now_ns))
            || self.has_crossed_idle_timeout(place, now_ns)
    }

    /// Whether a response is the 408 with which a server ends an idle connection, and crossed the request on the wire. A 408 tells that no
    /// request was received, so any request may be sent again (RFC 9110 section 15.5.9).
    pub(super) fn has_crossed_idle_timeout(&self, place: Place, now_ns: Nanos) -> bool {
        let connection = &self.connections[self.width.slot(place) as usize];
        connection.parser.is_request_timeout() && self.may_have_crossed(place, now_ns)
    }

    fn may_have_crossed(&self, place: Place, now_ns: Nanos) -> bool {
        let connection = &self.connections[self.width.slot(place) as usize];
        let stream = &self.streams[place as usize];
        connection.is_reused && !stream.was_resent && stream.has_crossed_close(now_ns, self.connect_ns)
    }

    /// Sends the request again on a fresh connection, with its first due and sent times.
    pub(super) fn resend(&mut self, place: Place, now_ns: Nanos) {
        self.count_resent(place);
        self.wait_for_another_connection(place, now_ns);
    }

    /// Handles that the server closed a connection without a request under way. A request that was about to leave gets a new connection.
    pub(super) fn on_lost(&mut self, slot: Slot, now_ns: Nanos) {
        let place = self.width.place(slot, 0);
        if self.streams[place as usize].state == StreamState::Queued {
            // The request may have been begun after the connection ended.
            let exchange = &mut self.streams[place as usize].exchange;
            exchange.sent_ns = exchange.sent_ns.max(now_ns);
            self.requeue(place);
        }
        self.close(slot, now_ns);
    }

    /// Handles a timeout of the stream or of its connection.
    pub(super) fn on_deadline(&mut self, place: Place, now_ns: Nanos) {
        let slot = self.width.slot(place);
        match self.connections[slot as usize].state {
            State::Opening => self.on_connect_failed(slot, FailureCause::ConnectTimeout, now_ns),
            State::Open | State::Draining => self.on_request_timeout(place, now_ns),
            State::Resting => {
                self.connections[slot as usize].state = State::Closed;
                self.close(slot, now_ns);
            }
            State::Closed => {}
        }
    }

    /// Whether a part of the response to this request has arrived.
    pub(super) fn has_begun_response(&self, place: Place) -> bool {
        let connection = &self.connections[self.width.slot(place) as usize];
        match connection.session.as_ref().filter(|session| session.is_http2()) {
            Some(session) => session.has_head(self.width.stream(place)),
            None => connection.parser.has_begun(),
        }
    }

    fn on_request_timeout(&mut self, place: Place, now_ns: Nanos) {
        if self.streams[place as usize].state == StreamState::Refused {
            return self.send_refused(place, now_ns);
        }
        let slot = self.width.slot(place);
        let (connection, stream) = (&mut self.connections[slot as usize], &self.streams[place as usize]);
        if stream.state != StreamState::Busy {
            return;
        }
        let is_http2 = connection.is_http2();
        self.recorder.total.begun_unfinished += u64::from(self.has_begun_response(place));
        if !is_http2 {
            return self.fail(place, FailureCause::RequestTimeout, None, now_ns);
        }
        let (connection, stream) = (&mut self.connections[slot as usize], &self.streams[place as usize]);
        // A connection on which nothing has arrived since the request was sent is treated as dead.
        let is_silent = connection.received_ns <= stream.exchange.sent_ns;
        if let Some(session) = &mut connection.session {
            session.cancel(self.width.stream(place));
        }
        if is_silent {
            connection.state = State::Draining;
        }
        self.write_session(slot);
        self.fail(place, FailureCause::RequestTimeout, None, now_ns);
    }
}
