//! Handles the events of a connection, and ends its requests.

use super::arrival::Arrival;
use super::connection::{Place, State, StreamState};
use super::feeding::{Fed, Follows, feed};
use super::inspection::Judgement;
use super::worker::Worker;
use crate::clock::Nanos;
use crate::driver::{Completion, Event, LEAST_SKIPPED, Slot};
use crate::failing_body;
use crate::failure::FailureCause;
use crate::http1::{Answer, HTTP2_INSTEAD, Malformed, Parsed, begins_http2, is_farewell};
use crate::http2::StreamEnd;
use crate::plan::LoadPlan;
use crate::recorder::Recorder;

/// The cause of a failure by bytes after a complete response.
const UNASKED: FailureCause = FailureCause::Malformed("bytes without a request");

/// The kind of bytes that arrived on a connection without a request.
#[derive(Clone, Copy, PartialEq, Eq)]
enum IdleBytes {
    /// The server announces that it ends the connection.
    Farewell,
    /// The first frame of an HTTP/2 server.
    Http2,
    Unsolicited,
}

impl IdleBytes {
    fn new(bytes: &[u8]) -> Self {
        match bytes {
            _ if is_farewell(bytes) => Self::Farewell,
            _ if begins_http2(bytes) => Self::Http2,
            _ => Self::Unsolicited,
        }
    }
}

fn malformed(how: Malformed) -> FailureCause {
    if how == HTTP2_INSTEAD { FailureCause::Http1NotSpoken } else { FailureCause::Malformed(how.0) }
}

/// Whether this is the end of the first response whose unexpected status may make a request fail.
fn may_be_first_failing(recorder: &Recorder, plan: &LoadPlan, fed: &Fed) -> bool {
    let is_unexpected =
        matches!(fed, Fed::Complete { answer, .. } if !plan.expected_status.accepts(answer.status));
    is_unexpected && recorder.total.first_failing_body.is_none()
}

