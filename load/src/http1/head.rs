//! The framing of a response, as its head specifies it.

use super::Malformed;
use super::field::{check_text, list, split_field, trim};

/// How a response's body ends (RFC 9112 section 6.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Framing {
    /// The response has no body.
    None,
    /// The body ends after this many bytes.
    Length(u64),
    /// The body ends with the last chunk and its trailers.
    Chunked,
    /// The body ends with the connection.
    UntilClose,
}

/// A response's head, or the part of it that was read so far, reduced to what matters here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Head {
    content_length: u64,
    pub(super) status: u16,
    has_length: bool,
    chunked: bool,
    is_http_1_0: bool,
    says_close: bool,
    says_keep_alive: bool,
}

impl Head {
    /// The head before anything was read.
    pub(super) const NONE: Self = Self {
        content_length: 0,
        status: 0,
        has_length: false,
        chunked: false,
        is_http_1_0: false,
        says_close: false,
        says_keep_alive: false,
    };

    /// Reads a status line (without its CRLF): `HTTP/1.1 200 OK`. The reason and the space before it are optional.
    pub(super) fn status_line(line: &[u8]) -> Result<Self, Malformed> {
        const BAD: Malformed = Malformed("bad status line");
        let rest = line.strip_prefix(b"HTTP/").ok_or(BAD)?;
        let space = rest.iter().position(|&byte| byte == b' ').ok_or(BAD)?;
        let is_http_1_0 = match &rest[..space] {
            b"1.1" => false,
            b"1.0" => true,
            _ => return Err(Malformed("bad HTTP version")),
        };
        let [_, a @ b'1'..=b'9', b @ b'0'..=b'9', c @ b'0'..=b'9', reason @ ..] = &rest[space..] else {
            return Err(Malformed("bad status code"));
        };
        if !matches!(reason, [] | [b' ', ..]) {
            return Err(Malformed("bad status code"));
        }
        check_text(reason)?;
        let digit = |byte: u8| u16::from(byte - b'0');
        let status = digit(*a) * 100 + digit(*b) * 10 + digit(*c);
        Ok(Self { status, is_http_1_0, ..Self::NONE })
    }

    /// Reads a header line (without its CRLF): its name and value.
    pub(super) fn field_line<'l>(&mut self, line: &'l [u8]) -> Result<(&'l [u8], &'l [u8]), Malformed> {
        let (name, value) = split_field(line)?;
        // The length is compared first, because that is cheap and excludes nearly every other header.
        match name.len() {
            10 if name.eq_ignore_ascii_case(b"connection") => self.connection(value),
            14 if name.eq_ignore_ascii_case(b"content-length") => self.content_length(value)?,
            17 if name.eq_ignore_ascii_case(b"transfer-encoding") => self.transfer_encoding(value)?,
            _ => {}
        }
        Ok((name, value))
    }

    fn connection(&mut self, value: &[u8]) {
        for option in list(value) {
            self.says_close |= option.eq_ignore_ascii_case(b"close");
            self.says_keep_alive |= option.eq_ignore_ascii_case(b"keep-alive");
        }
    }

    fn content_length(&mut self, value: &[u8]) -> Result<(), Malformed> {
        for member in value.split(|&byte| byte == b',') {
            let length = decimal(trim(member))?;
            if self.has_length && self.content_length != length {
                return Err(Malformed("conflicting Content-Length headers"));
            }
            self.content_length = length;
            self.has_length = true;
        }
        Ok(())
    }

    fn transfer_encoding(&mut self, value: &[u8]) -> Result<(), Malformed> {
        let mut codings = list(value).peekable();
        if codings.peek().is_none() {
            return Err(Malformed("empty Transfer-Encoding"));
        }
        for coding in codings {
            if !coding.eq_ignore_ascii_case(b"chunked") {
                return Err(Malformed("unknown transfer coding"));
            }
            if self.chunked {
                return Err(Malformed("chunked twice"));
            }
            self.chunked = true;
        }
        Ok(())
    }

    /// How the body of the response with this complete head ends.
    pub(super) fn framing(&self, is_head: bool) -> Result<Framing, Malformed> {
        if self.chunked && self.has_length {
            return Err(Malformed("Content-Length together with Transfer-Encoding"));
        }
        if self.chunked && self.is_http_1_0 {
            return Err(Malformed("Transfer-Encoding in HTTP/1.0"));
        }
        Ok(if is_head || matches!(self.status, 100..=199 | 204 | 304) {
            Framing::None
        } else if self.chunked {
            Framing::Chunked
        } else if self.has_length {
            Framing::Length(self.content_length)
        } else {
            Framing::UntilClose
        })
    }

    /// Whether the server keeps the connection according to the head (RFC 9112 section 9.3). A body that ends with the connection overrides
    /// this.
    pub(super) fn keeps_connection(&self) -> bool {
        !self.says_close && (!self.is_http_1_0 || self.says_keep_alive)
    }
}

fn decimal(digits: &[u8]) -> Result<u64, Malformed> {
    match digits {
        [] => return Err(Malformed("empty Content-Length")),
        [b'-', ..] => return Err(Malformed("negative Content-Length")),
        _ => {}
    }
    digits.iter().try_fold(0_u64, |sum, &byte| {
        if !byte.is_ascii_digit() {
            return Err(Malformed("bad Content-Length"));
        }
        sum.checked_mul(10)
            .and_then(|sum| sum.checked_add(u64::from(byte - b'0')))
            .ok_or(Malformed("Content-Length too large"))
    })
}

/// Reads the line before a chunk (without its CRLF): the size in hexadecimal, blanks, then extensions, which are ignored.
pub(super) fn chunk_size(line: &[u8]) -> Result<u64, Malformed> {
    let digits = line.iter().position(|byte| !byte.is_ascii_hexdigit()).unwrap_or(line.len());
    let (digits, extensions) = line.split_at(digits);
    if digits.is_empty() {
        return Err(Malformed(if extensions.starts_with(b"-") {
            "negative chunk size"
        } else {
            "bad chunk size"
        }));
    }
    if !matches!(trim(extensions), [] | [b';', ..]) {
        return Err(Malformed("bad chunk size"));
    }
    check_text(extensions).map_err(|_| Malformed("control character in a chunk extension"))?;
    digits.iter().try_fold(0_u64, |sum, &byte| {
        let digit = (byte as char).to_digit(16).map_or(0, u64::from);
        sum.checked_mul(16).map(|sum| sum + digit).ok_or(Malformed("chunk size too large"))
    })
}
