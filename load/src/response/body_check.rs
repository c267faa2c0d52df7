//! Checks that the body of a response contains a text or a pattern.

use memchr::memmem;
use regex::bytes::Regex;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

const REGEX_PREFIX: &str = "regex:";

/// The text that the body of a response must contain, or the regular expression that it must match, to be a success. Written as the text
/// itself, or as `regex:PATTERN`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
#[non_exhaustive]
pub enum BodyCheck {
    /// These bytes, anywhere in the body.
    Contains(Vec<u8>),
    /// A match, anywhere in the body.
    Matches(Regex),
}

impl BodyCheck {
    /// A check for a text.
    #[must_use]
    pub fn contains(text: impl Into<Vec<u8>>) -> Self {
        Self::Contains(text.into())
    }

    /// A check for a match of a regular expression (syntax of the `regex` crate). It works on bytes: `(?-u)` switches Unicode off.
    ///
    /// # Errors
    /// The mistake in the pattern.
    pub fn matches(pattern: &str) -> Result<Self, String> {
        compile(pattern).map(Self::Matches)
    }

    /// Whether this body passes the check.
    #[must_use]
    pub fn accepts(&self, body: &[u8]) -> bool {
        match self {
            Self::Contains(text) => memmem::find(body, text).is_some(),
            Self::Matches(regex) => regex.is_match(body),
        }
    }
}

/// Compiles a pattern. The last line of the crate's error message contains the reason; the lines before show the pattern.
pub(super) fn compile(pattern: &str) -> Result<Regex, String> {
    Regex::new(pattern).map_err(|error| {
        let text = error.to_string();
        let last = text.lines().last().unwrap_or_default().trim_start_matches("error: ");
        format!("`{pattern}` is not a regular expression: {last}")
    })
}

impl FromStr for BodyCheck {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.strip_prefix(REGEX_PREFIX) {
            Some("") => Err("the regular expression is missing: write regex:PATTERN".to_owned()),
            Some(pattern) => Self::matches(pattern),
            None if text.is_empty() => {
                Err("the text is empty: write a text that the body must contain, or regex:PATTERN".to_owned())
            }
            None => Ok(Self::contains(text)),
        }
    }
}

impl TryFrom<String> for BodyCheck {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<BodyCheck> for String {
    fn from(check: BodyCheck) -> Self {
        check.to_string()
    }
}

/// Prints the check as it is written.
impl fmt::Display for BodyCheck {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Contains(text) => out.write_str(&String::from_utf8_lossy(text)),
            Self::Matches(regex) => write!(out, "{REGEX_PREFIX}{regex}"),
        }
    }
}

impl PartialEq for BodyCheck {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Contains(one), Self::Contains(other)) => one == other,
            (Self::Matches(one), Self::Matches(other)) => one.as_str() == other.as_str(),
            _ => false,
        }
    }
}

impl Eq for BodyCheck {}

#[cfg(test)]
mod tests {
    use super::*;

    fn accepts(check: &str, body: &[u8]) -> bool {
        check.parse::<BodyCheck>().unwrap().accepts(body)
    }

    #[test]
    fn a_text_is_found_anywhere_and_only_as_it_is_written() {
        assert!(accepts("\"ok\": true", br#"{"id": 1, "ok": true}"#));
        assert!(!accepts("\"ok\": true", br#"{"ok": false}"#));
        assert!(!accepts("a.c", b"abc"), "a text is not a pattern");
        assert!(!accepts("x", b""));
        assert!(accepts("ok", b"\xff\xfeok\0"), "bodies need not be text");
    }

    #[test]
    fn a_regular_expression_is_searched_for_in_bytes() {
        assert!(accepts("regex:\"id\": [0-9]+,", br#"{"id": 17, "x": 1}"#));
        assert!(!accepts("regex:^ok$", b"not ok"));
        assert!(accepts("regex:(?-u)\\xff.k", b"\xffok"));
    }

    #[test]
    fn a_check_that_cannot_be_meant_says_what_to_write() {
        let refused = |text: &str| text.parse::<BodyCheck>().unwrap_err();
        assert!(refused("").contains("write a text"));
        assert!(refused("regex:").contains("write regex:PATTERN"));
        assert_eq!(refused("regex:(a"), "`(a` is not a regular expression: unclosed group");
    }

    #[test]
    fn a_result_keeps_it_as_it_was_written() {
        for written in ["hello", "regex:^a+$"] {
            let check: BodyCheck = written.parse().unwrap();
            let json = serde_json::to_string(&check).unwrap();
            assert_eq!(json, format!("\"{written}\""));
            assert_eq!(serde_json::from_str::<BodyCheck>(&json).unwrap(), check);
        }
        assert_ne!(BodyCheck::contains("a"), BodyCheck::matches("a").unwrap());
    }
}
