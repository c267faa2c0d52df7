//! HTTP/1.1 responses, parsed strictly and incrementally (RFC 9112).
//!
//! There is no guessing: a violation of the grammar or an ambiguity is a named
//! failure. Where the RFC leaves a choice to the reader, this is what is chosen:
//!
//! - Lines end with CRLF; a bare LF is refused (RFC 9112 section 2.2 allows either).
//! - A status line may lack the space after the status code, as many servers send it.
//! - A header line that is folded is read as one line (section 5.2). A blank before the first header (section 2.2) or before a
//!   header's colon (section 5.1) is refused.
//! - The same `Content-Length` twice (`5, 5`) is taken as one, different ones are refused (RFC 9110 section 8.6).
//! - `Content-Length` together with `Transfer-Encoding`, and `Transfer-Encoding` in HTTP/1.0, are refused: the framing
//!   cannot be trusted (RFC 9112 sections 6.1 and 6.3).
//! - `chunked` is the only transfer coding: no request allows another.
//! - A `Content-Length` in a response that has no body (HEAD, 204, 304) is checked and otherwise ignored.

mod beginning;
mod field;
mod head;
mod memo;
mod parser;

pub(crate) use beginning::{HTTP2_INSTEAD, begins_http2, begins_tls_record};
pub(crate) use field::{is_text_byte, is_token_byte};
pub(crate) use parser::is_farewell;
pub use parser::{MAX_FIELDS, MAX_HEAD_BYTES, MAX_INTERIM_ANSWERS, ResponseParser};

/// A complete response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The final status (never 1xx).
    pub status: u16,
    /// Whether the connection may carry another request, according to the version, the `Connection` header, and the end of the body.
    pub keep_alive: bool,
    /// The number of body bytes, without framing.
    pub body_bytes: u64,
}

/// The result of feeding bytes to the parser.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parsed {
    /// All bytes were taken, and the response is not complete.
    More,
    /// The response is complete after `consumed` bytes of this call; later bytes do not belong to it.
    Complete {
        /// The response.
        answer: Answer,
        /// The number of bytes of this call that belong to the response.
        consumed: usize,
    },
}

/// How a response violates the grammar, in the words of `FailureCause::Malformed`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed(pub &'static str);
