//! The protocol of a connection.

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

/// HTTP/1.1 or HTTP/2, in the clear or over TLS.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
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

    /// What ALPN calls it.
    #[must_use]
    pub fn alpn(self) -> &'static [u8] {
        if self.is_h2() { b"h2" } else { b"http/1.1" }
    }

    /// Its value on the command line.
    #[must_use]
    pub fn flag(self) -> &'static str {
        match self {
            Self::Http1 => "http1",
            Self::Http1Tls => "http1-tls",
            Self::H2c => "h2c",
            Self::H2Tls => "h2-tls",
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_flag_written_is_the_flag_read_and_the_name_in_the_json() {
        for &protocol in Protocol::value_variants() {
            assert_eq!(Protocol::from_str(protocol.flag(), false), Ok(protocol));
            assert_eq!(serde_json::to_string(&protocol).unwrap(), format!("\"{}\"", protocol.flag()));
        }
    }
}
