//! Parses the responses of one connection, and keeps its state between two reads.

use super::beginning::{bad_beginning, begins_like_http, begins_with_blank};
use super::field::{BARE_LF, split_field, unfold};
use super::head::{Framing, Head, chunk_size};
use super::{Answer, Malformed, Parsed, memo};
use crate::failure::FailureCause;
use crate::response::{Kept, ResponseSink, Unread};

/// The largest head, and the largest trailer section, in bytes.
pub const MAX_HEAD_BYTES: usize = 64 * 1024;
/// The most header lines in a head, and the most trailer lines.
pub const MAX_FIELDS: u16 = 256;
/// The most 1xx responses before the final one.
pub const MAX_INTERIM_ANSWERS: u8 = 32;
const REQUEST_TIMEOUT: u16 = 408;
/// The longest line before a chunk, in bytes.
const MAX_CHUNK_LINE_BYTES: usize = 4 * 1024;

const HEAD_TOO_LARGE: Malformed =
    Malformed("its head is larger than 64 KiB, the most that is read; send less from the server");
const TOO_MANY_FIELDS: Malformed =
    Malformed("its head has more than 256 fields, the most that is read; send fewer from the server");
const TRAILERS_TOO_LARGE: Malformed =
    Malformed("its trailers are larger than 64 KiB, the most that is read; send less from the server");
const TOO_MANY_TRAILERS: Malformed =
    Malformed("its trailers have more than 256 fields, the most that is read; send fewer from the server");
const TOO_MANY_INTERIM: Malformed = Malformed("more than 32 interim responses (1xx) came before it");
const NO_ROOM_FOR_HEADS: Malformed =
    Malformed("too many connections have large heads at once, 48 MiB together is the most that is read");
const CHUNK_LINE_TOO_LONG: Malformed =
    Malformed("the line before a chunk is longer than 4 KiB, the most that is read");

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// No response is expected, or the last one is complete or malformed.
    Idle,
    StatusLine,
    Fields,
    /// The next bytes belong to a body of known length.
    Body,
    /// The next bytes belong to a body that ends with the connection.
    UntilClose,
    ChunkLine,
    ChunkData,
    /// Before the CR after a chunk's data.
    ChunkCr,
    ChunkLf,
    Trailers,
}

/// The beginning of a line whose end has not arrived.
#[derive(Debug, Default)]
struct PartialLine {
    bytes: Kept,
}

/// Reads the responses of one connection, one after the other, in pieces of any size.
///
/// Between reads it holds a few dozen bytes; only while a line of a head is split across reads it holds that line on
/// the heap.
///
/// ```
/// use threadcount_load::http1::{Answer, Parsed, ResponseParser};
///
/// let mut parser = ResponseParser::new();
/// parser.begin(false);
/// assert_eq!(parser.feed(b"HTTP/1.1 200 OK\r\nContent-Le"), Ok(Parsed::More));
/// let answer = Answer { status: 200, keep_alive: true, body_bytes: 2 };
/// assert_eq!(parser.feed(b"ngth: 2\r\n\r\nhi"), Ok(Parsed::Complete { answer, consumed: 13 }));
/// ```
#[derive(Debug)]
pub struct ResponseParser {
    /// Boxed to keep the parser small, because few responses need it and every response touches the parser.
    partial: Option<Box<PartialLine>>,
    head: Head,
    body_bytes: u64,
    /// The remaining bytes of the body or chunk.
    remaining: u64,
    /// The bytes of the complete lines in this head or trailer section.
    section_bytes: u32,
    fields: u16,
    interim_answers: u8,
    phase: Phase,
    is_head: bool,
    has_begun: bool,
}

impl Default for ResponseParser {
    fn default() -> Self {
        Self::new()
    }
}

impl ResponseParser {
    /// A parser that expects no response: any bytes are malformed until [`begin`](Self::begin).
    #[must_use]
    pub const fn new() -> Self {
        Self {
            partial: None,
            head: Head::NONE,
            body_bytes: 0,
            remaining: 0,
            section_bytes: 0,
            fields: 0,
            interim_answers: 0,
            phase: Phase::Idle,
            is_head: false,
            has_begun: false,
        }
    }

    /// Expects the response to a request that was sent. `is_head` is true for a HEAD request, whose response has no body.
    pub fn begin(&mut self, is_head: bool) {
        *self = Self { is_head, phase: Phase::StatusLine, ..Self::new() };
    }

