//! Reads and writes frames (RFC 9113 sections 4 and 6).

use super::error_code::ErrorCode;
use super::{flag, kind};

pub(super) const HEAD_BYTES: usize = 9;
/// The default SETTINGS_MAX_FRAME_SIZE, which we never change.
pub(super) const MAX_PAYLOAD_BYTES: usize = 16_384;

/// The head of a frame, which precedes its payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FrameHead {
    pub length: usize,
    pub kind: u8,
    pub flags: u8,
    pub stream: u32,
}

impl FrameHead {
    #[inline]
    pub fn read(bytes: &[u8; HEAD_BYTES]) -> Self {
        let [a, b, c, kind, flags, stream @ ..] = *bytes;
        Self {
            length: u32::from_be_bytes([0, a, b, c]) as usize,
            kind,
            flags,
            stream: u32::from_be_bytes(stream) & 0x7fff_ffff,
        }
    }

    #[inline]
    pub fn write(self, out: &mut Vec<u8>) {
        let [_, a, b, c] = (self.length as u32).to_be_bytes();
        let [d, e, f, g] = self.stream.to_be_bytes();
        out.extend_from_slice(&[a, b, c, self.kind, self.flags, d, e, f, g]);
    }

    #[inline]
    pub fn has(self, flag: u8) -> bool {
        self.flags & flag != 0
    }
}

/// The first four bytes of a payload as a number.
pub(super) fn number(payload: &[u8]) -> Option<u32> {
    payload.first_chunk().map(|&bytes| u32::from_be_bytes(bytes))
}

pub(super) fn write_settings(out: &mut Vec<u8>, settings: &[(u16, u32)]) {
    FrameHead { length: settings.len() * 6, kind: kind::SETTINGS, flags: 0, stream: 0 }.write(out);
    for (name, value) in settings {
        out.extend_from_slice(&name.to_be_bytes());
        out.extend_from_slice(&value.to_be_bytes());
    }
}

pub(super) fn write_settings_ack(out: &mut Vec<u8>) {
    FrameHead { length: 0, kind: kind::SETTINGS, flags: flag::ACK, stream: 0 }.write(out);
}

pub(super) fn write_ping_ack(out: &mut Vec<u8>, payload: &[u8]) {
    FrameHead { length: payload.len(), kind: kind::PING, flags: flag::ACK, stream: 0 }.write(out);
    out.extend_from_slice(payload);
}

pub(super) fn write_window_update(out: &mut Vec<u8>, stream: u32, bytes: u32) {
    FrameHead { length: 4, kind: kind::WINDOW_UPDATE, flags: 0, stream }.write(out);
    out.extend_from_slice(&bytes.to_be_bytes());
}

pub(super) fn write_reset(out: &mut Vec<u8>, stream: u32, code: ErrorCode) {
    FrameHead { length: 4, kind: kind::RST_STREAM, flags: 0, stream }.write(out);
    out.extend_from_slice(&code.0.to_be_bytes());
}

/// Writes a GOAWAY frame. The server opens no streams, so the last stream is always 0.
pub(super) fn write_go_away(out: &mut Vec<u8>, code: ErrorCode) {
    FrameHead { length: 8, kind: kind::GOAWAY, flags: 0, stream: 0 }.write(out);
    out.extend_from_slice(&[0; 4]);
    out.extend_from_slice(&code.0.to_be_bytes());
}

/// Writes a header block as one HEADERS frame and as many CONTINUATION frames as it needs.
pub(super) fn write_header_block(
    out: &mut Vec<u8>,
    stream: u32,
    block: &[u8],
    ends_stream: bool,
    most: usize,
) {
    let end_stream = if ends_stream { flag::END_STREAM } else { 0 };
    if block.len() <= most {
        let flags = end_stream | flag::END_HEADERS;
        FrameHead { length: block.len(), kind: kind::HEADERS, flags, stream }.write(out);
        return out.extend_from_slice(block);
    }
    let mut kind = kind::HEADERS;
    let mut flags = end_stream;
    let mut rest = block;
    while !rest.is_empty() {
        let (piece, after) = rest.split_at(rest.len().min(most));
        rest = after;
        flags |= if rest.is_empty() { flag::END_HEADERS } else { 0 };
        FrameHead { length: piece.len(), kind, flags, stream }.write(out);
        out.extend_from_slice(piece);
        (kind, flags) = (kind::CONTINUATION, 0);
    }
}
