//! One connection's state between two events.

use crate::http1::ResponseParser;
use crate::recorder::Exchange;

/// What a slot is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// It has no connection.
    Closed,
    /// Being established; with a request that waits for it, or in advance of any.
    Opening,
    /// It failed to connect and waits before it tries again.
    Resting,
    /// Established, with no request.
    Free,
    /// Its request was sent and is not answered.
    Busy,
}

/// One slot: at most one connection and at most one request.
#[derive(Debug)]
pub(super) struct Connection {
    pub state: State,
    pub parser: ResponseParser,
    /// The times of the request it has; meaningless when it has none.
    pub exchange: Exchange,
    /// While `Opening`: does a request wait for it?
    pub has_request: bool,
    /// The request may be sent again on a fresh connection (RFC 9110 section 9.2.2).
    pub is_idempotent: bool,
    pub is_head: bool,
    /// The request was sent again; a second time is not granted.
    pub was_resent: bool,
    /// The connection has carried an answer, so that the server may have closed it as idle.
    pub is_reused: bool,
    /// Bytes came while there was no request; the slot's next request answers for them.
    pub has_unasked_bytes: bool,
    /// Connects that failed in a row.
    pub refusals: u8,
}

impl Connection {
    pub(super) fn new() -> Self {
        Self {
            state: State::Closed,
            parser: ResponseParser::new(),
            exchange: Exchange { due_ns: 0, sent_ns: 0 },
            has_request: false,
            is_idempotent: false,
            is_head: false,
            was_resent: false,
            is_reused: false,
            has_unasked_bytes: false,
            refusals: 0,
        }
    }

    /// Does it have a request that was begun and has not ended?
    pub(super) fn is_in_flight(&self) -> bool {
        self.state == State::Busy || (self.state == State::Opening && self.has_request)
    }

    /// May its request be sent again because the server closed the connection before it saw the request? Only a
    /// connection that was already used can have been closed as idle (RFC 9112 section 9.3.1).
    pub(super) fn may_resend(&self) -> bool {
        self.is_reused && self.is_idempotent && !self.was_resent && !self.parser.has_begun()
    }
}
