//! The response, and the parsing of requests: strict once, then by comparison.
//!
//! A load generator sends the same bytes again and again. The parser judges them once; as long as the next request is
//! the same, byte for byte, so is the judgement.

/// The default body of a response.
pub const BODY: &[u8] = b"Hello, World!";

/// The response on a connection that stays open (HTTP/1.1).
pub const ANSWER: &[u8] =
    b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 13\r\n\r\nHello, World!";

const REFUSAL: &[u8] = b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";

/// The longest request read; longer ones are refused.
pub const LONGEST_REQUEST: usize = 16 * 1024;

/// What to do about a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reply {
    /// Answer and go on.
    Keep,
    /// Answer in HTTP/1.0 words and go on (`ab -k`).
    Keep1_0,
    /// Respond and close, as requested.
    Last,
    /// Answer 400 and close.
    Refuse,
}

impl Reply {
    /// Does the connection end after it?
    #[must_use]
    pub fn closes(self) -> bool {
        matches!(self, Self::Last | Self::Refuse)
    }
}

/// The responses of a server, all with a body of the same length. They live as long as the process: the kernel reads them
/// whenever it sends.
#[derive(Clone, Copy, Debug)]
pub struct Answers {
    kept: &'static [u8],
    kept_1_0: &'static [u8],
    last: &'static [u8],
}

impl Default for Answers {
    fn default() -> Self {
        Self::with_body(BODY.len())
    }
}

impl Answers {
    /// Answers whose body is so many bytes long.
    #[must_use]
    pub fn with_body(bytes: usize) -> Self {
        let body: Vec<u8> = BODY.iter().copied().cycle().take(bytes).collect();
        let answer = |version: &str, connection: &str| -> &'static [u8] {
            let head = format!(
                "HTTP/{version} 200 OK\r\nContent-Type: text/plain\r\nContent-Length: {bytes}\r\n{connection}\r\n"
            );
            Vec::leak([head.as_bytes(), &body].concat())
        };
        Self {
            kept: answer("1.1", ""),
            kept_1_0: answer("1.0", "Connection: keep-alive\r\n"),
            last: answer("1.1", "Connection: close\r\n"),
        }
    }

    /// The bytes to send.
    #[must_use]
    pub fn bytes(self, reply: Reply) -> &'static [u8] {
        match reply {
            Reply::Keep => self.kept,
            Reply::Keep1_0 => self.kept_1_0,
            Reply::Last => self.last,
            Reply::Refuse => REFUSAL,
        }
    }
}

/// The judge of requests, with a memory of the last one.
#[derive(Debug, Default)]
pub struct RequestReader {
    last: Vec<u8>,
    reply: Option<Reply>,
}

impl RequestReader {
    /// Judges the first request in `bytes`: its reply and its length, or `None` when more bytes are needed.
    pub fn read(&mut self, bytes: &[u8]) -> Option<(Reply, usize)> {
        if let Some(reply) = self.reply
            && bytes.starts_with(&self.last)
        {
            return Some((reply, self.last.len()));
        }
        let (reply, length) = judge(bytes)?;
        if reply != Reply::Refuse {
            self.last.clear();
            self.last.extend_from_slice(&bytes[..length]);
            self.reply = Some(reply);
        }
        Some((reply, length))
    }
}

/// The strict reading (RFC 9112 section 3, with a body only by Content-Length).
fn judge(bytes: &[u8]) -> Option<(Reply, usize)> {
    let refuse = Some((Reply::Refuse, bytes.len()));
    let mut headers = [httparse::EMPTY_HEADER; 64];
    let mut request = httparse::Request::new(&mut headers);
    let head = match request.parse(bytes) {
        Ok(httparse::Status::Complete(length)) => length,
        Ok(httparse::Status::Partial) if bytes.len() < LONGEST_REQUEST => return None,
        _ => return refuse,
    };
    let value =
        |name: &str| request.headers.iter().find(|h| h.name.eq_ignore_ascii_case(name)).map(|h| h.value);
    if value("transfer-encoding").is_some() || request.method == Some("HEAD") {
        return refuse;
    }
    let body = match value("content-length").map(|v| std::str::from_utf8(v).ok().and_then(|v| v.parse().ok()))
    {
        None => 0_usize,
        Some(Some(length)) if length < LONGEST_REQUEST => length,
        Some(_) => return refuse,
    };
    if bytes.len() < head + body {
        return None;
    }
    let asks = |word: &[u8]| value("connection").is_some_and(|v| v.eq_ignore_ascii_case(word));
    let reply = match request.version {
        Some(1) if value("host").is_none() => Reply::Refuse,
        Some(1) if asks(b"close") => Reply::Last,
        Some(1) => Reply::Keep,
        _ if asks(b"keep-alive") => Reply::Keep1_0,
        _ => Reply::Last,
    };
    Some((reply, head + body))
}

#[cfg(test)]
mod tests {
    use super::*;

    const GET: &[u8] = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n";

    #[test]
    fn every_answer_declares_the_length_of_its_body() {
        for bytes in [13, 65_536] {
            for reply in [Reply::Keep, Reply::Keep1_0, Reply::Last] {
                let text = String::from_utf8(Answers::with_body(bytes).bytes(reply).to_vec()).unwrap();
                let (head, body) = text.split_once("\r\n\r\n").unwrap();
                assert!(
                    head.contains(&format!("Content-Length: {bytes}\r\n"))
                        || head.ends_with(&bytes.to_string())
                );
                assert_eq!(body.len(), bytes);
            }
        }
        assert_eq!(Answers::default().bytes(Reply::Keep), ANSWER);
    }

    #[test]
    fn a_request_is_found_at_any_split_of_its_bytes() {
        for split in 0..GET.len() {
            assert_eq!(RequestReader::default().read(&GET[..split]), None, "at {split}");
        }
        assert_eq!(RequestReader::default().read(GET), Some((Reply::Keep, GET.len())));
    }

    #[test]
    fn the_same_bytes_get_the_same_reply_and_others_are_judged_anew() {
        let mut reader = RequestReader::default();
        let two = [GET, b"GET /x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"].concat();
        assert_eq!(reader.read(&two), Some((Reply::Keep, GET.len())));
        assert_eq!(reader.read(&two), Some((Reply::Keep, GET.len())));
        assert_eq!(reader.read(&two[GET.len()..]), Some((Reply::Last, two.len() - GET.len())));
    }

    #[test]
    fn a_body_belongs_to_its_request() {
        let post = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc";
        assert_eq!(RequestReader::default().read(&post[..post.len() - 1]), None);
        assert_eq!(RequestReader::default().read(post), Some((Reply::Keep, post.len())));
    }

    #[test]
    fn http_1_0_is_kept_alive_only_when_it_asks() {
        let kept = b"GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n";
        assert_eq!(RequestReader::default().read(kept), Some((Reply::Keep1_0, kept.len())));
        let plain = b"GET / HTTP/1.0\r\n\r\n";
        assert_eq!(RequestReader::default().read(plain), Some((Reply::Last, plain.len())));
    }

    #[test]
    fn what_is_no_request_is_refused() {
        let cases: [&[u8]; 5] = [
            b"\x16\x03\x01 hello",
            b"GET / HTTP/1.1\r\n\r\n",
            b"GET / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n",
            b"GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n",
            &[b'a'; LONGEST_REQUEST],
        ];
        for bytes in cases {
            assert_eq!(RequestReader::default().read(bytes).unwrap().0, Reply::Refuse);
        }
    }
}
