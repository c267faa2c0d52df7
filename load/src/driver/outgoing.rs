//! The bytes of one slot's request while the kernel may still read them.

use crate::request::RenderedRequest;

/// A kept request and how much of it has left.
#[derive(Debug)]
pub(super) struct Outgoing {
    /// The bytes: those of a static request, or those of `copy`.
    start: *const u8,
    len: u32,
    sent: u32,
    is_static: bool,
    copy: Vec<u8>,
}

impl Default for Outgoing {
    fn default() -> Self {
        Self { start: std::ptr::null(), len: 0, sent: 0, is_static: true, copy: Vec::new() }
    }
}

impl Outgoing {
    /// Keeps a request in place of the last one: a static one where it lies, any other as a copy.
    ///
    /// # Safety
    /// The bytes of a static request must outlive `self`, and the kernel must be done with the last request.
    pub(super) unsafe fn keep(&mut self, request: RenderedRequest<'_>) {
        self.is_static = request.is_static;
        self.start = if request.is_static {
            request.bytes.as_ptr()
        } else {
            self.copy.clear();
            self.copy.extend_from_slice(request.bytes);
            self.copy.as_ptr()
        };
        self.len = request.bytes.len() as u32;
        self.sent = 0;
    }

    /// Leaves the bytes where they are to a kernel that may still read them: gives those away, which must be kept until it
    /// is done, and goes on with a copy.
    pub(super) fn leave_to_kernel(&mut self) -> Self {
        let mut own = Self { len: self.len, sent: self.sent, is_static: self.is_static, ..Self::default() };
        own.copy.clone_from(&self.copy);
        own.start = if self.is_static { self.start } else { own.copy.as_ptr() };
        std::mem::replace(self, own)
    }

    /// Begins again from the first byte.
    pub(super) fn rewind(&mut self) {
        self.sent = 0;
    }

    /// What has not left yet.
    pub(super) fn rest(&self) -> &[u8] {
        if self.start.is_null() {
            return &[];
        }
        // SAFETY: `start` points at `len` bytes that live as long as `self` (see `keep`), and `sent <= len`.
        unsafe {
            std::slice::from_raw_parts(self.start.add(self.sent as usize), (self.len - self.sent) as usize)
        }
    }

    /// `count` more bytes have left.
    pub(super) fn advance(&mut self, count: u32) {
        self.sent = self.len.min(self.sent + count);
    }

    /// Does it lie where it was rendered, in memory that stays?
    pub(super) fn is_static(&self) -> bool {
        self.is_static
    }

    pub(super) fn is_all_sent(&self) -> bool {
        self.sent == self.len
    }
}
