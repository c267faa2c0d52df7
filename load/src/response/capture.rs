//! A value in a response that later requests send.

use super::ResponseParts;
use super::body_check::compile;
use super::json_value;
use crate::http1::is_token_byte;
use regex::bytes::Regex;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

/// The longest value that is captured, in bytes.
pub const LONGEST_VALUE_BYTES: usize = 64 * 1024;

/// A value in a response that later requests send as `{capture:NAME}`. Written as `NAME=header:FIELD`, `NAME=regex:PATTERN` (with one
/// group) or `NAME=json:POINTER` (RFC 6901).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
#[non_exhaustive]
pub struct Capture {
    /// The name in requests.
    pub name: String,
    /// The place of the value in the response.
    pub source: CaptureSource,
}

/// The place of a captured value in a response.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum CaptureSource {
    /// The value of the first header of this name.
    Header(String),
    /// The only group of the first match in the body.
    Regex(Regex),
    /// A value in a JSON body: text without its quotes, anything else as JSON.
    Json(String),
}

/// The reason why a text is not a capture.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{written}` cannot be captured: {why}")]
#[non_exhaustive]
pub struct CaptureError {
    pub written: String,
    /// The mistake, and what to write instead.
    pub why: String,
}

impl Capture {
    /// The value in this response; `None` if the response lacks it. A value that is too long for a request may be cut after
    /// [`LONGEST_VALUE_BYTES`].
    #[must_use]
    pub fn find<'r>(&self, response: &'r ResponseParts<'r>) -> Option<Cow<'r, [u8]>> {
        match &self.source {
            CaptureSource::Header(field) => {
                let value = response.values(field).next()?;
                Some(Cow::Owned(value.to_vec()))
            }
            CaptureSource::Regex(regex) => {
                let group = regex.captures(response.body)?.get(1)?;
                Some(Cow::Borrowed(group.as_bytes()))
            }
            CaptureSource::Json(pointer) => {
                Some(Cow::Owned(json_value::find(response.body, pointer, LONGEST_VALUE_BYTES)?))
            }
        }
    }
}

impl FromStr for Capture {
    type Err = CaptureError;

    fn from_str(written: &str) -> Result<Self, CaptureError> {
        parse(written).map_err(|why| CaptureError { written: written.to_owned(), why })
    }
}

fn parse(written: &str) -> Result<Capture, String> {
    let example = "write it as NAME=header:FIELD, NAME=regex:PATTERN or NAME=json:/POINTER";
    let (name, place) = written.split_once('=').ok_or(example)?;
    if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte)) {
        return Err("its name may have letters, digits, `-`, `_` and `.`".to_owned());
    }
    let source = match place.split_once(':').ok_or(example)? {
        ("header", field) if !field.is_empty() && field.bytes().all(is_token_byte) => {
            CaptureSource::Header(field.to_owned())
        }
        ("header", _) => return Err("write the name of a header, e.g. token=header:X-Token".to_owned()),
        ("regex", pattern) => CaptureSource::Regex(with_one_group(pattern)?),
        ("json", pointer) if pointer.is_empty() || pointer.starts_with('/') => {
            CaptureSource::Json(pointer.to_owned())
        }
        ("json", pointer) => return Err(format!("a JSON pointer begins with a slash: json:/{pointer}")),
        _ => return Err(example.to_owned()),
    };
    Ok(Capture { name: name.to_owned(), source })
}

fn with_one_group(pattern: &str) -> Result<Regex, String> {
    let regex = compile(pattern)?;
    // The whole match counts as a group too.
    match regex.captures_len() {
        2 => Ok(regex),
        1 => Err(format!("`{pattern}` has no group: put the value in parentheses, e.g. id=([0-9]+)")),
        _ => Err(format!(
            "`{pattern}` has more than one group: write (?:...) for those that are not the value"
        )),
    }
}

impl TryFrom<String> for Capture {
    type Error = CaptureError;

