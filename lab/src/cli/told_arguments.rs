//! Arguments that a process reads from its standard input: what a load sends may be secret, and whoever sees a list of processes or a Job of
//! Kubernetes sees the arguments there.

use std::ffi::OsString;
use std::io::{self, BufRead};

/// In the place of arguments that come from standard input.
pub(super) const TOLD: &str = "@-";

/// These arguments, with those that `load @-` is told in their place: a line of standard input with a JSON array of texts. Other lines are
/// passed over: the rest of one that broke off, and one that comes again.
///
/// # Errors
/// The input ended before such a line, or cannot be read.
pub(super) fn with_told(mut arguments: Vec<OsString>, input: impl BufRead) -> io::Result<Vec<OsString>> {
    if !is_told(&arguments) {
        return Ok(arguments);
    }
    for line in input.lines() {
        if let Ok(told) = serde_json::from_str::<Vec<String>>(&line?) {
            arguments.splice(2..3, told.into_iter().map(OsString::from));
            return Ok(arguments);
        }
    }
    Err(io::Error::new(
        io::ErrorKind::UnexpectedEof,
        "load @-: standard input ended before a line with the arguments",
    ))
}

/// Does this command line read arguments from standard input?
pub(super) fn is_told(arguments: &[OsString]) -> bool {
    matches!(arguments, [_, command, told, ..] if command == "load" && told == TOLD)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(words: &str, input: &str) -> io::Result<Vec<OsString>> {
        with_told(words.split(' ').map(OsString::from).collect(), input.as_bytes())
    }

    #[test]
    fn a_line_of_standard_input_stands_in_their_place_and_half_a_line_is_passed_over() {
        let input = "\n[\"http://h/\",\"-H\n\n[\"http://h/\",\"-H\",\"A: b c\"]\n[\"http://other/\"]\n";
        let expected = ["threadcount", "load", "http://h/", "-H", "A: b c", "--share", "auto"];
        assert_eq!(with("threadcount load @- --share auto", input).unwrap(), expected);
        assert!(
            with("threadcount load @-", "nothing\n")
                .unwrap_err()
                .to_string()
                .contains("standard input ended")
        );
    }

    #[test]
    fn the_same_word_elsewhere_is_no_request_for_arguments() {
        for words in ["threadcount load http://h/ -b @-", "threadcount merge @-", "threadcount load"] {
            assert_eq!(with(words, "[\"x\"]\n").unwrap().len(), words.split(' ').count(), "{words}");
        }
    }
}
