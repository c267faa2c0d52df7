//! One header of a request.

use super::RequestError;
use crate::http1::{is_text_byte, is_token_byte};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;

/// A header of a request. It replaces the default of the same name; without a value it only removes the default.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    name: String,
    value: Option<String>,
}

impl Header {
    /// A header with a value, which may be empty and may contain placeholders.
    ///
    /// # Errors
    /// [`RequestError::Header`] if the header would break the request (with a line end in the value, for example), or if its value follows
    /// from the body and cannot be chosen.
    pub fn new(name: &str, value: &str) -> Result<Self, RequestError> {
        let value = value.trim_matches([' ', '\t']);
        check(name, value).map_err(|why| refused(&format!("{name}: {value}"), why))?;
        Ok(Self { name: name.to_owned(), value: Some(value.to_owned()) })
    }

    /// Parses a header in the syntax of curl's `-H`: `Name: value`. `Name;` sends the header with an empty value, `Name:` removes a default
    /// header.
    ///
    /// # Errors
    /// As [`new`](Self::new), or there is no colon.
    pub fn parse(line: &str) -> Result<Self, RequestError> {
        match line.split_once(':') {
            Some((name, value)) if value.trim_matches([' ', '\t']).is_empty() => {
                check(name, "").map_err(|why| refused(line, why))?;
                Ok(Self { name: name.to_owned(), value: None })
            }
            Some((name, value)) => Self::new(name, value),
            None => match line.strip_suffix(';') {
                Some(name) => Self::new(name, ""),
                None => Err(refused(line, "write it as 'Name: value'")),
            },
        }
    }

    /// The header of basic authentication (RFC 7617) for `NAME:PASSWORD`.
    ///
    /// # Errors
    /// There is no colon.
    pub fn basic(user: &str) -> Result<Self, RequestError> {
        if !user.contains(':') {
            return Err(refused("Authorization", "write NAME:PASSWORD, e.g. --user me:secret"));
        }
        Self::authorization(user.as_bytes())
    }

    pub(super) fn authorization(user: &[u8]) -> Result<Self, RequestError> {
        Self::new("Authorization", &format!("Basic {}", BASE64.encode(user)))
    }

    pub(super) fn map_value(self, change: impl FnOnce(&str) -> String) -> Self {
        Self { value: self.value.as_deref().map(change), name: self.name }
    }

    /// The name, as written.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The value; `None` if the header only removes a default.
    #[must_use]
    pub fn value(&self) -> Option<&str> {
        self.value.as_deref()
    }
}

fn refused(header: &str, why: &'static str) -> RequestError {
    RequestError::Header { header: header.escape_debug().to_string(), why }
}

fn check(name: &str, value: &str) -> Result<(), &'static str> {
    if name.is_empty() {
        return Err("its name is missing");
    }
    if !name.bytes().all(is_token_byte) {
        return Err("its name has a character that names cannot have");
    }
    if !value.bytes().all(is_text_byte) {
        return Err("its value has a control character, such as a line end");
    }
    if name.eq_ignore_ascii_case("content-length") {
        return Err("it follows from the body: leave it out");
    }
    if name.eq_ignore_ascii_case("transfer-encoding") {
        return Err("bodies are sent with their length, not in chunks: leave it out");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> (String, Option<String>) {
        let header = Header::parse(line).unwrap();
        (header.name, header.value)
    }

    #[test]
    fn a_header_is_written_as_for_curl() {
        assert_eq!(parsed("A: b:c "), ("A".to_owned(), Some("b:c".to_owned())));
        assert_eq!(parsed("A:b"), ("A".to_owned(), Some("b".to_owned())));
        assert_eq!(parsed("A;"), ("A".to_owned(), Some(String::new())));
        assert_eq!(parsed("A:"), ("A".to_owned(), None));
    }

    #[test]
    fn a_name_and_a_password_become_a_basic_authorization() {
        // The example of RFC 7617 section 2: "Aladdin" with "open sesame".
        let header = Header::basic("Aladdin:open sesame").unwrap();
        assert_eq!(header.value(), Some("Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="));
        assert_eq!(
            Header::basic("me:a%20:b").unwrap().value(),
            Some("Basic bWU6YSUyMDpi"),
            "nothing is decoded"
        );
        assert!(Header::basic("me").unwrap_err().to_string().contains("write NAME:PASSWORD"));
    }

    #[test]
    fn a_header_that_would_break_the_request_is_refused() {
        let why = |line: &str| Header::parse(line).unwrap_err().to_string();
        assert_eq!(why("A"), "the header `A` cannot be sent: write it as 'Name: value'");
        let line_end = "its value has a control character, such as a line end";
        assert_eq!(why("A: b\r\nC: d"), format!("the header `A: b\\r\\nC: d` cannot be sent: {line_end}"));
        assert_eq!(why("A: b\0"), format!("the header `A: b\\0` cannot be sent: {line_end}"));
        assert!(why("A b: c").contains("its name has a character"));
        assert!(why("A\r\nB: c").contains("its name has a character"));
        assert!(why(": c").contains("its name is missing"));
        assert!(why("content-length: 5").contains("leave it out"));
        assert!(why("Transfer-Encoding: chunked").contains("leave it out"));
    }
}
