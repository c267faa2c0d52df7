//! The bytes of one HTTP/1.1 response, kept until it is complete.

use super::ResponseParts;

/// The most bytes kept of one response. What is beyond them is left out of checks and captures.
pub const MAX_KEPT_BYTES: usize = 16 * 1024 * 1024;

/// The bytes of one HTTP/1.1 response, as they arrived from the connection. The strict parser finds its end; this
/// keeps it and takes it apart. The buffers live on, so that there is no allocation per response in the steady state.
#[derive(Debug, Default)]
pub struct RawResponse {
    bytes: Vec<u8>,
    /// A chunked body without its chunks.
    joined: Vec<u8>,
    is_cut: bool,
}

impl RawResponse {
    /// A new response begins.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.is_cut = false;
    }

    /// The next bytes of the connection that belong to it, interim (1xx) responses among them.
    pub fn push(&mut self, bytes: &[u8]) {
        let room = MAX_KEPT_BYTES.saturating_sub(self.bytes.len());
        self.is_cut |= bytes.len() > room;
        self.bytes.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    /// True where the response was larger than [`MAX_KEPT_BYTES`].
    #[must_use]
    pub const fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// The response, which the parser has found complete and well-formed. `None` without a final head.
    pub fn parts(&mut self) -> Option<ResponseParts<'_>> {
        let Self { bytes, joined, .. } = self;
        unfold_heads(bytes);
        let mut rest = bytes.as_slice();
        loop {
            let head_end = memchr::memmem::find(rest, b"\r\n\r\n")? + 2;
            let (head, after) = (&rest[..head_end], &rest[head_end + 2..]);
            let line_end = memchr::memchr(b'\n', head)? + 1;
            let status = status(&head[..line_end])?;
            if (100..200).contains(&status) {
                rest = after;
                continue;
            }
            let parts = ResponseParts::new(status, &head[line_end..], after);
            let codings =
                parts.values("Transfer-Encoding").flat_map(|value| value.split(|byte| *byte == b','));
            let is_chunked = codings.map(<[u8]>::trim_ascii).any(|it| it.eq_ignore_ascii_case(b"chunked"));
            if !is_chunked {
                return Some(parts);
            }
            join_chunks(after, joined);
            return Some(ResponseParts::new(status, &head[line_end..], joined));
        }
    }
}

/// Puts blanks in the place of each fold of a header line, up to the end of the final head (RFC 9112 section 5.2).
fn unfold_heads(bytes: &mut [u8]) {
    let mut head = 0;
    while let Some(end) = memchr::memmem::find(&bytes[head..], b"\r\n\r\n").map(|at| head + at + 4) {
        for at in head..end - 2 {
            if matches!(bytes[at..at + 3], [b'\r', b'\n', b' ' | b'\t']) {
                bytes[at..at + 2].fill(b' ');
            }
        }
        if status(&bytes[head..]).is_none_or(|status| status >= 200) {
            return;
        }
        head = end;
    }
}

/// `HTTP/1.1 200 OK`.
fn status(line: &[u8]) -> Option<u16> {
    std::str::from_utf8(line.get(9..12)?).ok()?.parse().ok()
}

fn join_chunks(mut rest: &[u8], joined: &mut Vec<u8>) {
    joined.clear();
    while let Some(line_end) = memchr::memchr(b'\n', rest) {
        let line = &rest[..line_end];
        let digits = line.iter().position(|byte| !byte.is_ascii_hexdigit()).unwrap_or(line.len());
        let size =
            std::str::from_utf8(&line[..digits]).ok().and_then(|text| usize::from_str_radix(text, 16).ok());
        let Some(size) = size.filter(|&size| size > 0) else { return };
        let data = &rest[line_end + 1..];
        let taken = size.min(data.len());
        joined.extend_from_slice(&data[..taken]);
        rest = data.get(size.saturating_add(2)..).unwrap_or_default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(pieces: &[&[u8]]) -> (u16, Vec<u8>, Vec<u8>) {
        let mut raw = RawResponse::default();
        raw.push(b"an older response");
        raw.clear();
        pieces.iter().for_each(|piece| raw.push(piece));
        let parts = raw.parts().unwrap();
        (parts.status, parts.fields.to_vec(), parts.body.to_vec())
    }

    #[test]
    fn head_and_body_are_taken_apart_whatever_pieces_they_came_in() {
        let whole = b"HTTP/1.1 201 Created\r\nA: b\r\nContent-Length: 2\r\n\r\nhi";
        let expected = (201, b"A: b\r\nContent-Length: 2\r\n".to_vec(), b"hi".to_vec());
        assert_eq!(parts(&[whole]), expected);
        let bytes: Vec<&[u8]> = whole.chunks(1).collect();
        assert_eq!(parts(&bytes), expected);
        assert_eq!(parts(&[b"HTTP/1.1 204\r\n\r\n"]), (204, vec![], vec![]));
    }

    #[test]
    fn an_interim_response_is_passed_over() {
        let bytes =
            b"HTTP/1.1 103 Early Hints\r\nA: 1\r\n\r\nHTTP/1.1 200 OK\r\nA: 2\r\nContent-Length: 1\r\n\r\nx";
        assert_eq!(parts(&[bytes]), (200, b"A: 2\r\nContent-Length: 1\r\n".to_vec(), b"x".to_vec()));
    }

    #[test]
    fn a_folded_header_is_one_line() {
        let bytes = b"HTTP/1.1 103 x\r\nA:\r\n 1\r\n\r\nHTTP/1.1 200 OK\r\nA: 2\r\n\t3\r\n\r\n\r\n body";
        assert_eq!(parts(&[bytes]), (200, b"A: 2  \t3\r\n".to_vec(), b"\r\n body".to_vec()));
    }

    #[test]
    fn chunks_are_joined() {
        let head: &[u8] = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n";
        let chunks: &[u8] = b"5\r\nhello\r\nA;x=y\r\n 123456789\r\n0\r\nTrailer: t\r\n\r\n";
        assert_eq!(parts(&[head, chunks]).2, b"hello 123456789");
        assert_eq!(parts(&[head, b"0\r\n\r\n"]).2, b"");
        let listed: &[u8] = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: , chunked ,\r\n\r\n";
        assert_eq!(parts(&[listed, chunks]).2, b"hello 123456789", "empty members of a list are none");
    }

    #[test]
    fn memory_is_bounded_and_a_cut_response_says_so() {
        let mut raw = RawResponse::default();
        raw.push(b"HTTP/1.1 200 OK\r\n\r\n");
        let megabyte = vec![b'x'; 1024 * 1024];
        (0..20).for_each(|_| raw.push(&megabyte));
        assert!(raw.is_cut());
        assert_eq!(raw.bytes.len(), MAX_KEPT_BYTES);
        assert_eq!(raw.parts().unwrap().status, 200);
        raw.clear();
        assert!(!raw.is_cut());
    }
}
