//! The state of one connection between two events, and of the requests on its streams.

use crate::clock::Nanos;
use crate::driver::Slot;
use crate::failure::FailureCause;
use crate::http1::ResponseParser;
use crate::recorder::Exchange;
use crate::request::FieldRequest;
use crate::secure::Session;
use std::sync::Arc;

/// How long after a round trip a close can be noticed that crossed a request on the wire: both sides first need a core.
const CROSSING_NS: Nanos = 10_000_000;

/// The state of a slot's connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// There is no connection.
    Closed,
    /// The connection is being established, including TLS and HTTP/2, either for a waiting request or in advance.
    Opening,
    /// Connecting failed; the slot waits before it tries again.
    Resting,
    /// The connection is established, and its streams have their own states.
    Open,
    /// The connection takes no new requests, and is closed as soon as its requests have ended.
    Draining,
}

/// One slot, with at most one connection. With a thousand of them, each cache line that a response touches is a cache miss, so the fields
/// that every HTTP/1.1 response needs come first and fill one line.
#[repr(C, align(64))]
pub(super) struct Connection {
    /// The parser of the HTTP/1.1 response that is being read.
    pub parser: ResponseParser,
    /// The number of requests on the connection's streams.
    pub busy: u32,
    pub state: State,
    /// The connection has carried a response, so that the server may have closed it as idle.
    pub is_reused: bool,
    /// The TLS and HTTP/2 session, if any.
    pub session: Option<Box<Session>>,
    /// The number of streams that may carry a request: 1 over HTTP/1.1.
    pub streams: u32,
    /// The number of requests that wait for the connection to be opened.
    pub waiting: u32,
    /// The server has begun with HTTP/2 although HTTP/1.1 was expected.
    pub greets_with_http2: bool,
    /// While `Opening`: TCP is established and the session is being set up.
    pub is_setting_up: bool,
    /// The slot has had an established connection.
    pub was_opened: bool,
    /// Why the connection could not be opened in advance.
    pub refused: Option<FailureCause>,
    /// The number of connects that failed in a row.
    pub refusals: u8,
    /// When connecting began.
    pub connecting_ns: Nanos,
    /// When the connection was closed.
    pub closed_ns: Nanos,
    /// When bytes of its session last arrived.
    pub received_ns: Nanos,
    /// The number of out-of-order segments at the last reading.
    pub out_of_order: u32,
}

impl Connection {
    pub(super) fn new() -> Self {
        Self {
            parser: ResponseParser::new(),
            busy: 0,
            state: State::Closed,
            is_reused: false,
            session: None,
            streams: 1,
            waiting: 0,
            greets_with_http2: false,
            is_setting_up: false,
            was_opened: false,
            refused: None,
            refusals: 0,
            connecting_ns: 0,
            closed_ns: 0,
            received_ns: 0,
            out_of_order: 0,
        }
    }

    pub(super) fn is_http2(&self) -> bool {
        self.session.as_ref().is_some_and(|session| session.is_http2())
    }
}

/// The number of a stream over all connections: its slot times the streams per connection, plus its number on the connection.
pub(super) type Place = u32;

/// The number of streams per connection, which turns a place into a slot and a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Width(u32);

impl Width {
    /// A width of this many streams per connection.
    pub(super) fn new(streams: u32) -> Self {
        Self(streams.max(1))
    }

    pub(super) fn streams(self) -> u32 {
        self.0
    }

    pub(super) fn place(self, slot: Slot, stream: u32) -> Place {
        slot * self.0 + stream
    }

    pub(super) fn slot(self, place: Place) -> Slot {
        // Nearly all loads have one stream per connection, and a division costs more than a comparison.
        if self.0 == 1 { place } else { place / self.0 }
    }

    pub(super) fn stream(self, place: Place) -> u32 {
        if self.0 == 1 { 0 } else { place % self.0 }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum StreamState {
    /// The stream has no request, or does not exist at the moment.
    #[default]
    Idle,
    /// The stream's request waits for the connection to be opened.
    Waiting,
    /// The stream's request leaves with the next flush.
    Queued,
    /// The stream's request was sent and has not ended.
    Busy,
    /// The server refused the stream's request, which is sent again at its deadline.
    Refused,
}

/// A request in the form in which TLS or HTTP/2 sends it, made when the protocol is known. It stays the same when it is sent again.
#[derive(Default)]
pub(super) enum Rendered {
    #[default]
    Not,
    Http1,
    Http2(Arc<FieldRequest>),
}

/// One stream, with at most one request at a time. The fields that every request needs come first and fill a cache line.
#[repr(C, align(64))]
pub(super) struct Stream {
    /// The times of the stream's request; meaningless without one.
    pub exchange: Exchange,
    /// When the stream became free.
    pub free_ns: Nanos,
    pub state: StreamState,
    /// The request may be sent again on a new connection (RFC 9110 section 9.2.2).
    pub is_idempotent: bool,
    pub is_head: bool,
    /// The request asks the server to close the connection after it.
    pub closes: bool,
    /// The request was sent again, so it is not sent a third time.
    pub was_resent: bool,
    /// The stream is in the list of free streams.
    pub is_listed: bool,
    /// The request counts as sent again.
    pub counts_as_resent: bool,
    /// When the first bytes of the response arrived, if more followed; meaningless for a response in one piece.
    pub first_byte_ns: Nanos,
    /// The request's number in the load, with which a session renders it.
    pub number: u64,
    /// How often the server refused the request.
    pub refusals: u32,
    pub rendered: Rendered,
    /// The bytes of `Rendered::Http1`.
    pub http1: Vec<u8>,
}

impl Stream {
    pub(super) fn new() -> Self {
        Self {
            exchange: Exchange::default(),
            free_ns: 0,
            state: StreamState::Idle,
            is_idempotent: false,
            is_head: false,
            closes: false,
            was_resent: false,
            is_listed: false,
            counts_as_resent: false,
            first_byte_ns: 0,
            number: 0,
            refusals: 0,
            rendered: Rendered::Not,
            http1: Vec::new(),
        }
    }

    /// Whether the request may be sent again if the server closes or resets the connection now.
    ///
    /// A server may close a connection that it takes for idle while a request is on its way (RFC 9112 section 9.5), and a client may then
    /// send an idempotent request again by itself (section 9.3.1). In that case the end of the connection, be it a FIN or a reset, arrives
    /// within a round trip. A server that ends the connection later has had the request. A reset does not prove that it has not read the
    /// request, just as an acknowledgement does not prove that it has.
    pub(super) fn may_be_resent(&self, now_ns: Nanos, round_trip_ns: Nanos) -> bool {
        self.is_idempotent && !self.was_resent && self.has_crossed_close(now_ns, round_trip_ns)
    }

    /// Whether the request was sent so late that the server may have ended the connection before it knew of the request.
    pub(super) fn has_crossed_close(&self, now_ns: Nanos, round_trip_ns: Nanos) -> bool {
        now_ns.saturating_sub(self.exchange.sent_ns) <= round_trip_ns.saturating_add(CROSSING_NS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::mem::offset_of;

    #[test]
    fn what_every_response_touches_lies_in_one_cache_line_of_its_connection_and_one_of_its_stream() {
        assert!(offset_of!(Connection, session) <= 64, "{}", offset_of!(Connection, session));
        assert!(offset_of!(Stream, first_byte_ns) <= 64, "{}", offset_of!(Stream, first_byte_ns));
    }
}
