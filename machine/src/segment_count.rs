//! Counts segments with data on a server's connections: with HTTP/1.1, about one per request and one per response.

use super::sock_diag::{Ports, TcpSocket};
use std::collections::HashMap;

/// Counters since the first reading.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct SegmentCount {
    received: u64,
    sent: u64,
    /// Connections that ended; no reading includes the last segments they carried.
    ended: u64,
}

impl SegmentCount {
    const fn moved(self, first: Self, last: Self) -> Self {
        Self {
            received: self.received.saturating_sub(first.received) + last.received,
            sent: self.sent.saturating_sub(first.sent) + last.sent,
            ended: self.ended.saturating_sub(first.ended) + last.ended,
        }
    }

    /// Shifts the counters so that they continue from `last` where they were `first`.
    pub(super) fn after(self, first: Option<Self>, last: Option<Self>) -> Self {
        self.moved(first.unwrap_or_default(), last.unwrap_or_default())
    }

    /// The requests, estimated, as each may take several segments. `None` if connections end too often to be counted by reading the open
    /// ones.
    pub(super) fn requests_until(self, last: Self) -> Option<u64> {
        const FEW: u64 = 10;
        let since = last.moved(self, Self::default());
        let requests = since.received.min(since.sent);
        (since.ended * FEW <= requests).then_some(requests)
    }
}

/// Adds up the segments of the connections, reading by reading.
#[derive(Default)]
pub(super) struct SegmentCounter {
    /// The counters of the open connections; `None` before the first reading.
    open: Option<HashMap<Ports, (u32, u32)>>,
    count: SegmentCount,
}

impl SegmentCounter {
    pub(super) fn count<'a>(&mut self, connections: impl Iterator<Item = &'a TcpSocket>) -> SegmentCount {
        let now: HashMap<Ports, (u32, u32)> =
            connections.filter_map(|it| Some((it.ports(), it.segments()?))).collect();
        if let Some(before) = &self.open {
            for (ports, (received, sent)) in &now {
                let (received_before, sent_before) = before.get(ports).copied().unwrap_or_default();
                // The same port may belong to a new connection.
                self.count.received += u64::from(received.saturating_sub(received_before));
                self.count.sent += u64::from(sent.saturating_sub(sent_before));
            }
            self.count.ended += before.keys().filter(|ports| !now.contains_key(ports)).count() as u64;
        }
        self.open = Some(now);
        self.count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(readings: &[&[(u16, u32, u32)]]) -> Option<u64> {
        let mut counter = SegmentCounter::default();
        let counts: Vec<SegmentCount> = readings
            .iter()
            .map(|sockets| {
                let sockets: Vec<TcpSocket> = sockets
                    .iter()
                    .map(|&(port, received, sent)| TcpSocket::with_segments(port, received, sent))
                    .collect();
                counter.count(sockets.iter())
            })
            .collect();
        counts.first()?.requests_until(*counts.last()?)
    }

    #[test]
    fn requests_are_what_arrived_since_the_first_reading_and_was_responded_to() {
        assert_eq!(counted(&[&[(1, 1_000, 1_000)], &[(1, 1_040, 1_039), (2, 10, 10)]]), Some(49));
        // Each response has two segments.
        assert_eq!(counted(&[&[(1, 0, 0)], &[(1, 30, 60)], &[(1, 50, 100)]]), Some(50));
    }

    #[test]
    fn a_connection_for_each_request_is_counted_by_nobody() {
        assert_eq!(counted(&[&[(1, 1, 1), (2, 1, 0)], &[(3, 1, 1), (4, 1, 0)]]), None);
    }
}
