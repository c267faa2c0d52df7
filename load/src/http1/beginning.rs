//! How responses and lines begin.

use super::Malformed;

/// Why a response does not begin like one.
pub(super) fn bad_beginning(bytes: &[u8]) -> Malformed {
    if begins_tls_record(bytes) {
        Malformed("TLS instead of a response (is this an https:// port?)")
    } else if begins_http2(bytes) {
        HTTP2_INSTEAD
    } else {
        Malformed("bad status line")
    }
}

/// How a response is malformed that is a frame of HTTP/2.
pub(crate) const HTTP2_INSTEAD: Malformed = Malformed("HTTP/2 instead of a response");

/// Do these bytes begin SETTINGS or GOAWAY, with which a server of HTTP/2 begins (RFC 9113 section 3.4)?
pub(crate) fn begins_http2(bytes: &[u8]) -> bool {
    matches!(bytes, [0, 0, _, 4 | 7, 0, 0, 0, 0, 0, ..])
}

/// Could these bytes begin an alert or a handshake of TLS (RFC 8446 section 5.1)? Neither HTTP/1.1 nor a frame that HTTP/2 allows
/// begins so.
pub(crate) fn begins_tls_record(bytes: &[u8]) -> bool {
    matches!(bytes, [0x15 | 0x16, ..])
}

/// Do these bytes go on with the line before them?
pub(super) fn begins_with_blank(bytes: &[u8]) -> bool {
    matches!(bytes, [b' ' | b'\t', ..])
}

/// May these bytes begin a response, as far as they show?
pub(super) fn begins_like_http(bytes: &[u8]) -> bool {
    let seen = bytes.len().min(5);
    bytes[..seen] == b"HTTP/"[..seen]
}
