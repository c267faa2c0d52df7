//! How many requests, bytes and connections there were: while they are counted, between processes, and in reports.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What became of the requests. Always `in_flight_at_start + sent = ok + failed + unfinished`, and of an open load
/// `waiting_at_start + due = sent + not_sent`, where `due` is how many fell due while it was counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
#[non_exhaustive]
pub struct Counts {
    /// Requests of the lead-in that were in flight when counting began; 0 without one.
    #[serde(default)]
    pub in_flight_at_start: u64,
    /// Requests that fell due in the lead-in and had not been sent when counting began (open loop only): they are part of `sent`,
    /// or of `not_sent`.
    #[serde(default)]
    pub waiting_at_start: u64,
    /// Requests that were begun (a request whose connection could not be made was begun, and failed).
    pub sent: u64,
    /// Complete responses with an expected status.
    pub ok: u64,
    /// Everything else that ended.
    pub failed: u64,
    /// In flight when the time was up.
    pub unfinished: u64,
    /// Due by the schedule and never begun (open loop only; not part of `sent`).
    pub not_sent: u64,
    /// Requests sent a second time because the server closed or reset a kept-alive connection, as idle, while they were on
    /// their way (RFC 9112 sections 9.3.1 and 9.5): idempotent ones, once each, where the connection had carried a response,
    /// had no older request, and ended within a round trip and 10 ms after they were sent; any request where it ended with a 408
    /// (RFC 9110 section 15.5.9). Any other end of a connection is a failure. Also those
    /// that an HTTP/2 server declared unprocessed (RFC 9113 section 8.7), once each however often they were sent. Each is still one request, with its
    /// first due and sent times.
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

    /// Adds another account. The counts of a share that others wrote may be anything.
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
    /// Requests sent in it.
    pub sent: u64,
    /// Expected responses completed in it.
    pub ok: u64,
    /// Failures in it.
    pub failed: u64,
}

impl SecondCounts {
    /// Adds those of another thread.
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

/// Connections at the moment when a load begins: when all are open, or when the time of a connect has passed. With a lead-in,
/// those at its end: what holds for the figures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
#[non_exhaustive]
pub struct ConnectionsAtStart {
    /// Connections that were open; at the end of a lead-in those that had been opened, since a server may close any of them later.
    pub open: u64,
    /// Connections that were to be open. In a closed loop without those whose connect had failed, which is a failure of its own.
    pub wanted: u64,
}

impl ConnectionsAtStart {
    /// Adds another thread's.
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
