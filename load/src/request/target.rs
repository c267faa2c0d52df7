//! One kind of request of a load.

use super::origin::UrlParts;
use super::template::with_files_in;
use super::{Header, Origin, RequestError};
use crate::http1::is_token_byte;
use bytes::Bytes;
use percent_encoding::percent_decode_str;
use std::num::NonZeroU32;
use std::path::Path;

/// One kind of request: a method, a URL, headers, a body, and its weight among others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    pub(super) origin: Origin,
    pub(super) method: String,
    /// Path and query, with placeholders.
    pub(super) path: String,
    pub(super) headers: Vec<Header>,
    pub(super) body: Bytes,
    pub(super) weight: NonZeroU32,
}

impl Target {
    /// A GET of this URL.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn get(url: &str) -> Result<Self, RequestError> {
        Self::new("GET", url)
    }

    /// A request without a body, with any method but CONNECT. A user in the URL (`http://user:password@host/`) becomes an `Authorization`
    /// header (Basic, RFC 7617); a fragment (`#..`) is dropped.
    ///
    /// # Errors
    /// [`RequestError::Method`], [`RequestError::Url`].
    pub fn new(method: &str, url: &str) -> Result<Self, RequestError> {
        if method.is_empty() || !method.bytes().all(is_token_byte) || method == "CONNECT" {
            return Err(RequestError::Method { method: method.escape_debug().to_string() });
        }
        let UrlParts { origin, path, user } = UrlParts::parse(url)?;
        let headers = user.map(user_in_url).transpose()?.into_iter().collect();
        let (method, body, weight) = (method.to_owned(), Bytes::new(), NonZeroU32::MIN);
        Ok(Self { origin, method, path, headers, body, weight })
    }

    /// Adds a header, beside earlier ones of the same name. It replaces a default header.
    #[must_use]
    pub fn with_header(mut self, header: Header) -> Self {
        self.headers.push(header);
        self
    }

    /// Sets the body, which may contain placeholders.
    #[must_use]
    pub fn with_body(mut self, body: impl Into<Bytes>) -> Self {
        self.body = body.into();
        self
    }

    /// Sets the weight relative to other targets; the default is 1.
    #[must_use]
    pub fn with_weight(mut self, weight: NonZeroU32) -> Self {
        self.weight = weight;
        self
    }

    /// Looks for the files of `{csv:FILE:COLUMN}` in a folder, unless their paths are absolute.
    #[must_use]
    pub fn with_files_in(mut self, folder: &Path) -> Self {
        self.path = moved(folder, &self.path);
        self.headers =
            self.headers.into_iter().map(|header| header.map_value(|value| moved(folder, value))).collect();
        self.body = with_files_in(folder, &self.body);
        self
    }

    /// The server to which the request goes.
    #[must_use]
    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    #[must_use]
    pub fn method(&self) -> &str {
        &self.method
    }

    /// Path and query, with placeholders.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The target's own headers, including the user's `Authorization`.
    #[must_use]
    pub fn headers(&self) -> &[Header] {
        &self.headers
    }

    /// The body, with placeholders; often empty.
    #[must_use]
    pub fn body(&self) -> &[u8] {
        &self.body
    }

    /// The weight relative to other targets.
    #[must_use]
    pub const fn weight(&self) -> NonZeroU32 {
        self.weight
    }
}

/// The text with the names of files replaced by their paths; everything else stays.
fn moved(folder: &Path, text: &str) -> String {
    String::from_utf8_lossy(&with_files_in(folder, text.as_bytes())).into_owned()
}

fn user_in_url(user: &str) -> Result<Header, RequestError> {
    let user = if user.contains(':') { user.to_owned() } else { format!("{user}:") };
    Header::authorization(&percent_decode_str(&user).collect::<Vec<u8>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_in_the_url_becomes_a_basic_authorization() {
        // The example of RFC 7617 section 2: "Aladdin" with "open sesame".
        let target = Target::get("http://Aladdin:open%20sesame@h/").unwrap();
        assert_eq!(target.headers[0].value(), Some("Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="));
        let alone = Target::get("http://me%@h/").unwrap();
        assert_eq!(alone.headers[0].value(), Some("Basic bWUlOg=="));
    }

    #[test]
    fn a_method_is_one_token() {
        for method in ["", "GET /", "GET\r\n", "CONNECT"] {
            assert!(
                matches!(Target::new(method, "http://h/"), Err(RequestError::Method { .. })),
                "{method:?}"
            );
        }
        assert!(Target::new("M-SEARCH", "http://h/").is_ok());
    }
}
