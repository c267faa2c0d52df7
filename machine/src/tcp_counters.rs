//! The kernel's counters for one TCP connection (`struct tcp_info`, linux/tcp.h).

/// An acknowledgement without data is at most 200 ms late (`TCP_DELACK_MAX`, net/tcp.h); a probe comes after a second or more.
const LATEST_CONFIRMATION_MS: u32 = 500;

/// The counters of one connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpCounters {
    /// Time since the last byte was sent and received; if there was none, since the connection began.
    pub since_sent_ms: u32,
    pub since_received_ms: u32,
    /// Time since the other side acknowledged something, with or without data of its own.
    pub since_confirmed_ms: u32,
    /// Bytes sent that the other side has acknowledged.
    pub sent_bytes: u64,
    pub received_bytes: u64,
    /// Segments with data.
    pub sent_segments: u32,
    pub received_segments: u32,
}

impl TcpCounters {
    /// Reads the counters at their offsets in `tcp_info`; `None` if an older kernel has fewer.
    pub(super) fn of_info(info: &[u8]) -> Option<Self> {
        let u32_at = |at: usize| Some(u32::from_ne_bytes(info.get(at..at + 4)?.try_into().ok()?));
        let u64_at = |at: usize| Some(u64::from_ne_bytes(info.get(at..at + 8)?.try_into().ok()?));
        Some(Self {
            since_sent_ms: u32_at(44)?,
            since_received_ms: u32_at(52)?,
            since_confirmed_ms: u32_at(56)?,
            sent_bytes: u64_at(120)?,
            received_bytes: u64_at(128)?,
            received_segments: u32_at(152)?,
            sent_segments: u32_at(156)?,
        })
    }

    /// Whether the last request was answered, given that its response left in the tick of the kernel's clock in which it arrived. A client
    /// that sends its next request at once does so in that tick as well. A client that waits for a response acknowledges nothing more,
    /// except much later probes of the connection; and if every request got the same number of segments in response, none is left.
    pub(super) fn is_answered_within_tick(&self) -> bool {
        let (requests, sent) = (self.received_segments, self.sent_segments);
        let is_even = |requests: u32| requests > 0 && sent > 0 && sent.is_multiple_of(requests);
        let confirmed_after_ms = self.since_received_ms.saturating_sub(self.since_confirmed_ms);
        (1..=LATEST_CONFIRMATION_MS).contains(&confirmed_after_ms)
            || (is_even(requests) && !is_even(requests - 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_within_a_tick_is_known_by_what_was_confirmed_and_by_the_numbers_of_segments() {
        let of_segments = |received_segments, sent_segments| {
            let since = TcpCounters {
                since_sent_ms: 50,
                since_received_ms: 50,
                since_confirmed_ms: 50,
                ..TcpCounters::default()
            };
            TcpCounters { received_segments, sent_segments, ..since }
        };
        for (received, sent) in [(1, 1), (1, 2), (7, 7), (7, 14), (100, 300)] {
            assert!(of_segments(received, sent).is_answered_within_tick(), "{received} {sent}");
        }
        for (received, sent) in [(1, 0), (7, 6), (7, 12), (100, 297), (2, 2), (0, 0)] {
            assert!(!of_segments(received, sent).is_answered_within_tick(), "{received} {sent}");
        }
        let confirmed = TcpCounters { since_confirmed_ms: 10, ..of_segments(7, 12) };
        assert!(confirmed.is_answered_within_tick());
        let probed = TcpCounters { since_received_ms: 20_050, since_confirmed_ms: 50, ..of_segments(7, 12) };
        assert!(!probed.is_answered_within_tick(), "a hang for 20 s");
    }
}
