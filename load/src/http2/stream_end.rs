//! How requests over HTTP/2 end.

use crate::failure::FailureCause;

/// May the request go over another connection?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Again {
    /// No: it failed.
    Never,
    /// Yes, where the connection may have been closed as idle, and it counts as sent again (RFC 9112 section 9.3.1).
    IfIdleClose,
    /// The server declares it unprocessed (RFC 9113 section 8.7), and takes no more over this connection.
    Resend,
    /// The server refused its stream, unprocessed too, and the connection goes on.
    Refused,
    /// Yes, and no byte of it left before.
    Send,
}

/// How a request on a stream ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StreamEnd {
    /// A complete response.
    Complete { status: u16, body_bytes: u64 },
    /// Anything else.
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

/// A request that could not be handed to the connection.
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
