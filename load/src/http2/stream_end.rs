//! The ways in which requests over HTTP/2 end.

use crate::failure::FailureCause;

/// Whether a failed request may be sent over another connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Again {
    /// No: the request failed.
    Never,
    /// Yes, if the connection may have been closed as idle; it then counts as sent again (RFC 9112 section 9.3.1).
    IfIdleClose,
    /// Yes: the server declares it unprocessed (RFC 9113 section 8.7), and takes no more requests over this connection.
    Resend,
    /// Yes: the server refused the stream without processing it, and the connection goes on.
    Refused,
    /// Yes: no byte of it was sent.
    Send,
}

/// How a request on a stream ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StreamEnd {
    /// The response is complete.
    Complete { status: u16, body_bytes: u64 },
    /// The request ended without a complete response.
    Broken(Broken),
}

/// A request without a complete response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Broken {
    pub cause: FailureCause,
    /// The status of the response, if one had begun.
    pub status: Option<u16>,
    pub again: Again,
}

/// A request that could not be sent over the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NotSent {
    pub cause: FailureCause,
    pub again: Again,
}

impl NotSent {
    pub(crate) fn elsewhere() -> Self {
        Self { cause: FailureCause::ClosedBeforeAnswer, again: Again::Send }
    }
}