    fn try_from(written: String) -> Result<Self, CaptureError> {
        written.parse()
    }
}

impl From<Capture> for String {
    fn from(capture: Capture) -> Self {
        capture.to_string()
    }
}

/// Prints the capture as it is written.
impl fmt::Display for Capture {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}=", self.name)?;
        match &self.source {
            CaptureSource::Header(field) => write!(out, "header:{field}"),
            CaptureSource::Regex(regex) => write!(out, "regex:{regex}"),
            CaptureSource::Json(pointer) => write!(out, "json:{pointer}"),
        }
    }
}

impl PartialEq for CaptureSource {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Header(one), Self::Header(other)) | (Self::Json(one), Self::Json(other)) => one == other,
            (Self::Regex(one), Self::Regex(other)) => one.as_str() == other.as_str(),
            _ => false,
        }
    }
}

impl Eq for CaptureSource {}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(capture: &str, response: &ResponseParts<'_>) -> Option<String> {
        let capture: Capture = capture.parse().unwrap();
        capture.find(response).map(|value| String::from_utf8(value.into_owned()).unwrap())
    }

    #[test]
    fn a_value_comes_from_a_header_a_group_or_a_json_pointer() {
        let body = br#"{"token": "a\"b", "user": {"id": 17, "tags": ["x", null]}}"#;
        let response = ResponseParts::new(200, b"X-Token: one\r\nx-token: two\r\n", body);
        let value = |text: &str| Some(text.to_owned());
        assert_eq!(found("t=header:x-TOKEN", &response), value("one"));
        assert_eq!(found(r#"t=regex:"id": ([0-9]+)"#, &response), value("17"));
        assert_eq!(found("t=json:/token", &response), value("a\"b"));
        assert_eq!(found("t=json:/user/id", &response), value("17"));
        assert_eq!(found("t=json:/user/tags/0", &response), value("x"));
        assert_eq!(found("t=json:/user/tags", &response), value(r#"["x",null]"#));
    }

    #[test]
    fn a_value_that_is_not_there_is_none() {
        let response = ResponseParts::new(200, b"A: b\r\n", b"<html>");
        for capture in ["t=header:B", "t=regex:id=([0-9]+)", "t=json:/a", "t=json:"] {
            assert_eq!(found(capture, &response), None, "{capture}");
        }
        assert_eq!(
            found("t=regex:a(b)?", &ResponseParts::new(200, b"", b"a")),
            None,
            "a group without a part"
        );
    }

    #[test]
    fn a_capture_that_cannot_be_meant_says_what_to_write() {
        for (written, why) in [
            ("token", "write it as NAME=header:FIELD"),
            ("token=X-Token", "write it as NAME=header:FIELD"),
            ("token=cookie:a", "write it as NAME=header:FIELD"),
            ("=header:A", "its name may have letters"),
            ("a b=header:A", "its name may have letters"),
            ("a}=header:A", "its name may have letters"),
            ("a=header:", "write the name of a header"),
            ("a=header:X Y", "write the name of a header"),
            ("a=regex:id=[0-9]+", "put the value in parentheses"),
            ("a=regex:(a)(b)", "more than one group"),
            ("a=regex:(a", "is not a regular expression: unclosed group"),
            ("a=json:token", "begins with a slash: json:/token"),
        ] {
            let error = written.parse::<Capture>().unwrap_err().to_string();
            assert!(error.starts_with(&format!("`{written}` cannot be captured: ")), "{error}");
            assert!(error.contains(why), "{written}: {error}");
        }
    }

    #[test]
    fn a_result_keeps_it_as_it_was_written() {
        for written in ["a=header:X-Token", "a=regex:id=([0-9]+)", "a=json:/a/0"] {
            let capture: Capture = written.parse().unwrap();
            let json = serde_json::to_string(&capture).unwrap();
            assert_eq!(json, format!("\"{written}\""));
            assert_eq!(serde_json::from_str::<Capture>(&json).unwrap(), capture);
        }
    }
}
