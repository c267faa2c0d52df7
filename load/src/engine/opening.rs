//! Opens connections, and handles connects that fail.

use super::connection::{Connection, State, StreamState};
use super::worker::Worker;
use crate::clock::Nanos;
use crate::counts::ConnectionsAtStart;
use crate::driver::Slot;
use crate::failure::FailureCause;
use crate::recorder::Exchange;
use crate::secure::{Reading, Session, Spoken};
use std::sync::Arc;

/// How long a connection of a closed loop waits after a failed connect. The time doubles with each failure in a row, up to the second
/// value, so that a server that refuses is not flooded with connects. An open load keeps to its schedule instead.
const FIRST_REST_NS: Nanos = 1_000_000;
const LONGEST_REST_NS: Nanos = 100_000_000;

impl Worker<'_> {
    /// Begins to connect.
    pub(super) fn connect(&mut self, slot: Slot, now_ns: Nanos) {
        let connection = &mut self.connections[slot as usize];
        connection.state = State::Opening;
        connection.is_reused = false;
        connection.session = None;
        connection.connecting_ns = now_ns;
        connection.out_of_order = 0;
        self.deadlines.set(self.width.place(slot, 0), now_ns.saturating_add(self.connect_timeout_ns));
        let (server, source) = self.peers.next();
        if let Err(error) = self.driver.connect(slot, server, source) {
            let cause = FailureCause::from_errno(error.raw_os_error().unwrap_or_default());
            self.on_connect_failed(slot, cause, now_ns);
        }
    }

    /// Handles that TCP is established.
    pub(super) fn on_connected(&mut self, slot: Slot, now_ns: Nanos) {
        let connection = &mut self.connections[slot as usize];
        self.connect_ns = self.connect_ns.min(now_ns.saturating_sub(connection.connecting_ns));
        let Some(kind) = self.session_kind else { return self.on_opened(slot, 1, now_ns) };
        let parts = self.inspection.as_ref().map(|inspection| Arc::clone(inspection.parts()));
        let reading = Reading { parts, first_byte: self.plan.first_byte };
        match Session::new(kind, self.width.streams(), reading) {
            Ok(session) => {
                connection.session = Some(Box::new(session));
                connection.is_setting_up = true;
                self.setting_up += 1;
                self.write_session(slot);
            }
            Err(cause) => self.on_connect_failed(slot, cause, now_ns),
        }
    }

    /// Continues the set-up of a session with the bytes that were received.
    pub(super) fn on_session_progress(&mut self, slot: Slot, now_ns: Nanos) {
        self.write_session(slot);
        let Some(session) = &self.connections[slot as usize].session else { return };
        let Some(spoken) = session.spoken() else { return };
        if self.protocol.is_none() {
            self.protocol = Some(session.protocol());
        }
        let streams = match spoken {
            Spoken::Http1 => 1,
            Spoken::Http2 { streams } => streams,
        };
        self.on_opened(slot, streams, now_ns);
    }

    /// Handles that the connection can carry requests: the waiting ones leave, and the other streams are free.
    fn on_opened(&mut self, slot: Slot, streams: u32, now_ns: Nanos) {
        self.recorder.total.connections_opened += 1;
        let connection = &mut self.connections[slot as usize];
        connection.refusals = 0;
        connection.refused = None;
        connection.was_opened = true;
        connection.greets_with_http2 = false;
        connection.streams = streams;
        connection.state = State::Open;
        self.setting_up -= u32::from(std::mem::take(&mut connection.is_setting_up));
        self.deadlines.clear(self.width.place(slot, 0));
        if connection.waiting == 0 {
            self.opening -= 1;
        }
        for number in 0..self.width.streams() {
            let place = self.width.place(slot, number);
            // A request that could not be sent may have closed the connection again; the others then wait for the next one.
            if self.connections[slot as usize].state != State::Open {
                return;
            }
            match self.streams[place as usize].state {
                StreamState::Waiting => {
                    self.connections[slot as usize].waiting -= 1;
                    if number < streams {
                        self.send(place, now_ns);
                    } else {
                        // The previous connection had more streams: this server is another one, or has other settings.
                        self.end_failed(place, FailureCause::ClosedBeforeAnswer, None, now_ns);
                    }
                }
                StreamState::Idle if number < streams => self.on_free(place, now_ns, now_ns),
                _ => {}
            }
        }
    }

    /// Handles a failed connect, with which the waiting requests fail. In a closed loop, a connect in advance belongs to the connection's
    /// first request, which fails too; in an open load no request waited for it.
    pub(super) fn on_connect_failed(&mut self, slot: Slot, cause: FailureCause, now_ns: Nanos) {
        self.end_session(slot, now_ns);
        let connection = &mut self.connections[slot as usize];
        self.setting_up -= u32::from(std::mem::take(&mut connection.is_setting_up));
        connection.refusals = connection.refusals.saturating_add(1);
        let was_in_advance = std::mem::take(&mut connection.waiting) == 0;
        if was_in_advance {
            connection.refused = Some(cause);
            self.opening -= 1;
        }
        self.deadlines.clear(self.width.place(slot, 0));
        for number in 0..self.width.streams() {
            let place = self.width.place(slot, number);
            if self.streams[place as usize].state == StreamState::Waiting {
                self.end_failed(place, cause, None, now_ns);
            }
        }
        if was_in_advance && self.has_begun() && !self.pace.is_open() {
            self.fail_first_request(slot, now_ns);
        }
        if self.pace.is_open() || !self.has_begun() {
            self.free.add_closed(slot);
        } else {
            self.rest(slot, now_ns);
        }
    }

    /// The connections when the load begins, or when its lead-in ends; `None` if the load opens none in advance.
    pub(super) fn connections_at_start(
        &self,
        is_there: fn(&Connection) -> bool,
    ) -> Option<ConnectionsAtStart> {
        let is_open = self.pace.is_open();
        let mut at_start = ConnectionsAtStart::default();
        for connection in &self.connections {
            let is_there = is_there(connection);
            at_start.open += u64::from(is_there);
            at_start.wanted += u64::from(is_open || is_there || connection.refusals == 0);
        }
        self.plan.keep_alive.then_some(at_start)
    }

    /// Fails the first requests of connections that could not be opened in advance, when the load begins.
    pub(super) fn fail_what_was_refused(&mut self, now_ns: Nanos) {
        let mut refused = Vec::new();
        while let Some(slot) = self.free.take_closed() {
            refused.push(slot);
        }
        for slot in refused {
            if self.connections[slot as usize].refused.is_some() {
                self.fail_first_request(slot, now_ns);
                self.rest(slot, now_ns);
            } else {
                self.free.add_closed(slot);
            }
        }
    }

    fn fail_first_request(&mut self, slot: Slot, now_ns: Nanos) {
        let Some(cause) = self.connections[slot as usize].refused.take() else { return };
        if let Some(turn) = self.pace.begin(now_ns, now_ns) {
            let exchange =
                Exchange { due_ns: turn.due_ns, ready_ns: now_ns, sent_ns: now_ns, ..Exchange::default() };
            self.recorder.sent(exchange);
            self.recorder.failed(exchange, cause, None, now_ns);
            self.last_event_ns = self.last_event_ns.max(now_ns);
        }
    }

    fn rest(&mut self, slot: Slot, now_ns: Nanos) {
        let connection = &mut self.connections[slot as usize];
        connection.state = State::Resting;
        let rest_ns = FIRST_REST_NS << connection.refusals.saturating_sub(1).min(10);
        self.deadlines.set(self.width.place(slot, 0), now_ns + rest_ns.min(LONGEST_REST_NS));
    }
}
