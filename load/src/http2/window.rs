//! Flow control (RFC 9113 section 5.2).

/// The largest window.
pub(super) const MAX_WINDOW_BYTES: i64 = (1 << 31) - 1;

/// The number of bytes that the server may send.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReceiveWindow {
    bytes: u32,
    /// The bytes that have arrived since the server was last allowed to send more.
    used: u32,
}

impl ReceiveWindow {
    pub fn new(bytes: u32) -> Self {
        Self { bytes, used: 0 }
    }

    /// Counts received bytes; `None` if the server was not allowed to send them.
    #[inline]
    pub fn take(&mut self, bytes: usize) -> Option<()> {
        let left = self.bytes - self.used;
        if bytes > left as usize {
            return None;
        }
        self.used += bytes as u32;
        Some(())
    }

    /// By how much the window must be opened again; `None` until half of it is used.
    #[inline]
    pub fn update(&mut self) -> Option<u32> {
        (self.used > self.bytes / 2).then(|| std::mem::take(&mut self.used))
    }
}

/// The number of bytes that we may send; negative if the server has made the window smaller meanwhile.
#[derive(Clone, Copy, Debug)]
pub(super) struct SendWindow(i64);

impl SendWindow {
    pub fn new(bytes: i64) -> Self {
        Self(bytes)
    }

    pub fn left(self) -> usize {
        self.0.max(0) as usize
    }

    pub fn take(&mut self, bytes: usize) {
        self.0 -= bytes as i64;
    }

    /// Changes the window; `None` if it would become larger than allowed.
    pub fn change(&mut self, by: i64) -> Option<()> {
        self.0 += by;
        (self.0 <= MAX_WINDOW_BYTES).then_some(())
    }
}
