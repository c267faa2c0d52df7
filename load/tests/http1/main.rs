//! The HTTP/1.1 answer parser: a table of answers cut at every place, and random ones against a plain reference.

mod random;
mod reference;
mod table;

use threadcount_load::failure::FailureCause;
use threadcount_load::http1::{Answer, Malformed, Parsed, ResponseParser};

/// What became of a whole byte string.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// A complete answer, and how many bytes were its own.
    Complete(Answer, usize),
    /// Everything was taken, and more is needed.
    More,
    /// The answer is malformed.
    Rejected(&'static str),
}

/// Feeds pieces until the answer is complete or malformed.
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

/// The answer's end where the server closes the connection after these bytes.
pub fn at_close(bytes: &[u8], is_head: bool) -> Result<Answer, FailureCause> {
    let mut parser = ResponseParser::new();
    match feed_pieces(&mut parser, is_head, [bytes]) {
        Verdict::Complete(answer, _) => Ok(answer),
        Verdict::More => parser.end_of_stream(),
        Verdict::Rejected(how) => Err(FailureCause::Malformed(how)),
    }
}