    /// Whether any byte of this response has arrived.
    #[must_use]
    pub const fn has_begun(&self) -> bool {
        self.has_begun
    }

    /// Ends the response here if a byte of its body has arrived. Its connection cannot carry another response.
    pub(crate) fn end_at_first_byte(&mut self) -> Option<Answer> {
        (self.phase != Phase::Idle && self.body_bytes > 0).then(|| {
            self.phase = Phase::Idle;
            self.answer(false)
        })
    }

    /// Whether the response, as far as it has arrived, is a 408, with which a server ends an idle connection (RFC 9110 section 15.5.9).
    pub(crate) const fn is_request_timeout(&self) -> bool {
        self.head.status == REQUEST_TIMEOUT
    }

    /// Takes the next bytes of the connection.
    ///
    /// # Errors
    /// The response violates the grammar or a limit, or none is expected. The connection cannot be used any more.
    #[inline]
    pub fn feed(&mut self, bytes: &[u8]) -> Result<Parsed, Malformed> {
        self.feed_to(bytes, &mut Unread)
    }

    /// Takes the next bytes of the connection, and passes the parts of the response to a reader.
    ///
    /// # Errors
    /// As [`feed`](Self::feed).
    #[inline]
    pub(crate) fn feed_to<S: ResponseSink>(
        &mut self,
        bytes: &[u8],
        sink: &mut S,
    ) -> Result<Parsed, Malformed> {
        self.has_begun |= !bytes.is_empty();
        let parsed = self.advance(bytes, sink);
        if parsed.is_err() {
            self.phase = Phase::Idle;
        }
        parsed
    }

    /// How many of the next bytes belong to a body of known length, so that [`skip`](Self::skip) may skip them.
    #[must_use]
    pub fn skippable(&self) -> u64 {
        if self.phase == Phase::Body { self.remaining } else { 0 }
    }

    /// Skips bytes of the body; at most [`skippable`](Self::skippable).
    pub fn skip(&mut self, bytes: u64) -> Parsed {
        let bytes = bytes.min(self.skippable());
        self.body_bytes += bytes;
        self.remaining -= bytes;
        if self.phase == Phase::Body && self.remaining == 0 {
            self.phase = Phase::Idle;
            let answer = self.answer(self.head.keeps_connection());
            return Parsed::Complete { answer, consumed: bytes as usize };
        }
        Parsed::More
    }

    /// Handles that the server closed the connection, which completes a body that ends with the connection.
    ///
    /// # Errors
    /// Any other response is cut off: [`FailureCause::ClosedBeforeAnswer`] if no byte of it has arrived, [`FailureCause::TruncatedAnswer`]
    /// otherwise.
    pub fn end_of_stream(&mut self) -> Result<Answer, FailureCause> {
        match std::mem::replace(&mut self.phase, Phase::Idle) {
            Phase::UntilClose => Ok(self.answer(false)),
            _ if self.has_begun => Err(FailureCause::TruncatedAnswer),
            _ => Err(FailureCause::ClosedBeforeAnswer),
        }
    }

    fn answer(&self, keep_alive: bool) -> Answer {
        Answer { status: self.head.status, keep_alive, body_bytes: self.body_bytes }
    }

    fn advance<S: ResponseSink>(&mut self, bytes: &[u8], sink: &mut S) -> Result<Parsed, Malformed> {
        let mut consumed = 0;
        while consumed < bytes.len() {
            let rest = &bytes[consumed..];
            consumed += match self.phase {
                Phase::Idle => return Err(Malformed("bytes without a request")),
                Phase::StatusLine if self.partial.is_none() => self.whole_head(rest, sink)?,
                Phase::StatusLine | Phase::Fields | Phase::ChunkLine | Phase::Trailers => {
                    self.line(rest, sink)?
                }
                Phase::Body => self.body(rest, Phase::Idle, sink),
                Phase::ChunkData => self.body(rest, Phase::ChunkCr, sink),
                Phase::ChunkCr => self.after_chunk(rest, b'\r', Phase::ChunkLf)?,
                Phase::ChunkLf => self.after_chunk(rest, b'\n', Phase::ChunkLine)?,
                Phase::UntilClose => {
                    self.body_bytes += rest.len() as u64;
                    sink.body(rest);
                    rest.len()
                }
            };
            if self.phase == Phase::Idle {
                return Ok(Parsed::Complete { answer: self.answer(self.head.keeps_connection()), consumed });
            }
        }
        Ok(Parsed::More)
    }