impl Worker<'_> {
    pub(super) fn on_completion(&mut self, completion: Completion) {
        let Completion { slot, event, at_ns, stamp_ns } = completion;
        match event {
            Event::Received(len) => self.on_received(slot, len, at_ns, stamp_ns),
            Event::Skipped(bytes) => self.on_skipped(slot, bytes, at_ns, stamp_ns),
            Event::Connected => self.on_connected(slot, at_ns),
            Event::Ended => self.on_ended(slot, at_ns),
            Event::Failed(errno) => self.on_failed(slot, errno, at_ns),
        }
        self.flush();
    }

    fn on_received(&mut self, slot: Slot, len: usize, now_ns: Nanos, stamp_ns: Option<Nanos>) {
        if self.session_kind.is_some() {
            return self.on_session_bytes(slot, len, now_ns, stamp_ns);
        }
        let place = self.width.place(slot, 0);
        let bytes = self.driver.bytes(len);
        if self.streams[place as usize].state != StreamState::Busy {
            let idle = IdleBytes::new(bytes);
            return self.on_idle_bytes(slot, idle, now_ns);
        }
        self.recorder.total.bytes.received += bytes.len() as u64;
        let connection = &mut self.connections[slot as usize];
        let reader = self.inspection.as_mut().map(|inspection| inspection.reader(place));
        let (fed, taken) = feed(connection, bytes, self.plan.first_byte, reader);
        self.streams[place as usize].exchange.received_bytes += taken.len() as u64;
        let failing = may_be_first_failing(&self.recorder, self.plan, &fed);
        self.failing_body = failing.then(|| failing_body::text(taken)).flatten();
        let reads_body = self.inspection.as_ref().is_some_and(|inspection| inspection.parts().has_body());
        if matches!(fed, Fed::More { .. }) && !reads_body && !self.plan.first_byte {
            let skippable = connection.parser.skippable();
            if skippable >= LEAST_SKIPPED {
                self.driver.skip(slot, skippable);
            }
        }
        self.on_fed(place, fed, now_ns, stamp_ns);
    }

    /// Handles bytes of a body that is not inspected.
    fn on_skipped(&mut self, slot: Slot, bytes: u64, now_ns: Nanos, stamp_ns: Option<Nanos>) {
        let place = self.width.place(slot, 0);
        self.recorder.total.bytes.received += bytes;
        self.streams[place as usize].exchange.received_bytes += bytes;
        let fed = match self.connections[slot as usize].parser.skip(bytes) {
            Parsed::More => Fed::More { is_first: false },
            Parsed::Complete { answer, .. } => {
                Fed::Complete { answer, is_whole: false, follows: Follows::Nothing }
            }
        };
        self.on_fed(place, fed, now_ns, stamp_ns);
    }

    fn on_session_bytes(&mut self, slot: Slot, len: usize, now_ns: Nanos, stamp_ns: Option<Nanos>) {
        let has_sent = self.driver.has_sent(slot);
        let bytes = self.driver.bytes(len);
        let connection = &mut self.connections[slot as usize];
        connection.received_ns = now_ns;
        let is_opening = connection.state == State::Opening;
        let Some(session) = &mut connection.session else { return };
        if has_sent {
            session.acknowledgements_left();
        }
        match session.receive(bytes, stamp_ns.unwrap_or(now_ns)) {
            Ok(inside_bytes) => self.recorder.total.bytes.received += inside_bytes,
            Err(cause) if is_opening => return self.on_connect_failed(slot, cause, now_ns),
            Err(cause) => return self.fail_all(slot, cause, now_ns),
        }
        if is_opening {
            return self.on_session_progress(slot, now_ns);
        }
        if connection.is_http2() {
            self.on_http2_bytes(slot, now_ns, stamp_ns);
        } else {
            self.on_tls_bytes(slot, now_ns, stamp_ns);
        }
    }

    /// Handles bytes of HTTP/1.1 inside TLS.
    fn on_tls_bytes(&mut self, slot: Slot, now_ns: Nanos, stamp_ns: Option<Nanos>) {
        let place = self.width.place(slot, 0);
        let connection = &mut self.connections[slot as usize];
        let Some(session) = &mut connection.session else { return };
        let has_ended = session.has_ended();
        let plain = session.take_plain();
        // Session tickets and key updates contain no plain bytes.
        if !plain.is_empty() {
            if self.streams[place as usize].state == StreamState::Busy {
                let reader = self.inspection.as_mut().map(|inspection| inspection.reader(place));
                let (fed, taken) = feed(connection, &plain, self.plan.first_byte, reader);
                self.streams[place as usize].exchange.received_bytes += taken.len() as u64;
                let failing = may_be_first_failing(&self.recorder, self.plan, &fed);
                self.failing_body = failing.then(|| failing_body::text(taken)).flatten();
                self.on_fed(place, fed, now_ns, stamp_ns);
            } else {
                let idle = if has_ended { IdleBytes::Farewell } else { IdleBytes::new(&plain) };
                self.on_idle_bytes(slot, idle, now_ns);
            }
        }
        let connection = &mut self.connections[slot as usize];
        if let Some(session) = &mut connection.session {
            session.keep_plain(plain);
        }
        if has_ended && connection.state == State::Open {
            self.on_stream_end(slot, now_ns, true);
        } else if connection.state == State::Open {
            self.write_session(slot);
        }
    }

    fn on_http2_bytes(&mut self, slot: Slot, now_ns: Nanos, stamp_ns: Option<Nanos>) {
        let connection = &mut self.connections[slot as usize];
        let takes_requests = connection.session.as_mut().is_some_and(|session| session.takes_requests());
        if !takes_requests {
            connection.state = State::Draining;
        }
        let arrival = self.arrival(slot, now_ns, stamp_ns);
        if self.end_streams(slot, arrival) {
            self.patience.on_whole_response(arrival.is_stamped);
        } else {
            self.patience.on_anything_else();
        }
        if self.connections[slot as usize].state == State::Draining {
            self.drain(slot, now_ns);
        }
        self.write_session(slot);
    }

    /// Ends the requests of HTTP/2 streams that have ended. Returns `false` if there were none.
    pub(super) fn end_streams(&mut self, slot: Slot, arrival: Arrival) -> bool {
        let mut has_ended = false;
        loop {
            let connection = &mut self.connections[slot as usize];
            let Some((number, end)) = connection.session.as_mut().and_then(|session| session.next_end())
            else {
                return has_ended;
            };
            has_ended = true;
            let place = self.width.place(slot, number);
            match end {
                StreamEnd::Complete { status, body_bytes } => {
                    connection.is_reused = true;
                    let reader = connection.session.as_mut().and_then(|session| session.reader(number));
                    let judgement = match (&mut self.inspection, reader) {
                        (Some(inspection), Some(reader)) => inspection.judge_read(place, status, reader),
                        _ => Judgement::Fine,
                    };
                    let fault = match judgement {
                        Judgement::Fine => None,
                        Judgement::Fault(fault) => Some(fault),
                        Judgement::Redirect(location) => {
                            let keep_alive = self.plan.keep_alive;
                            match self.follow(place, (status, &location), keep_alive, arrival.seen_ns) {
                                Ok(()) => continue,
                                Err(fault) => Some(fault),
                            }
                        }
                    };
                    let session = self.connections[slot as usize].session.as_ref();
                    let head_ns = session.and_then(|session| session.head_ns(number));
                    let first_byte_ns = head_ns.filter(|&head_ns| head_ns < arrival.came_ns);
                    self.streams[place as usize].exchange.received_bytes = body_bytes;
                    self.account(place, status, fault, Arrival { first_byte_ns, ..arrival });
                    self.end(place, arrival.came_ns);
                    self.release(place, arrival, self.plan.keep_alive);
                }
                StreamEnd::Broken(broken) => self.go_again(place, broken, arrival.seen_ns),
            }
        }
    }

    fn on_fed(&mut self, place: Place, fed: Fed, now_ns: Nanos, stamp_ns: Option<Nanos>) {
        let slot = self.width.slot(place);
        match fed {
            Fed::More { is_first } => {
                self.patience.on_anything_else();
                if is_first {
                    self.streams[place as usize].first_byte_ns = stamp_ns.unwrap_or(now_ns);
                }
            }
            Fed::Complete { answer, is_whole, follows } => {
                let arrival = self.arrival(slot, now_ns, stamp_ns);
                if is_whole && follows == Follows::Nothing {
                    self.patience.on_whole_response(arrival.is_stamped);
                }
                let first_byte_ns = (!is_whole).then_some(self.streams[place as usize].first_byte_ns);
                self.complete(place, answer, follows, Arrival { first_byte_ns, ..arrival });
            }
            Fed::Malformed(how) => {
                self.patience.on_anything_else();
                self.fail(place, malformed(how), None, now_ns);
            }
        }
    }

    /// Handles bytes on a connection without a request, which is not used again. A connection that begins with HTTP/2 is, so that a request
    /// shows how the server responds.
    fn on_idle_bytes(&mut self, slot: Slot, bytes: IdleBytes, now_ns: Nanos) {
        let connection = &mut self.connections[slot as usize];
        if bytes == IdleBytes::Http2 && !connection.is_reused {
            connection.greets_with_http2 = true;
            return;
        }
        self.recorder.total.unsolicited += u64::from(bytes != IdleBytes::Farewell);
        self.on_lost(slot, now_ns);
    }

    /// Handles a complete HTTP/1.1 response.
    pub(super) fn complete(&mut self, place: Place, answer: Answer, follows: Follows, arrival: Arrival) {
        let slot = self.width.slot(place);
        let failing_body = self.failing_body.take();
        // This holds even for a response without `close`, because its server has decided to end the connection.
        if self.has_crossed_idle_timeout(place, arrival.seen_ns) {
            return self.resend(place, arrival.seen_ns);
        }
        let is_open = follows == Follows::Nothing && answer.keep_alive && self.driver.has_sent(slot);
        let is_open = is_open && self.plan.keep_alive && !self.streams[place as usize].closes;
        if follows == Follows::Unsolicited {
            let exchange = self.streams[place as usize].exchange;
            self.recorder.failed(exchange, UNASKED, Some(answer.status), arrival.came_ns);
        } else {
            let judgement = self.inspection.as_mut().map(|inspection| inspection.judge(place, answer.status));
            let fault = match judgement {
                None | Some(Judgement::Fine) => None,
                Some(Judgement::Fault(fault)) => Some(fault),
                Some(Judgement::Redirect(location)) => {
                    match self.follow(place, (answer.status, &location), is_open, arrival.seen_ns) {
                        Ok(()) => return,
                        Err(fault) => Some(fault),
                    }
                }
            };
            // Noted only now, because a response that is redirected, or that crossed its request, does not end the request.
            self.recorder.total.note_failing_body(failing_body, arrival.came_ns);
            self.account(place, answer.status, fault, arrival);
        }
        self.connections[slot as usize].is_reused = true;
        self.end(place, arrival.came_ns);
        self.release(place, arrival, is_open);
    }

    /// Records a complete response. `fault` is the cause of failure in its body, if any.
    fn account(&mut self, place: Place, status: u16, fault: Option<FailureCause>, arrival: Arrival) {
        let exchange = self.streams[place as usize].exchange;
        // A response cannot arrive before its request is sent, so an earlier stamp is not this response's.
        let came_ns = if arrival.came_ns >= exchange.sent_ns { arrival.came_ns } else { arrival.seen_ns };
        let came_ns = came_ns.max(exchange.sent_ns);
        // Called first, because counting may begin with this response.
        self.recorder.turn_to(came_ns);
        self.recorder.total.stamped += u64::from(arrival.is_stamped && came_ns == arrival.came_ns);
        let cause = match (self.plan.expected_status.accepts(status), fault) {
            (true, None) => {
                self.recorder.ok(exchange, status, came_ns);
                if let Some(first_byte_ns) = arrival.first_byte_ns {
                    self.recorder.first_byte(exchange, first_byte_ns, came_ns);
                }
                return;
            }
            (true, Some(fault)) => fault,
            (false, _) => FailureCause::UnexpectedStatus(status),
        };
        self.recorder.failed(exchange, cause, Some(status), came_ns);
    }

    /// Fails the request: alone over HTTP/2, with its connection over HTTP/1.1, if it had one. `status` is that of its response, if one had
    /// begun.
    pub(super) fn fail(&mut self, place: Place, cause: FailureCause, status: Option<u16>, now_ns: Nanos) {
        self.end_failed(place, cause, status, now_ns);
        let is_kept = self.plan.keep_alive && self.connections[self.width.slot(place) as usize].is_http2();
        self.release(place, Arrival::at(now_ns), is_kept);
    }

    /// Fails all requests of a connection that is of no further use.
    pub(super) fn fail_all(&mut self, slot: Slot, cause: FailureCause, now_ns: Nanos) {
        for number in 0..self.width.streams() {
            let place = self.width.place(slot, number);
            match self.streams[place as usize].state {
                StreamState::Busy => {
                    self.end_failed(place, cause, None, now_ns);
                }
                StreamState::Queued => self.requeue(place),
                StreamState::Refused => self.leave_connection(place),
                StreamState::Waiting | StreamState::Idle => {}
            }
        }
        self.close(slot, now_ns);
    }

    /// Records the failure of the request; the caller takes care of the connection.
    pub(super) fn end_failed(
        &mut self,
        place: Place,
        cause: FailureCause,
        status: Option<u16>,
        now_ns: Nanos,
    ) {
        let exchange = self.streams[place as usize].exchange;
        let speaks_http2 = self.connections[self.width.slot(place) as usize].greets_with_http2;
        let cause = if speaks_http2 && status.is_none() { FailureCause::Http1NotSpoken } else { cause };
        // The last wait may have brought events from before the request was sent.
        let now_ns = now_ns.max(exchange.sent_ns);
        self.recorder.failed(exchange, cause, status, now_ns);
        self.end(place, now_ns);
    }

    /// Ends the request, whatever its outcome.
    pub(super) fn end(&mut self, place: Place, now_ns: Nanos) {
        let slot = self.width.slot(place);
        self.in_flight -= 1;
        self.last_event_ns = self.last_event_ns.max(now_ns);
        self.streams[place as usize].state = StreamState::Idle;
        self.connections[slot as usize].busy -= 1;
        if let Some(inspection) = &mut self.inspection {
            inspection.reader(place).clear();
        }
        self.deadlines.clear(place);
    }

    /// Frees the stream. `is_kept` is true if its connection may carry other requests.
    fn release(&mut self, place: Place, arrival: Arrival, is_kept: bool) {
        let now_ns = arrival.seen_ns;
        let slot = self.width.slot(place);
        match self.connections[slot as usize].state {
            State::Open if is_kept => self.on_free(place, now_ns, arrival.came_ns),
            State::Open | State::Draining => self.drain(slot, now_ns),
            State::Closed | State::Opening | State::Resting => self.close(slot, now_ns),
        }
    }

    /// Closes the connection once it has no requests. It takes no new ones.
    pub(super) fn drain(&mut self, slot: Slot, now_ns: Nanos) {
        let connection = &mut self.connections[slot as usize];
        connection.state = State::Draining;
        if connection.busy == connection.waiting {
            self.close(slot, now_ns);
        }
    }

    /// Closes the connection. Requests that wait for another connection get it.
    pub(super) fn close(&mut self, slot: Slot, now_ns: Nanos) {
        self.end_session(slot, now_ns);
        if self.connections[slot as usize].waiting > 0 {
            return self.connect(slot, now_ns);
        }
        let place = self.width.place(slot, 0);
        if self.pace.is_open() || !self.begin(place, now_ns, now_ns) {
            self.free.add_closed(slot);
        }
    }

    /// Closes the socket, and forgets the server's session.
    pub(super) fn end_session(&mut self, slot: Slot, now_ns: Nanos) {
        self.send_close_notify(slot);
        self.driver.close(slot);
        let connection = &mut self.connections[slot as usize];
        connection.state = State::Closed;
        connection.session = None;
        connection.closed_ns = now_ns;
    }

    /// Handles that a stream of an open connection has no request. In a closed loop it gets the next one at once, but only after everything
    /// that has arrived over the connection is read, because that may be its end.
    ///
    /// The stream has been free since `free_ns`: if the last response came while this thread was late, requests that fell due meanwhile
    /// waited for the thread, not for a connection.
    pub(super) fn on_free(&mut self, place: Place, now_ns: Nanos, free_ns: Nanos) {
        let slot = self.width.slot(place);
        let stream = &mut self.streams[place as usize];
        stream.free_ns = free_ns;
        let waits = self.pace.is_open() || self.driver.has_pending(slot);
        if waits || !self.begin(place, now_ns, now_ns) {
            self.free.add_stream(place, &mut self.streams[place as usize]);
        }
    }

    /// Moves a request that has not left to another connection.
    pub(super) fn requeue(&mut self, place: Place) {
        let slot = self.width.slot(place);
        self.streams[place as usize].state = StreamState::Waiting;
        self.connections[slot as usize].waiting += 1;
        self.recorder.sent(self.streams[place as usize].exchange);
    }
}
