//! The protocol of a connection.

use serde::{Deserialize, Serialize};

/// HTTP/1.1 or HTTP/2, in the clear or over TLS.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Protocol {
    /// HTTP/1.1 in the clear
    #[default]
    Http1,
    /// HTTP/1.1 over TLS
    Http1Tls,
    /// HTTP/2 in the clear, with prior knowledge
    H2c,
    /// HTTP/2 over TLS
    H2Tls,
}

impl Protocol {
    /// Each of them.
    pub const ALL: [Self; 4] = [Self::Http1, Self::Http1Tls, Self::H2c, Self::H2Tls];

    /// Is the connection encrypted?
    #[must_use]
    pub fn is_tls(self) -> bool {
        matches!(self, Self::Http1Tls | Self::H2Tls)
    }

    /// Is it HTTP/2?
    #[must_use]
    pub fn is_h2(self) -> bool {
        matches!(self, Self::H2c | Self::H2Tls)
    }

    /// The scheme of a URL.
    #[must_use]
    pub fn scheme(self) -> &'static str {
        if self.is_tls() { "https" } else { "http" }
    }

    /// Its name in a sentence.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::Http1 => "HTTP/1.1",
            Self::Http1Tls => "HTTP/1.1 over TLS",
            Self::H2c => "HTTP/2 without TLS (h2c)",
            Self::H2Tls => "HTTP/2 over TLS",
        }
    }
}