    /// Handles the common case: a head begins with the first of these bytes, and mostly ends among them.
    fn whole_head<S: ResponseSink>(&mut self, bytes: &[u8], sink: &mut S) -> Result<usize, Malformed> {
        if !S::READS
            && let Some((head, length)) = memo::recall(bytes)
        {
            self.head = head;
            self.end_head()?;
            return Ok(length);
        }
        let mut length = self.line(bytes, sink)?;
        while self.phase == Phase::Fields {
            if length == bytes.len() {
                return Ok(length);
            }
            length += self.line(&bytes[length..], sink)?;
        }
        // After an interim response, or in the middle of the first line, the phase is still the status line.
        if self.phase != Phase::StatusLine {
            memo::keep(&bytes[..length], self.head);
        }
        Ok(length)
    }

    /// Takes the rest of a line and acts on it, or keeps all bytes if its end has not arrived.
    fn line(&mut self, bytes: &[u8], sink: &mut impl ResponseSink) -> Result<usize, Malformed> {
        let end = self.line_end(bytes);
        let taken = end.unwrap_or(bytes.len());
        self.check_limit(taken)?;
        if self.partial.is_none() && end.is_some() {
            self.whole_line(&bytes[..taken], sink)?;
            return Ok(taken);
        }
        let mut partial = self.partial.take().unwrap_or_default();
        if !partial.bytes.push(&bytes[..taken]) {
            return Err(NO_ROOM_FOR_HEADS);
        }
        if end.is_some() {
            self.whole_line(&partial.bytes, sink)?;
            return Ok(taken);
        }
        if self.phase == Phase::StatusLine && !begins_like_http(&partial.bytes) {
            // A peer that does not speak HTTP may never send a line end.
            return Err(bad_beginning(&partial.bytes));
        }
        self.partial = Some(partial);
        Ok(taken)
    }

    /// The place after the end of the line that these bytes continue; `None` if the end is not among them. A field may continue on the next
    /// line if that begins with a blank, so the next line is needed.
    #[inline]
    fn line_end(&self, bytes: &[u8]) -> Option<usize> {
        let held = self.partial.as_ref().map_or(&[][..], |partial| &partial.bytes);
        if !matches!(self.phase, Phase::Fields | Phase::Trailers) {
            return memchr::memchr(b'\n', bytes).map(|at| at + 1);
        }
        if held.ends_with(b"\n") && !begins_with_blank(bytes) {
            return Some(0);
        }
        let mut from = 0;
        loop {
            let end = from + memchr::memchr(b'\n', &bytes[from..])? + 1;
            let is_empty_line = held.len() + end <= 2 && from == 0;
            match bytes.get(end) {
                None if !is_empty_line => return None,
                Some(b' ' | b'\t') if !is_empty_line => from = end,
                _ => return Some(end),
            }
        }
    }

    fn check_limit(&self, taken: usize) -> Result<(), Malformed> {
        let line = self.partial.as_ref().map_or(0, |partial| partial.bytes.len()) + taken;
        let section = self.section_bytes as usize + line;
        match self.phase {
            Phase::ChunkLine if line > MAX_CHUNK_LINE_BYTES => Err(CHUNK_LINE_TOO_LONG),
            Phase::Trailers if section > MAX_HEAD_BYTES => Err(TRAILERS_TOO_LARGE),
            Phase::StatusLine | Phase::Fields if section > MAX_HEAD_BYTES => Err(HEAD_TOO_LARGE),
            _ => Ok(()),
        }
    }

    fn whole_line(&mut self, line: &[u8], sink: &mut impl ResponseSink) -> Result<(), Malformed> {
        let Some(text) = line.strip_suffix(b"\r\n") else {
            let is_http = self.phase != Phase::StatusLine || begins_like_http(line);
            return Err(if is_http { BARE_LF } else { bad_beginning(line) });
        };
        self.section_bytes += line.len() as u32;
        match self.phase {
            Phase::StatusLine => {
                self.head = Head::status_line(text)?;
                self.phase = Phase::Fields;
                sink.begin_head();
            }
            Phase::ChunkLine => self.begin_chunk(chunk_size(text)?),
            Phase::Trailers if text.is_empty() => self.phase = Phase::Idle,
            Phase::Trailers => {
                self.count_field(TOO_MANY_TRAILERS)?;
                split_field(&unfold(text)?)?;
            }
            _ if text.is_empty() => self.end_head()?,
            _ => {
                self.count_field(TOO_MANY_FIELDS)?;
                let line = unfold(text)?;
                let (name, value) = self.head.field_line(&line)?;
                sink.field(name, value);
            }
        }
        Ok(())
    }

