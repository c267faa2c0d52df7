//! Parsers of foreign bytes that are otherwise private, for fuzzing (`fuzz/`): each function takes any bytes, and panics if a promise is
//! broken.

use crate::request::{Origin, redirect as redirects};
use bytes::Bytes;

pub use crate::http2::parsers::{header_blocks, session};

/// Follows a `Location`, after a byte that chooses the status. Whatever a server writes there, the next request line must be a single line.
pub fn redirect(bytes: &[u8]) {
    let Some((&choice, location)) = bytes.split_first() else { return };
    let request = http::Request::post("http://localhost:8080/a/b?c").body(Bytes::from_static(b"body"));
    let (Ok(origin), Ok(request)) = (Origin::parse("http://localhost:8080/"), request) else { return };
    let status = [301, 302, 303, 307, 308][usize::from(choice % 5)];
    if let Ok(next) = redirects::next(request, status, location, &origin) {
        let mut text = Vec::new();
        redirects::http1(&next, true, &mut text);
        let shown = text.escape_ascii();
        let line = text.split(|&byte| byte == b'\n').next().unwrap_or_default();
        assert!(line.starts_with(b"GET /") || line.starts_with(b"POST /"), "{shown}");
        assert!(
            line.ends_with(b" HTTP/1.1\r") && line.iter().filter(|&&byte| byte == b' ').count() == 2,
            "{shown}"
        );
    }
}
