//! Compares the HTTP/1.1 parser with a simple reference, in whatever pieces the bytes come.

#[path = "reference.rs"]
mod reference;

use threadcount_load::http1::{Answer, Malformed, Parsed, ResponseParser};

/// The result of reading a whole byte string.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// A complete response, and its number of bytes.
    Complete(Answer, usize),
    /// Everything was taken, and more is needed.
    More,
    /// The response is malformed.
    Rejected(&'static str),
}

/// Feeds pieces until the response is complete or malformed.
pub fn feed_pieces<'a>(
    parser: &mut ResponseParser,
    is_head: bool,
    pieces: impl IntoIterator<Item = &'a [u8]>,
) -> Verdict {
    parser.begin(is_head);
    let mut taken = 0;
    for piece in pieces {
        match parser.feed(piece) {
            Ok(Parsed::More) => taken += piece.len(),
            Ok(Parsed::Complete { answer, consumed }) => return Verdict::Complete(answer, taken + consumed),
            Err(Malformed(how)) => return Verdict::Rejected(how),
        }
    }
    Verdict::More
}

/// Replaces the reason of a rejection, which the reference does not name.
fn without_words(verdict: Verdict) -> Verdict {
    match verdict {
        Verdict::Rejected(_) => Verdict::Rejected("by the reference"),
        other => other,
    }
}

/// Asserts that these bytes mean the same to the parser and to the reference, also in these pieces. The reference has no limits of size.
pub fn assert_agrees<'a>(bytes: &'a [u8], is_head: bool, pieces: impl IntoIterator<Item = &'a [u8]>) {
    let expected = reference::read(bytes, is_head);
    let mut parser = ResponseParser::new();
    let shown = bytes.escape_ascii();
    // The bytes are read twice, because the second time the head is a known one.
    for time in ["first", "second"] {
        let at_once = without_words(feed_pieces(&mut parser, is_head, [bytes]));
        assert_eq!(at_once, expected, "at once, {time} time: {shown}");
    }
    let in_pieces = without_words(feed_pieces(&mut parser, is_head, pieces));
    assert_eq!(in_pieces, expected, "in pieces: {shown}");
    let single = without_words(feed_pieces(&mut parser, is_head, bytes.chunks(1)));
    assert_eq!(single, expected, "byte by byte: {shown}");
}
