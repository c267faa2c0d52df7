//! Arguments that a process reads from its standard input. A load may contain secrets, and everybody who sees the list of processes or a
//! Job of Kubernetes sees the arguments there.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{self, BufRead};
use threadcount_model::environment;

/// Stands in the command line for arguments that come from standard input.
pub(super) const TOLD: &str = "@-";

/// The line of standard input with the arguments and the variables of the environment that they name.
#[derive(Serialize, Deserialize)]
pub(super) struct ToldArguments {
    arguments: Vec<String>,
    variables: BTreeMap<String, String>,
}

#[cfg(any(feature = "kubernetes", test))]
impl ToldArguments {
    pub fn new(arguments: &[String]) -> Self {
        let variables = environment::named_in(arguments.iter().map(String::as_str));
        Self { arguments: arguments.to_vec(), variables }
    }
}

/// These arguments. If they are `load @-`, the arguments come from standard input. Other lines are skipped, such as the rest of a broken
/// line, or a repeated line.
///
/// # Errors
/// The input ended before such a line, or cannot be read.
pub(super) fn with_told(mut arguments: Vec<OsString>, input: impl BufRead) -> io::Result<Vec<OsString>> {
    if !is_told(&arguments) {
        return Ok(arguments);
    }
    for line in input.lines() {
        if let Ok(told) = serde_json::from_str::<ToldArguments>(&line?) {
            environment::take_over(told.variables);
            arguments.splice(2..3, told.arguments.into_iter().map(OsString::from));
            return Ok(arguments);
        }
    }
    Err(io::Error::new(
        io::ErrorKind::UnexpectedEof,
        "load @-: standard input ended before a line with the arguments",
    ))
}

/// Whether this command line reads arguments from standard input.
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
        let line = |arguments: &[&str]| {
            let arguments: Vec<String> = arguments.iter().map(|&it| it.to_owned()).collect();
            serde_json::to_string(&ToldArguments::new(&arguments)).unwrap()
        };
        let whole = line(&["http://h/", "-H", "A: b c"]);
        let input = format!("\n{}\n\n{whole}\n{}\n", &whole[..30], line(&["http://other/"]));
        let expected = ["threadcount", "load", "http://h/", "-H", "A: b c", "--share", "auto"];
        assert_eq!(with("threadcount load @- --share auto", &input).unwrap(), expected);
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
