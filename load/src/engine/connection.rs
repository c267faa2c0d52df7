//! One connection's state between two events, and the requests on its streams.

use crate::clock::Nanos;
use crate::driver::Slot;
use crate::failure::FailureCause;
use crate::http1::ResponseParser;
use crate::recorder::Exchange;
use crate::request::FieldRequest;
use crate::secure::Session;
use std::sync::Arc;

/// How long after a round trip a close may be seen that crossed a request: both sides have to get a core for it.
const CROSSING_NS: Nanos = 10_000_000;

/// The state of a slot's connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// There is none.
    Closed,
    /// Being established, TLS and HTTP/2 included; for a request that waits for it, or in advance of any.
    Opening,
    /// It failed to connect and waits before it tries again.
    Resting,
    /// Established; its streams have their own states.
    Open,
    /// Established, and closed as soon as its requests have ended: it takes no new ones.
    Draining,
}

/// One slot: at most one connection. With a thousand of them each cache line that a response touches is a miss: what every response
/// over HTTP/1.1 needs comes first and fills one.
#[repr(C, align(64))]
pub(super) struct Connection {
    /// The HTTP/1.1 response that is being read.
    pub parser: ResponseParser,
    /// Requests on its streams.
    pub busy: u32,
    pub state: State,
    /// The connection has carried a response, so that the server may have closed it as idle.
    pub is_reused: bool,
    /// The TLS and HTTP/2 session, if any.
    pub session: Option<Box<Session>>,
    /// How many streams may have a request: 1 over HTTP/1.1.
    pub streams: u32,
    /// The number of its requests that wait for it to be opened.
    pub waiting: u32,
    /// The server has begun HTTP/2 where HTTP/1.1 is spoken.
    pub greets_with_http2: bool,
    /// While `Opening`: TCP is established and the session is being set up.
    pub is_setting_up: bool,
    /// The slot has had an established connection.
    pub was_opened: bool,
    /// Why it could not be opened in advance.
    pub refused: Option<FailureCause>,
    /// Connects that failed in a row.
    pub refusals: u8,
    /// When connecting began.
    pub connecting_ns: Nanos,
    /// When it was closed.
    pub closed_ns: Nanos,
    /// When bytes of its session arrived last.
    pub received_ns: Nanos,
    /// Out-of-order segments at the last reading.
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

/// A stream's number over all connections: its slot times the streams of each connection, plus its number there.
pub(super) type Place = u32;

/// Which connection, and which of its streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Width(u32);

impl Width {
    /// So many streams on each connection.
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

/// The state of a stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum StreamState {
    /// It has no request; or there is no such stream now.
    #[default]
    Idle,
    /// Its request waits for the connection to be opened.
    Waiting,
    /// Its request leaves with the next flush.
    Queued,
    /// Its request was sent and has not ended.
    Busy,
    /// The server refused its request, which is sent again at its deadline.
    Refused,
}

/// A request as TLS or HTTP/2 sends it, made when the protocol is known. It stays the same when it is sent again.
#[derive(Default)]
pub(super) enum Rendered {
    #[default]
    Not,
    Http1,
    Http2(Arc<FieldRequest>),
}

/// One stream: at most one request at a time. What every request needs comes first and fills a cache line.
#[repr(C, align(64))]
pub(super) struct Stream {
    /// The times of its request; meaningless where there is none.
    pub exchange: Exchange,
    /// When it became free.
    pub free_ns: Nanos,
    pub state: StreamState,
    /// The request may be sent again on a fresh connection (RFC 9110 section 9.2.2).
    pub is_idempotent: bool,
    pub is_head: bool,
    /// The request itself ends its connection.
    pub closes: bool,
    /// The request was sent again; a second time is not granted.
    pub was_resent: bool,
    /// It is in the list of free streams.
    pub is_listed: bool,
    /// The request counts as sent again.
    pub counts_as_resent: bool,
    /// When the first bytes of its response arrived, where others follow; meaningless in one piece.
    pub first_byte_ns: Nanos,
    /// Which request of the load it is, for a session to render.
    pub number: u64,
    /// How often the server refused it.
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

    /// May its request be sent again after the server closed or reset the connection now?
    ///
    /// A server may close a connection that it takes for idle while a request is on its way (RFC 9112 section 9.5), and a
    /// client may then send the request again by itself, if it is idempotent (section 9.3.1). The end of the connection is
    /// here within a round trip then, whether it is a FIN or a reset. A server that ends it later has had the request: that it
    /// resets the connection does not show that it has not read the request, nor does its acknowledgement show that it has.
    pub(super) fn may_be_resent(&self, now_ns: Nanos, round_trip_ns: Nanos) -> bool {
        self.is_idempotent && !self.was_resent && self.has_crossed_close(now_ns, round_trip_ns)
    }

    /// Was its request sent so late that the connection, which ends now, may have ended without regard to it?
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
