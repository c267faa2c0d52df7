//! Why a request failed, in words a user can act on. Every failed request has exactly one cause.

mod name;

use crate::setting::{Setting, SettingName};
use serde::Serialize;
use std::fmt;

/// The cause of one failed request. `Display` is its sentence with the fields of a plan; in JSON it is its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(into = "String")]
#[non_exhaustive]
pub enum FailureCause {
    /// Nothing listens at the address.
    ConnectionRefused,
    /// The connection was not established in time (often a full accept queue).
    ConnectTimeout,
    /// The request was sent and its response was not complete in time.
    RequestTimeout,
    /// The server reset the connection.
    ConnectionReset,
    /// The server closed the connection before any byte of the response.
    ClosedBeforeAnswer,
    /// The server closed the connection in the middle of the head or the body.
    TruncatedAnswer,
    /// The response violates the HTTP grammar; the text has the reason.
    Malformed(&'static str),
    /// The response was well-formed, but its status is not one the load expects.
    UnexpectedStatus(u16),
    /// The status is expected, but the body lacks the expected text.
    UnexpectedBody,
    /// The status is expected, but the expected text cannot be found because the body is compressed or otherwise encoded
    /// (`Content-Encoding`).
    EncodedBody,
    /// A part of the response that checks, captures or cookies need could not be kept; the text has the reason.
    NotKept(&'static str),
    /// A redirect that is not followed; the text has the reason.
    Redirect(&'static str),
    /// No source port was left (`EADDRNOTAVAIL`).
    NoPortLeft,
    /// No file descriptor was left (`EMFILE`, `ENFILE`).
    NoFileDescriptorLeft,
    /// The server's certificate was refused.
    Certificate(CertificateProblem),
    /// The plan requires HTTP/1.1, and the server does not offer it in TLS (ALPN).
    Http1NotOffered,
    /// The load is sent over HTTP/1.1, and the server speaks HTTP/2 only.
    Http1NotSpoken,
    /// The plan requires HTTP/2, and the server does not offer it in TLS (ALPN).
    Http2NotOffered,
    /// The plan requires HTTP/2 without TLS, and the server does not support it.
    Http2NotSpoken,
    /// The TLS handshake or a TLS record failed; the text has the reason.
    Tls(&'static str),
    /// The HTTP/2 layer reported an error; the text is the RFC 9113 section 7 error name or our own words.
    Http2(&'static str),
    /// Any other system error, by errno.
    System(i32),
}

/// The reason why a server's certificate was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum CertificateProblem {
    /// No trusted authority has signed the certificate.
    UnknownIssuer,
    Expired,
    NotValidYet,
    /// The certificate is for another host.
    OtherName,
    Revoked,
    /// The signature is wrong.
    BadSignature,
    /// The certificate is that of an authority, not of a server.
    Authority,
    /// The certificate has version 1 of X.509.
    OldVersion,
    /// The certificate is not meant for servers.
    OtherPurpose,
    /// The certificate cannot be read.
    BadEncoding,
    /// The kind of signature is not supported.
    UnsupportedSignature,
    /// The certificate has an unknown critical extension.
    UnknownExtension,
    /// Anything else.
    Other,
}

impl CertificateProblem {
    /// The problem in words, without a remedy.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::UnknownIssuer => "the certificate's issuer is unknown (self-signed?)",
            Self::Expired => "the certificate has expired",
            Self::NotValidYet => "the certificate is not valid yet",
            Self::OtherName => "the certificate is for another name",
            Self::Revoked => "the certificate is revoked",
            Self::BadSignature => "the certificate's signature is wrong",
            Self::Authority => "the certificate is an authority's (CA:TRUE), not a server's",
            Self::OldVersion => "the certificate has version 1 of X.509; make one of version 3",
            Self::OtherPurpose => "the certificate is not for servers (extended key usage)",
            Self::BadEncoding => "the certificate cannot be read (its encoding is wrong)",
            Self::UnsupportedSignature => "the certificate's kind of signature is not supported",
            Self::UnknownExtension => "the certificate has a critical extension that is not known",
            Self::Other => "the certificate is not acceptable",
        }
    }

    /// Whether the plan's `insecure` would accept such a certificate.
    #[must_use]
    pub const fn is_accepted_by_insecure(self) -> bool {
        !matches!(self, Self::Revoked | Self::BadSignature)
    }
}

impl FailureCause {
    /// The cause for a system error; [`FailureCause::System`] if it has no cause of its own.
    #[must_use]
    pub fn from_errno(errno: i32) -> Self {
        match errno {
            libc::ECONNREFUSED => Self::ConnectionRefused,
            libc::ETIMEDOUT => Self::ConnectTimeout,
            libc::ECONNRESET | libc::EPIPE => Self::ConnectionReset,
            libc::EADDRNOTAVAIL | libc::EADDRINUSE => Self::NoPortLeft,
            libc::EMFILE | libc::ENFILE => Self::NoFileDescriptorLeft,
            other => Self::System(other),
        }
    }
}

impl FailureCause {
    /// The cause as a sentence, which every output uses as the key.
    #[must_use]
    pub fn sentence(self, name: SettingName) -> String {
        match self {
            Self::ConnectionRefused => "connection refused".to_owned(),
            Self::ConnectTimeout => "connect timeout".to_owned(),
            Self::RequestTimeout => "request timeout".to_owned(),
            Self::ConnectionReset => "connection reset".to_owned(),
            Self::ClosedBeforeAnswer => "connection closed before the answer".to_owned(),
            Self::TruncatedAnswer => "answer truncated".to_owned(),
            Self::Malformed(how) => format!("malformed answer: {how}"),
            Self::UnexpectedStatus(status) => format!("unexpected status {status}"),
            Self::UnexpectedBody => "unexpected body".to_owned(),
            Self::EncodedBody => {
                "unexpected body (it is compressed; send no Accept-Encoding to search it)".to_owned()
            }
            Self::NotKept(why) => format!("response not read: {why}"),
            Self::Redirect(why) => format!("redirect not followed: {why}"),
            Self::NoPortLeft => "no source port left".to_owned(),
            Self::NoFileDescriptorLeft => "no file descriptor left".to_owned(),
            Self::Certificate(problem) if problem.is_accepted_by_insecure() => {
                format!("TLS: {}; {} accepts it", problem.words(), name(Setting::Insecure))
            }
            Self::Certificate(problem) => format!("TLS: {}", problem.words()),
            Self::Http1NotOffered => {
                format!("HTTP/1.1: the server does not offer it (ALPN); {}", name(Setting::Http2))
            }
            Self::Http1NotSpoken => {
                format!("HTTP/1.1: the server speaks HTTP/2 only; {}", name(Setting::Http2))
            }
            Self::Http2NotOffered => {
                format!("HTTP/2: the server does not offer it (ALPN); {}", name(Setting::Http1))
            }
            Self::Http2NotSpoken => {
                format!("HTTP/2: the server does not speak it; {}", name(Setting::Http1))
            }
            Self::Tls(how) => format!("TLS: {how}"),
            Self::Http2(how) => format!("HTTP/2: {how}"),
            Self::System(errno) => std::io::Error::from_raw_os_error(errno).to_string(),
        }
    }
}

impl fmt::Display for FailureCause {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.sentence(Setting::field))
    }
}
