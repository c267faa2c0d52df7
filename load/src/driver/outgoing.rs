//! The bytes that a slot sends.

/// A request, or a piece of a session's stream, and how many of its bytes have left.
#[derive(Debug, Default)]
pub(super) struct Outgoing<'a> {
    /// A request that lies unchanged in the plan; `None`: the bytes are in `copy`.
    fixed: Option<&'a [u8]>,
    copy: Vec<u8>,
    sent: usize,
    /// The bytes belong to a session, which is lost with its connection, whereas a request may go over another one.
    is_stream: bool,
}

impl<'a> Outgoing<'a> {
    /// Stores a request in place of the previous one: as a copy, unless it is `fixed` in the plan.
    pub(super) fn keep(&mut self, request: &[u8], fixed: Option<&'a [u8]>) {
        (self.fixed, self.sent, self.is_stream) = (fixed, 0, false);
        if fixed.is_none() {
            self.copy.clear();
            self.copy.extend_from_slice(request);
        }
    }

    /// Appends bytes of a session to those that have not left.
    pub(super) fn write(&mut self, bytes: &[u8]) {
        (self.fixed, self.is_stream) = (None, true);
        if self.sent > self.copy.len() / 2 {
            self.copy.drain(..self.sent);
            self.sent = 0;
        }
        self.copy.extend_from_slice(bytes);
    }

    /// Forgets the bytes of a session whose connection is gone.
    pub(super) fn forget_stream(&mut self) {
        if self.is_stream {
            self.copy.clear();
            self.sent = 0;
        }
    }

    /// Starts again at the first byte.
    pub(super) fn rewind(&mut self) {
        self.sent = 0;
    }

    /// The bytes that have not left yet.
    pub(super) fn rest(&self) -> &[u8] {
        &self.bytes()[self.sent..]
    }

    /// Notes that `count` more bytes have left.
    pub(super) fn advance(&mut self, count: usize) {
        self.sent += count;
    }

    pub(super) fn is_all_sent(&self) -> bool {
        self.sent == self.bytes().len()
    }

    fn bytes(&self) -> &[u8] {
        self.fixed.unwrap_or(&self.copy)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_sent_again_from_its_first_byte_and_a_piece_of_a_session_is_not() {
        let mut outgoing = Outgoing::default();
        for fixed in [Some(&b"request"[..]), None] {
            outgoing.keep(b"request", fixed);
            outgoing.advance(3);
            outgoing.forget_stream();
            assert_eq!((outgoing.rest(), outgoing.is_all_sent()), (&b"uest"[..], false));
            outgoing.rewind();
            assert_eq!(outgoing.rest(), b"request");
        }
        outgoing.advance(7);
        assert!(outgoing.is_all_sent());
        outgoing.write(b"piece");
        assert_eq!(outgoing.rest(), b"piece");
        outgoing.forget_stream();
        assert!(outgoing.is_all_sent());
    }

    #[test]
    fn writes_behind_bytes_that_have_not_left_keep_their_order_and_no_more_memory_than_they_need() {
        let mut outgoing = Outgoing::default();
        let (mut written, mut left) = (0_u64, 0_u64);
        for round in 0..10_000 {
            for _ in 0..3 {
                outgoing.write(&[written as u8]);
                written += 1;
            }
            // Each round adds three bytes, and later also removes three, while ten others wait.
            let leave = if round < 5 { 1 } else { 3 };
            for _ in 0..leave {
                assert_eq!(outgoing.rest()[0], left as u8);
                outgoing.advance(1);
                left += 1;
            }
        }
        assert_eq!((written - left) as usize, outgoing.rest().len());
        assert!(outgoing.copy.len() <= 3 * outgoing.rest().len(), "{} bytes are kept", outgoing.copy.len());
    }
}
