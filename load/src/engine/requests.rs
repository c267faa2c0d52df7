//! Begins requests: on a free stream, or on a connection that is opened for it.

use super::connection::{Place, Rendered, State, StreamState};
use super::worker::Worker;
use crate::clock::{Nanos, now_ns};
use crate::driver::Slot;
use crate::http2::{Again, Broken, NotSent};
use crate::recorder::Exchange;

/// How often a refused request is sent again, and the first rest before that, which doubles each time.
const MOST_REFUSALS: u32 = 5;
const FIRST_REFUSAL_REST_NS: Nanos = 1_000_000;

impl Worker<'_> {
    /// Begins the next request on a stream, or a slot, that has been free since `free_ns`. Returns `false` if no request may begin.
    pub(super) fn begin(&mut self, place: Place, now_ns: Nanos, free_ns: Nanos) -> bool {
        let Some(turn) = self.pace.begin(now_ns, free_ns) else { return false };
        let slot = self.width.slot(place);
        let connection = Some(self.plan_connection(slot));
        let stream = &mut self.streams[place as usize];
        // A request that found no free connection when it was due waited for one. Our own lag is only the time after that, and any time for
        // which we were late.
        stream.exchange = Exchange {
            due_ns: turn.due_ns,
            ready_ns: self.late_looks.ready_ns(turn.due_ns, free_ns),
            sent_ns: now_ns,
            connection,
            ..Exchange::default()
        };
        (stream.was_resent, stream.counts_as_resent, stream.refusals) = (false, false, 0);
        self.in_flight += 1;
        stream.number = turn.number;
        if let Some(inspection) = &mut self.inspection {
            inspection.begin_request(place);
        }
        if self.session_kind.is_none() {
            let user = self.inspection.as_ref().map(|inspection| inspection.user(place));
            let request = self.writer.http1_of(turn.number, user);
            stream.exchange.target = request.target;
            stream.is_head = request.is_head;
            stream.is_idempotent = request.is_idempotent;
            stream.closes = request.closes;
            self.driver.keep(slot, request.bytes, request.fixed);
        } else {
            stream.rendered = Rendered::Not;
        }
        let connection = &mut self.connections[slot as usize];
        connection.busy += 1;
        if connection.state == State::Open {
            stream.state = StreamState::Queued;
            self.to_send.push(place);
        } else {
            self.begin_with_connect(place);
        }
        true
    }

    /// Opens the connection that a request needs. The request's sent time is now, not the earlier time at which the generator read the
    /// clock before it began other requests.
    pub(super) fn begin_with_connect(&mut self, place: Place) {
        let now_ns = now_ns();
        let stream = &mut self.streams[place as usize];
        stream.exchange.sent_ns = now_ns;
        stream.state = StreamState::Waiting;
        self.recorder.sent(stream.exchange);
        let slot = self.width.slot(place);
        self.connections[slot as usize].waiting += 1;
        self.connect(slot, now_ns);
    }

    /// Stamps and sends the requests that were begun on free streams, so that each leaves right after its stamp.
    pub(super) fn flush(&mut self) {
        let count = self.to_send.len();
        let mut held = 0;
        for at in 0..count {
            let place = self.to_send[at];
            if self.session_kind.is_some() {
                // Slow work is done before the clock is read.
                self.render(place);
            }
            let now_ns = now_ns();
            // The server may have closed the connection in the meantime.
            if self.streams[place as usize].state != StreamState::Queued {
                continue;
            }
            // Bytes that have arrived over a connection are read before its request leaves.
            if self.is_stale(now_ns) && !self.driver.is_quiet(self.width.slot(place), true) {
                self.to_send.swap(held, at);
                held += 1;
                continue;
            }
            let stream = &mut self.streams[place as usize];
            stream.exchange.sent_ns = now_ns;
            self.recorder.sent(stream.exchange);
            self.send(place, now_ns);
        }
        self.to_send.drain(held..count);
    }

    /// Renders the request of a stream in the form of its connection's protocol, once.
    fn render(&mut self, place: Place) {
        let is_http2 = self.connections[self.width.slot(place) as usize].is_http2();
        let stream = &mut self.streams[place as usize];
        let user = self.inspection.as_ref().map(|inspection| inspection.user(place));
        match (&stream.rendered, is_http2) {
            (Rendered::Http1, false) | (Rendered::Http2(_), true) => {}
            (_, false) => {
                let request = self.writer.http1_of(stream.number, user);
                stream.exchange.target = request.target;
                stream.http1.clear();
                stream.http1.extend_from_slice(request.bytes);
                (stream.is_head, stream.is_idempotent) = (request.is_head, request.is_idempotent);
                stream.closes = request.closes;
                stream.rendered = Rendered::Http1;
            }
            (_, true) => {
                let (target, request) = self.writer.fields_of(stream.number, user);
                stream.exchange.target = target;
                stream.is_idempotent = request.is_idempotent();
                stream.rendered = Rendered::Http2(request);
            }
        }
    }

    /// Sends the stream's request over its established connection.
    pub(super) fn send(&mut self, place: Place, now_ns: Nanos) {
        let slot = self.width.slot(place);
        self.streams[place as usize].state = StreamState::Busy;
        self.deadlines.set(place, now_ns.saturating_add(self.request_timeout_ns));
        if let Some(inspection) = &mut self.inspection {
            inspection.reader(place).clear();
        }
        if self.session_kind.is_none() {
            self.connections[slot as usize].parser.begin(self.streams[place as usize].is_head);
            return self.driver.send(slot);
        }
        self.render(place);
        let (connection, stream) = (&mut self.connections[slot as usize], &mut self.streams[place as usize]);
        let Some(session) = &mut connection.session else { return };
        match &stream.rendered {
            Rendered::Http2(request) => {
                let number = self.width.stream(place);
                if let Err(not_sent) = session.send_http2(number, request) {
                    let NotSent { cause, again } = not_sent;
                    return self.go_again(place, Broken { cause, status: None, again }, now_ns);
                }
            }
            Rendered::Http1 | Rendered::Not => {
                connection.parser.begin(stream.is_head);
                session.send_http1(&stream.http1);
            }
        }
        self.write_session(slot);
    }

    /// Passes the outgoing bytes of a session to the driver.
    pub(super) fn write_session(&mut self, slot: Slot) {
        let Some(session) = &mut self.connections[slot as usize].session else { return };
        self.outgoing.clear();
        self.recorder.total.bytes.sent += session.take_outgoing(&mut self.outgoing);
        if !self.outgoing.is_empty() {
            self.handed_bytes += self.outgoing.len() as u64;
            self.driver.write(slot, &self.outgoing);
        }
    }

    /// Sends the alert that ends TLS, which tells the server that nothing is missing (RFC 9112 section 9.8).
    pub(super) fn send_close_notify(&mut self, slot: Slot) {
        let Some(session) = &mut self.connections[slot as usize].session else { return };
        self.outgoing.clear();
        session.close(&mut self.outgoing);
        if !self.outgoing.is_empty() {
            self.driver.write_last(slot, &self.outgoing);
        }
    }

    /// Handles a request that did not end as it should: it is sent over another connection if that is allowed, else it fails.
    pub(super) fn go_again(&mut self, place: Place, broken: Broken, now_ns: Nanos) {
        let was_idle = self.may_have_been_idle(place, now_ns);
        let stream = &self.streams[place as usize];
        // A server that retires its connections after fewer requests than there are streams may do this to one request several times.
        let may_move_on = || {
            let session = self.connections[self.width.slot(place) as usize].session.as_ref();
            session.is_some_and(|session| session.has_taken_streams())
        };
        let may_go = match broken.again {
            Again::Never => false,
            Again::IfIdleClose => was_idle && stream.may_be_resent(now_ns, self.connect_ns),
            Again::Resend | Again::Send => !stream.was_resent || may_move_on(),
            Again::Refused => stream.refusals < MOST_REFUSALS,
        };
        if !may_go {
            self.fail(place, broken.cause, broken.status, now_ns);
            return;
        }
        if broken.again == Again::Refused {
            return self.rest_refused(place, now_ns);
        }
        if broken.again != Again::Send {
            self.count_resent(place);
        }
        self.wait_for_another_connection(place, now_ns);
    }

    /// Counts a request that is sent again, once however often that happens.
    pub(super) fn count_resent(&mut self, place: Place) {
        let counted = std::mem::replace(&mut self.streams[place as usize].counts_as_resent, true);
        self.recorder.total.counts.resent += u64::from(!counted);
    }

    /// Schedules a refused request to be sent again after a rest: a stream that has ended for us may still be open for the server, and a
    /// server that refuses everything must not be flooded.
    fn rest_refused(&mut self, place: Place, now_ns: Nanos) {
        self.count_resent(place);
        let stream = &mut self.streams[place as usize];
        let rest_ns = FIRST_REFUSAL_REST_NS << stream.refusals;
        stream.refusals += 1;
        stream.state = StreamState::Refused;
        self.deadlines.set(place, now_ns.saturating_add(rest_ns));
    }

    /// Sends a refused request again when its rest is over. Its due and sent times stay.
    pub(super) fn send_refused(&mut self, place: Place, now_ns: Nanos) {
        if self.connections[self.width.slot(place) as usize].state == State::Open {
            self.send(place, now_ns);
        } else {
            self.wait_for_another_connection(place, now_ns);
        }
    }

    /// Whether the server may have taken this stream's connection, which has ended, for idle. That is impossible if another stream had a
    /// request that cannot have crossed the end.
    fn may_have_been_idle(&mut self, place: Place, now_ns: Nanos) -> bool {
        let slot = self.width.slot(place);
        let has_request = (0..self.width.streams()).any(|number| {
            let stream = &self.streams[self.width.place(slot, number) as usize];
            stream.state == StreamState::Busy && !stream.has_crossed_close(now_ns, self.connect_ns)
        });
        // If that other request has failed already, the remaining streams still see it here.
        let connection = &mut self.connections[slot as usize];
        connection.is_reused &= !has_request;
        connection.is_reused
    }

    /// Sends the request, with its first due and sent times, over a new connection of its slot, which is opened as soon as the other
    /// requests on the old one have ended.
    pub(super) fn wait_for_another_connection(&mut self, place: Place, now_ns: Nanos) {
        self.leave_connection(place);
        self.drain(self.width.slot(place), now_ns);
    }

    /// Makes the request wait for the next connection of its slot.
    pub(super) fn leave_connection(&mut self, place: Place) {
        let stream = &mut self.streams[place as usize];
        stream.was_resent = true;
        stream.state = StreamState::Waiting;
        self.deadlines.clear(place);
        self.connections[self.width.slot(place) as usize].waiting += 1;
    }
}
