//! Tests of the HTTP/1.1 response parser: a table of responses cut at every place, and random ones against a simple reference.

mod agreement;
mod random;
mod table;

use agreement::{Verdict, feed_pieces};
use threadcount_load::failure::FailureCause;
use threadcount_load::http1::{Answer, ResponseParser};

/// The result if the server closes the connection after these bytes.
pub fn at_close(bytes: &[u8], is_head: bool) -> Result<Answer, FailureCause> {
    let mut parser = ResponseParser::new();
    match feed_pieces(&mut parser, is_head, [bytes]) {
        Verdict::Complete(answer, _) => Ok(answer),
        Verdict::More => parser.end_of_stream(),
        Verdict::Rejected(how) => Err(FailureCause::Malformed(how)),
    }
}
