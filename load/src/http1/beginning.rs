//! How responses and lines begin.

use super::Malformed;

/// Why a response does not begin like one.
pub(super) fn bad_beginning(bytes: &[u8]) -> Malformed {
    Malformed(if begins_tls_record(bytes) {
        "TLS instead of a response (is this an https:// port?)"
    } else {
        "bad status line"
    })
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