    fn count_field(&mut self, beyond: Malformed) -> Result<(), Malformed> {
        self.fields += 1;
        if self.fields > MAX_FIELDS { Err(beyond) } else { Ok(()) }
    }

    fn end_head(&mut self) -> Result<(), Malformed> {
        let framing = self.head.framing(self.is_head)?;
        (self.section_bytes, self.fields) = (0, 0);
        match self.head.status {
            101 => return Err(Malformed("switching protocols without an upgrade request")),
            100..=199 => {
                self.interim_answers += 1;
                if self.interim_answers > MAX_INTERIM_ANSWERS {
                    return Err(TOO_MANY_INTERIM);
                }
                self.phase = Phase::StatusLine;
                return Ok(());
            }
            _ => {}
        }
        self.phase = match framing {
            Framing::None | Framing::Length(0) => Phase::Idle,
            Framing::Length(length) => {
                self.remaining = length;
                Phase::Body
            }
            Framing::Chunked => Phase::ChunkLine,
            Framing::UntilClose => Phase::UntilClose,
        };
        Ok(())
    }

    fn begin_chunk(&mut self, size: u64) {
        self.section_bytes = 0;
        self.remaining = size;
        self.phase = if size == 0 { Phase::Trailers } else { Phase::ChunkData };
    }

    fn body(&mut self, bytes: &[u8], next: Phase, sink: &mut impl ResponseSink) -> usize {
        let taken = self.remaining.min(bytes.len() as u64);
        sink.body(&bytes[..taken as usize]);
        self.remaining -= taken;
        self.body_bytes += taken;
        if self.remaining == 0 {
            self.phase = next;
        }
        taken as usize
    }

    fn after_chunk(&mut self, bytes: &[u8], expected: u8, next: Phase) -> Result<usize, Malformed> {
        if bytes.first() != Some(&expected) {
            return Err(Malformed("no CRLF after a chunk"));
        }
        self.phase = next;
        Ok(1)
    }
}

/// Whether a server may end an idle connection with these bytes: they are, or may become, a 408 or another response after which it closes.
pub(crate) fn is_farewell(bytes: &[u8]) -> bool {
    let mut parser = ResponseParser::new();
    parser.begin(false);
    let is_response = parser.feed(bytes).is_ok();
    let closes = parser.phase == Phase::UntilClose || !parser.head.keeps_connection();
    is_response && (parser.phase == Phase::StatusLine || closes || parser.is_request_timeout())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fifteen_thousand_parsers_are_about_a_megabyte() {
        assert!(size_of::<ResponseParser>() <= 56, "{} bytes", size_of::<ResponseParser>());
    }

    #[test]
    fn a_server_ends_an_idle_connection_with_a_408_or_a_response_that_closes_it() {
        for bytes in [
            "HTTP/1.1 408 Request Timeout\r\n\r\n",
            "HTTP/1.1 408 Request Ti",
            "HTTP/1.1 408 \r\nContent-Length: 9\r\n",
            "HTTP/1.1 503 x\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
            "HTTP/1.0 400 x\r\n\r\nuntil the end",
        ] {
            assert!(is_farewell(bytes.as_bytes()), "{bytes}");
        }
        for bytes in ["hi", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx"] {
            assert!(!is_farewell(bytes.as_bytes()), "{bytes}");
        }
    }

    #[test]
    fn the_buffer_lives_only_while_a_line_is_split() {
        let mut parser = ResponseParser::new();
        parser.begin(false);
        assert_eq!(parser.feed(b"HTTP/1.1 200 OK\r\nContent-"), Ok(Parsed::More));
        assert!(parser.partial.is_some());
        assert_eq!(parser.feed(b"Length: 5\r\n\r\nhel"), Ok(Parsed::More));
        assert!(parser.partial.is_none());
    }

    #[test]
    fn a_head_seen_before_is_framed_for_the_request_at_hand() {
        let bytes = b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc";
        let mut parser = ResponseParser::new();
        let mut consumed = |is_head| {
            parser.begin(is_head);
            match parser.feed(bytes) {
                Ok(Parsed::Complete { consumed, .. }) => consumed,
                other => panic!("{other:?}"),
            }
        };
        assert_eq!([consumed(false), consumed(true), consumed(false)], [41, 38, 41]);
    }
}
