//! Numbers of requests, bytes and connections: counted by the engine, passed between processes, and shown in reports.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The outcomes of requests. It always holds that `in_flight_at_start + sent = ok + failed + unfinished`, and for an open load
/// `waiting_at_start + due = sent + not_sent`, where `due` is the number of requests that fell due during counting.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
#[non_exhaustive]
pub struct Counts {
    /// Requests of the lead-in that were in flight when counting began; 0 without a lead-in.
    #[serde(default)]
    pub in_flight_at_start: u64,
    /// Requests that fell due in the lead-in and had not been sent when counting began (open loop only): they are part of `sent`,
    /// or of `not_sent`.
    #[serde(default)]
    pub waiting_at_start: u64,
    /// Requests that were begun. A request whose connection could not be made was begun and has failed.
    pub sent: u64,
    /// Complete responses with an expected status.
    pub ok: u64,
    /// Requests that ended in any other way.
    pub failed: u64,
    /// Requests in flight when the time was up.
    pub unfinished: u64,
    /// Requests that were due but never begun (open loop only; not part of `sent`).
    pub not_sent: u64,
    /// Requests that were sent a second time. Each is still one request, with its first due and sent times. There are three cases: an
    /// idempotent request whose kept-alive connection the server closed or reset as idle while the request was on its way (RFC 9112
    /// sections 9.3.1 and 9.5), once per request, if the connection had carried a response, had no older request, and ended within a round
    /// trip and 10 ms after sending; any request whose connection ended with a 408 (RFC 9110 section 15.5.9); and a request that an HTTP/2
    /// server declared unprocessed (RFC 9113 section 8.7), counted once however often it was sent. Any other end of a connection is a
    /// failure.
    #[serde(default)]
    pub resent: u64,
}

impl Counts {
    /// Requests that were in flight while the load was counted: `ok + failed + unfinished`.
    #[must_use]
    pub const fn of_window(&self) -> u64 {
        self.in_flight_at_start.saturating_add(self.sent)
    }

    /// The number of requests of an open load that fell due while it was counted.
    #[must_use]
    pub const fn due(&self) -> u64 {
        self.sent.saturating_add(self.not_sent).saturating_sub(self.waiting_at_start)
    }

    /// Adds another account. Saturates, because a share that another process wrote may contain any number.
    pub(crate) fn add(&mut self, other: Self) {
        self.in_flight_at_start = self.in_flight_at_start.saturating_add(other.in_flight_at_start);
        self.waiting_at_start = self.waiting_at_start.saturating_add(other.waiting_at_start);
        self.sent = self.sent.saturating_add(other.sent);
        self.ok = self.ok.saturating_add(other.ok);
        self.failed = self.failed.saturating_add(other.failed);
        self.unfinished = self.unfinished.saturating_add(other.unfinished);
        self.not_sent = self.not_sent.saturating_add(other.not_sent);
        self.resent = self.resent.saturating_add(other.resent);
    }
}

/// The outcome of requests within one second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SecondCounts {
    /// Requests sent in this second.
    pub sent: u64,
    /// Expected responses completed in this second.
    pub ok: u64,
    /// Failures in this second.
    pub failed: u64,
}

impl SecondCounts {
    /// Adds the counts of another thread.
    pub(crate) const fn add(&mut self, other: Self) {
        self.sent = self.sent.saturating_add(other.sent);
        self.ok = self.ok.saturating_add(other.ok);
        self.failed = self.failed.saturating_add(other.failed);
    }
}

/// Bytes on the wire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
#[non_exhaustive]
pub struct Bytes {
    /// Bytes sent.
    pub sent: u64,
    /// Bytes received.
    pub received: u64,
}

/// Connections at the moment when a load begins: when all are open, or when the time limit of connecting has passed. With a lead-in it is
/// the moment at its end, where counting begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
#[non_exhaustive]
pub struct ConnectionsAtStart {
    /// Connections that were open. At the end of a lead-in, connections that had been opened count, because a server may close any of them
    /// later.
    pub open: u64,
    /// Connections that should be open. In a closed loop, a failed connect is counted as a failure of its own and not here.
    pub wanted: u64,
}

impl ConnectionsAtStart {
    /// Adds the connections of another thread.
    pub(crate) fn add(&mut self, other: Self) {
        self.open += other.open;
        self.wanted += other.wanted;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_of_a_share_that_cannot_be_are_added_without_a_panic_and_others_exactly() {
        let counts = |sent| Counts { sent, not_sent: 1, in_flight_at_start: 2, ..Counts::default() };
        let mut total = counts(3);
        total.add(counts(4));
        assert_eq!((total.sent, total.due(), total.of_window()), (7, 9, 11));
        total.add(counts(u64::MAX));
        assert_eq!((total.due(), total.of_window()), (u64::MAX, u64::MAX));
    }
}
