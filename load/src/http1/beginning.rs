//! Recognises how responses and lines begin.

use super::Malformed;

/// The reason why these bytes do not begin like a response.
pub(super) fn bad_beginning(bytes: &[u8]) -> Malformed {
    if begins_tls_record(bytes) {
        Malformed("TLS instead of a response (is this an https:// port?)")
    } else if begins_http2(bytes) {
        HTTP2_INSTEAD
    } else {
        Malformed("bad status line")
    }
}

/// The error for an HTTP/2 frame in place of a response.
pub(crate) const HTTP2_INSTEAD: Malformed = Malformed("HTTP/2 instead of a response");

/// Whether the bytes begin a SETTINGS or GOAWAY frame, the first frame of an HTTP/2 server (RFC 9113 section 3.4).
pub(crate) fn begins_http2(bytes: &[u8]) -> bool {
    matches!(bytes, [0, 0, _, 4 | 7, 0, 0, 0, 0, 0, ..])
}

/// Whether the bytes may begin a TLS alert or handshake (RFC 8446 section 5.1). Neither HTTP/1.1 nor an allowed HTTP/2 frame begins like
/// this.
pub(crate) fn begins_tls_record(bytes: &[u8]) -> bool {
    matches!(bytes, [0x15 | 0x16, ..])
}

/// Whether the bytes continue the previous line.
pub(super) fn begins_with_blank(bytes: &[u8]) -> bool {
    matches!(bytes, [b' ' | b'\t', ..])
}

/// Whether the bytes may begin a response, as far as they go.
pub(super) fn begins_like_http(bytes: &[u8]) -> bool {
    let seen = bytes.len().min(5);
    bytes[..seen] == b"HTTP/"[..seen]
}
