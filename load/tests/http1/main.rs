//! The HTTP/1.1 response parser: a table of responses cut at every place, and random ones against a plain reference.

mod random;
mod reference;
mod table;

use threadcount_load::failure::FailureCause;
use threadcount_load::http1::{Answer, Malformed, Parsed, ResponseParser};

/// What became of a whole byte string.
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

/// The result where the server closes the connection after these bytes.
pub fn at_close(bytes: &[u8], is_head: bool) -> Result<Answer, FailureCause> {
    let mut parser = ResponseParser::new();
    match feed_pieces(&mut parser, is_head, [bytes]) {
        Verdict::Complete(answer, _) => Ok(answer),
        Verdict::More => parser.end_of_stream(),
        Verdict::Rejected(how) => Err(FailureCause::Malformed(how)),
    }
}
