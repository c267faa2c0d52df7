//! How a request begins: on a free connection, or on one that is opened for it.

use super::answers::UNASKED;
use super::connection::State;
use super::worker::Worker;
use crate::clock::{Nanos, now_ns};
use crate::driver::{Driver, Slot};
use crate::failure::FailureCause;
use crate::recorder::Exchange;
use std::io;

/// How long a closed loop's connection waits after a failed connect, doubled at each further one in a row up to the second,
/// so that a server that refuses is not asked as fast as a core can. An open load keeps to its schedule instead.
const FIRST_REST_NS: Nanos = 1_000_000;
const LONGEST_REST_NS: Nanos = 100_000_000;

impl<D: Driver> Worker<'_, D> {
    /// Begins the request that is due on a slot that has none.
    pub(super) fn begin(&mut self, slot: Slot, now_ns: Nanos) {
        let due_ns = self.pace.begin(now_ns);
        let request = self.writer.next_http1();
        let connection = &mut self.connections[slot as usize];
        connection.is_head = request.is_head;
        connection.is_idempotent = request.is_idempotent;
        connection.was_resent = false;
        connection.exchange = Exchange { due_ns, sent_ns: now_ns };
        self.in_flight += 1;
        if std::mem::take(&mut connection.has_unasked_bytes) {
            self.recorder.sent(connection.exchange);
            return self.fail(slot, UNASKED, now_ns);
        }
        // SAFETY: a static request's bytes lie in the plan's source, which outlives the worker and its driver.
        unsafe { self.driver.keep(slot, request) };
        if connection.state == State::Free {
            connection.state = State::Queued;
            self.to_send.push(slot);
        } else {
            self.begin_with_connect(slot, now_ns);
        }
    }

    /// Opens the connection that the slot's request, which has not been sent, needs first.
    pub(super) fn begin_with_connect(&mut self, slot: Slot, now_ns: Nanos) {
        let connection = &mut self.connections[slot as usize];
        connection.exchange.sent_ns = now_ns;
        connection.has_request = true;
        self.recorder.sent(connection.exchange);
        self.connect(slot, now_ns);
    }

    /// Sends the requests that were begun on free connections without waiting for anything else: what is stamped now leaves
    /// now.
    pub(super) fn send_now(&mut self) -> io::Result<()> {
        if self.to_send.is_empty() {
            return Ok(());
        }
        self.flush()?;
        self.driver.submit()
    }

    /// Stamps and sends the requests that were begun on free connections.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        if self.to_send.is_empty() {
            return Ok(());
        }
        let to_send = std::mem::take(&mut self.to_send);
        for (index, batch) in to_send.chunks(D::BATCH).enumerate() {
            if index > 0 {
                self.driver.submit()?;
            }
            let now_ns = now_ns();
            for &slot in batch {
                let connection = &mut self.connections[slot as usize];
                // The server may have closed the connection in the meantime.
                if connection.state == State::Queued {
                    connection.exchange.sent_ns = now_ns;
                    self.recorder.sent(connection.exchange);
                    self.send(slot, now_ns);
                }
            }
        }
        self.to_send = to_send;
        self.to_send.clear();
        Ok(())
    }

    /// Sends the slot's request over its established connection.
    pub(super) fn send(&mut self, slot: Slot, now_ns: Nanos) {
        let connection = &mut self.connections[slot as usize];
        connection.state = State::Busy;
        connection.parser.begin(connection.is_head);
        self.deadlines.set(slot, now_ns.saturating_add(self.request_timeout_ns));
        self.driver.send(slot);
    }

    /// Sends the request again on a fresh connection, with its first due and sent times.
    pub(super) fn resend(&mut self, slot: Slot, now_ns: Nanos) {
        self.recorder.counts.resent += 1;
        self.driver.close(slot);
        let connection = &mut self.connections[slot as usize];
        connection.was_resent = true;
        connection.has_request = true;
        self.connect(slot, now_ns);
    }

    /// Begins to connect.
    pub(super) fn connect(&mut self, slot: Slot, now_ns: Nanos) {
        let connection = &mut self.connections[slot as usize];
        connection.state = State::Opening;
        connection.is_reused = false;
        self.deadlines.set(slot, now_ns.saturating_add(self.connect_timeout_ns));
        if let Err(error) = self.driver.connect(slot, self.sources.next()) {
            let cause = FailureCause::from_errno(error.raw_os_error().unwrap_or_default());
            self.on_connect_failed(slot, cause, now_ns);
        }
    }

    /// A connect failed: its request fails with it. In a closed loop a connect in advance is made for the connection's
    /// first request, which fails too; in an open load nobody waited for it.
    pub(super) fn on_connect_failed(&mut self, slot: Slot, cause: FailureCause, now_ns: Nanos) {
        self.driver.close(slot);
        let is_open = self.pace.is_open();
        let connection = &mut self.connections[slot as usize];
        let had_request = connection.has_request;
        connection.state = State::Closed;
        connection.refusals = connection.refusals.saturating_add(1);
        let rest_ns = FIRST_REST_NS << (connection.refusals - 1).min(10);
        if had_request {
            self.recorder.failed(connection.exchange, cause, None, now_ns);
            self.end(slot, now_ns);
        } else {
            self.opening -= 1;
            if !is_open && self.pace.has_left() {
                let due_ns = self.pace.begin(now_ns);
                let exchange = Exchange { due_ns, sent_ns: due_ns };
                self.recorder.sent(exchange);
                self.recorder.failed(exchange, cause, None, now_ns);
                self.last_event_ns = now_ns;
            }
        }
        if is_open {
            self.deadlines.clear(slot);
            self.closed.push_back(slot);
        } else {
            self.connections[slot as usize].state = State::Resting;
            self.deadlines.set(slot, now_ns + rest_ns.min(LONGEST_REST_NS));
        }
    }

    /// The slot's connection is established and has no request.
    pub(super) fn on_free(&mut self, slot: Slot, now_ns: Nanos) {
        self.connections[slot as usize].state = State::Free;
        if self.pace.may_begin(now_ns) {
            self.recorder.waited_for_connection += u64::from(self.pace.is_open());
            self.begin(slot, now_ns);
        } else {
            self.free.push_back(slot);
        }
    }

    /// The slot has neither a connection nor a request.
    pub(super) fn on_closed(&mut self, slot: Slot, now_ns: Nanos) {
        self.connections[slot as usize].state = State::Closed;
        if self.pace.may_begin(now_ns) {
            self.recorder.waited_for_connection += u64::from(self.pace.is_open());
            self.begin(slot, now_ns);
        } else {
            self.closed.push_back(slot);
        }
    }
}
