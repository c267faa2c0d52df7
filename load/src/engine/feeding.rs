//! Passes the bytes of an HTTP/1.1 connection to its parser.

use super::connection::Connection;
use crate::http1::{Answer, Malformed, Parsed, is_farewell};
use crate::response::{ResponseReader, Unread};

/// The result of parsing some bytes of an HTTP/1.1 connection.
pub(super) enum Fed {
    More { is_first: bool },
    Complete { answer: Answer, is_whole: bool, follows: Follows },
    Malformed(Malformed),
}

/// The bytes that arrived right behind a complete response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Follows {
    Nothing,
    /// The response with which a server ends an idle connection.
    Farewell,
    Unsolicited,
}

/// Parses bytes; returns the result and how many of the bytes belong to the response. With `first_byte`, the first byte of its body
/// completes it. `reader` receives the parts that the plan reads.
pub(super) fn feed<'b>(
    connection: &mut Connection,
    bytes: &'b [u8],
    first_byte: bool,
    reader: Option<&mut ResponseReader>,
) -> (Fed, &'b [u8]) {
    let is_whole = !connection.parser.has_begun();
    let parsed = match reader {
        Some(reader) => connection.parser.feed_to(bytes, reader),
        None => connection.parser.feed_to(bytes, &mut Unread),
    };
    match parsed {
        Ok(Parsed::More) if first_byte => match connection.parser.end_at_first_byte() {
            Some(answer) => (Fed::Complete { answer, is_whole, follows: Follows::Nothing }, bytes),
            None => (Fed::More { is_first: is_whole }, bytes),
        },
        Ok(Parsed::More) => (Fed::More { is_first: is_whole }, bytes),
        Ok(Parsed::Complete { answer, consumed }) => {
            let (taken, rest) = bytes.split_at(consumed);
            (Fed::Complete { answer, is_whole, follows: Follows::classify(rest) }, taken)
        }
        Err(how) => (Fed::Malformed(how), bytes),
    }
}

impl Follows {
    #[inline]
    fn classify(rest: &[u8]) -> Self {
        match rest {
            [] => Self::Nothing,
            _ if is_farewell(rest) => Self::Farewell,
            _ => Self::Unsolicited,
        }
    }
}
