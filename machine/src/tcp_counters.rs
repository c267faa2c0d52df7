//! What the kernel counts of one TCP connection (`struct tcp_info`, linux/tcp.h).

/// Of one connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpCounters {
    /// Since the last byte was sent and received; both since the connection began where there was none.
    pub since_sent_ms: u32,
    pub since_received_ms: u32,
    /// What the other side has confirmed.
    pub sent_bytes: u64,
    pub received_bytes: u64,
    /// Segments with data.
    pub sent_segments: u32,
    pub received_segments: u32,
}

impl TcpCounters {
    /// By their places in `tcp_info`; `None`: an older kernel has fewer figures.
    pub(super) fn of_info(info: &[u8]) -> Option<Self> {
        let u32_at = |at: usize| Some(u32::from_ne_bytes(info.get(at..at + 4)?.try_into().ok()?));
        let u64_at = |at: usize| Some(u64::from_ne_bytes(info.get(at..at + 8)?.try_into().ok()?));
        Some(Self {
            since_sent_ms: u32_at(44)?,
            since_received_ms: u32_at(52)?,
            sent_bytes: u64_at(120)?,
            received_bytes: u64_at(128)?,
            received_segments: u32_at(152)?,
            sent_segments: u32_at(156)?,
        })
    }
}
