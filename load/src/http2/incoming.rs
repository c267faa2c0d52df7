//! Cuts received bytes into frames.

use super::frames::{FrameHead, HEAD_BYTES, MAX_PAYLOAD_BYTES};

/// The beginning of a frame whose end has not arrived.
#[derive(Debug, Default)]
pub(super) struct Incoming {
    partial: Vec<u8>,
}

/// A frame, or the reason why there is none.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Cut<'b> {
    Frame(FrameHead, &'b [u8]),
    /// The rest of the frame has not arrived.
    Incomplete,
    TooLarge,
}

impl Incoming {
    /// Whether no part of a frame is held.
    pub fn is_empty(&self) -> bool {
        self.partial.is_empty()
    }

    /// Completes the partial frame with the beginning of `bytes`, and removes the bytes that it used. The caller must return the frame's
    /// memory with `keep`.
    pub fn complete(&mut self, bytes: &mut &[u8]) -> Option<Vec<u8>> {
        if self.partial.is_empty() {
            return None;
        }
        self.fill(bytes, HEAD_BYTES);
        let head = FrameHead::read(self.partial.first_chunk()?);
        if head.length <= MAX_PAYLOAD_BYTES {
            self.fill(bytes, HEAD_BYTES + head.length);
            if self.partial.len() < HEAD_BYTES + head.length {
                return None;
            }
        }
        Some(std::mem::take(&mut self.partial))
    }

    fn fill(&mut self, bytes: &mut &[u8], up_to: usize) {
        let missing = up_to.saturating_sub(self.partial.len());
        let (piece, rest) = bytes.split_at(missing.min(bytes.len()));
        self.partial.extend_from_slice(piece);
        *bytes = rest;
    }

    /// Takes back the memory of a completed frame.
    pub fn keep(&mut self, mut frame: Vec<u8>) {
        frame.clear();
        self.partial = frame;
    }

    /// Holds the beginning of a frame.
    pub fn begin(&mut self, bytes: &[u8]) {
        self.partial.extend_from_slice(bytes);
    }
}

/// Takes the first frame from the bytes.
#[inline]
pub(super) fn cut<'b>(bytes: &mut &'b [u8]) -> Cut<'b> {
    let Some((head, rest)) = bytes.split_first_chunk() else { return Cut::Incomplete };
    let head = FrameHead::read(head);
    if head.length > MAX_PAYLOAD_BYTES {
        return Cut::TooLarge;
    }
    let Some((payload, rest)) = rest.split_at_checked(head.length) else { return Cut::Incomplete };
    *bytes = rest;
    Cut::Frame(head, payload)
}
