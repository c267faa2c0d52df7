//! The bytes that one slot sends, while the kernel may still read them.

use crate::request::RenderedRequest;

/// A kept request and how much of it has left. What a static request needs comes first.
#[derive(Debug)]
#[repr(C)]
pub(super) struct Outgoing {
    /// The bytes: those of a static request, or those of `copy`.
    start: *const u8,
    len: usize,
    sent: usize,
    is_static: bool,
    /// They are a piece of a stream, which is lost with its connection, and not a request, which may go over another one.
    is_stream: bool,
    copy: Vec<u8>,
    /// Bytes that leave after those.
    queued: Vec<u8>,
}

impl Default for Outgoing {
    fn default() -> Self {
        Self {
            start: std::ptr::null(),
            len: 0,
            sent: 0,
            is_static: true,
            copy: Vec::new(),
            queued: Vec::new(),
            is_stream: false,
        }
    }
}

impl Outgoing {
    /// Up to here is what a static request needs.
    #[cfg(test)]
    pub(super) const COPY_AT: usize = std::mem::offset_of!(Self, copy);

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
        self.len = request.bytes.len();
        self.sent = 0;
        self.is_stream = false;
    }

    /// Adds bytes behind those that have not left. `is_idle`: the kernel reads none of them now.
    pub(super) fn write(&mut self, bytes: &[u8], is_idle: bool) {
        self.queued.extend_from_slice(bytes);
        if is_idle && self.is_all_sent() {
            self.take_queued();
        }
    }

    /// Goes on with the queued bytes, once all before them have left. False: there are none.
    pub(super) fn take_queued(&mut self) -> bool {
        if self.queued.is_empty() {
            return false;
        }
        std::mem::swap(&mut self.copy, &mut self.queued);
        self.queued.clear();
        (self.is_static, self.is_stream) = (false, true);
        (self.start, self.len, self.sent) = (self.copy.as_ptr(), self.copy.len(), 0);
        true
    }

    /// Do bytes wait behind others that have not left?
    pub(super) fn has_queued(&self) -> bool {
        !self.queued.is_empty()
    }

    /// The connection is gone, and with it what belonged to its stream.
    pub(super) fn forget_stream(&mut self) {
        self.queued.clear();
        if self.is_stream {
            (self.start, self.len, self.sent) = (std::ptr::null(), 0, 0);
        }
    }

    /// Leaves the bytes where they are to a kernel that may still read them: gives those away, which must be kept until it
    /// is done, and goes on with a copy.
    pub(super) fn leave_to_kernel(&mut self) -> Self {
        let mut own = Self {
            len: self.len,
            sent: self.sent,
            is_static: self.is_static,
            is_stream: self.is_stream,
            ..Self::default()
        };
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
        unsafe { std::slice::from_raw_parts(self.start.add(self.sent), self.len - self.sent) }
    }

    /// `count` more bytes have left.
    pub(super) fn advance(&mut self, count: usize) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::ptr;

    const GIB: usize = 1 << 30;

    /// Zeros that take no memory until they are read. They live as long as the process.
    fn sparse(len: usize) -> &'static [u8] {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        // SAFETY: a new mapping, read-only, which is never unmapped.
        unsafe {
            let start = libc::mmap(ptr::null_mut(), len, libc::PROT_READ, flags, -1, 0);
            assert_ne!(start, libc::MAP_FAILED, "{}", std::io::Error::last_os_error());
            std::slice::from_raw_parts(start.cast(), len)
        }
    }

    #[test]
    fn a_request_of_more_than_4_gib_leaves_whole() {
        let bytes = sparse(5 * GIB);
        let mut outgoing = Outgoing::default();
        let request = RenderedRequest {
            bytes,
            is_head: false,
            is_idempotent: false,
            closes: false,
            is_static: true,
            target: 0,
        };
        // SAFETY: the bytes stay for ever.
        unsafe { outgoing.keep(request) };
        assert_eq!(outgoing.rest().len(), 5 * GIB);
        for left in (1..=4).rev() {
            outgoing.advance(GIB);
            assert_eq!((outgoing.rest().len(), outgoing.is_all_sent()), (left * GIB, false));
        }
        // What lies with the kernel goes on where it was.
        let kept = outgoing.leave_to_kernel();
        assert_eq!((kept.rest().len(), outgoing.rest().len()), (GIB, GIB));
        outgoing.advance(GIB);
        assert!(outgoing.is_all_sent() && outgoing.rest().is_empty());
        outgoing.rewind();
        assert_eq!(outgoing.rest().len(), 5 * GIB);
    }
}
