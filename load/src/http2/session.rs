//! An HTTP/2 connection, which many streams share.

use super::error_code::ErrorCode;
use super::frames;
use super::header_blocks::{Breach, HeaderBlocks};
use super::incoming::{Cut, Incoming, cut};
use super::request_blocks::RequestBlocks;
use super::settings::{ENABLE_PUSH, INITIAL_WINDOW_SIZE, MAX_HEADER_LIST_SIZE, ServerSettings};
use super::stream_end::{Again, Broken, NotSent, StreamEnd};
use super::streams::{StreamState, Streams};
use super::window::{ReceiveWindow, SendWindow};
use crate::clock::Nanos;
use crate::failure::FailureCause;
use crate::http1::begins_tls_record;
use crate::response::{Kept, ReadParts, ResponseReader};
use std::collections::VecDeque;
use std::sync::Arc;

/// The receive window of a stream, large enough that no response waits for a WINDOW_UPDATE.
pub(super) const STREAM_WINDOW_BYTES: u32 = 2 * 1024 * 1024;
const CONNECTION_WINDOW_BYTES: u32 = 16 * 1024 * 1024;
/// The initial window of each connection, which SETTINGS do not change (RFC 9113 section 6.9.2).
const FIRST_WINDOW_BYTES: u32 = 65_535;
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const NOT_HTTP2: FailureCause = FailureCause::Http2NotSpoken;
const TLS_INSTEAD: FailureCause = FailureCause::Http2("TLS instead of a frame (is this an https:// port?)");

/// The largest number of acknowledgements that wait to be sent: a server that requests them and reads none would otherwise fill the memory.
const MOST_UNSENT_ACKNOWLEDGEMENTS: u32 = 10_000;
const FLOOD: FailureCause = FailureCause::Http2(
    "the server sent more than 10,000 PING or SETTINGS frames and read no acknowledgement",
);

/// The server's GOAWAY.
#[derive(Clone, Copy, Debug)]
pub(super) struct GoAway {
    /// The server did not process streams with higher numbers.
    pub last_id: u32,
    pub code: ErrorCode,
}

/// The reason why the connection is over.
#[derive(Clone, Copy, Debug)]
enum Over {
    /// The connection ended, or failed with this errno.
    Lost(Option<i32>),
    /// The server violated the protocol.
    Breach(FailureCause),
}

/// An incomplete header block.
#[derive(Debug, Default)]
pub(super) struct PartialBlock {
    /// The number of its stream; 0 if there is no incomplete block.
    pub stream: u32,
    pub ends_stream: bool,
    pub bytes: Kept,
}

/// An HTTP/2 connection, which many streams share.
#[derive(Debug)]
pub(crate) struct Http2Session {
    incoming: Incoming,
    /// When the bytes arrived that are being read.
    pub arrived_ns: Nanos,
    pub(super) outgoing: Vec<u8>,
    pub(super) streams: Streams,
    /// A response is complete with the first byte of its body.
    pub first_byte: bool,
    pub(super) settings: ServerSettings,
    /// The server's settings have arrived.
    pub(super) is_set_up: bool,
    /// The server has acknowledged our settings.
    pub(super) is_acknowledged: bool,
    pub(super) header_blocks: HeaderBlocks,
    pub(super) partial_block: PartialBlock,
    pub(super) request_blocks: RequestBlocks,
    pub(super) receive_window: ReceiveWindow,
    pub(super) send_window: SendWindow,
    /// Places whose requests wait until the server allows another stream.
    pub(super) waiting: VecDeque<u32>,
    /// Places whose bodies wait for a larger window.
    pub(super) blocked: Vec<u32>,
    pub(super) ended: VecDeque<(u32, StreamEnd)>,
    pub(super) go_away: Option<GoAway>,
    /// The number of acknowledgements of PING and SETTINGS since bytes were last sent.
    pub unsent_acknowledgements: u32,
    over: Option<Over>,
}

impl Http2Session {
    /// Begins a session: the client's preface is sent first (RFC 9113 section 3.4). No request is sent before the server's settings have
    /// arrived, because only they show its limit on streams and that it supports HTTP/2.
    pub fn new(width: u32, reads: Option<&Arc<ReadParts>>) -> Self {
        let mut outgoing = PREFACE.to_vec();
        let settings = [
            (ENABLE_PUSH, 0),
            (INITIAL_WINDOW_SIZE, STREAM_WINDOW_BYTES),
            (MAX_HEADER_LIST_SIZE, super::header_blocks::MAX_HEADER_BYTES as u32),
        ];
        frames::write_settings(&mut outgoing, &settings);
        frames::write_window_update(&mut outgoing, 0, CONNECTION_WINDOW_BYTES - FIRST_WINDOW_BYTES);
        Self {
            incoming: Incoming::default(),
            arrived_ns: 0,
            outgoing,
            streams: Streams::new(width, STREAM_WINDOW_BYTES, reads),
            first_byte: false,
            settings: ServerSettings::new(),
            is_set_up: false,
            is_acknowledged: false,
            header_blocks: HeaderBlocks::new(),
            partial_block: PartialBlock::default(),
            request_blocks: RequestBlocks::new(),
            receive_window: ReceiveWindow::new(CONNECTION_WINDOW_BYTES),
            send_window: SendWindow::new(i64::from(FIRST_WINDOW_BYTES)),
            waiting: VecDeque::new(),
            blocked: Vec::new(),
            ended: VecDeque::new(),
            go_away: None,
            unsent_acknowledgements: 0,
            over: None,
        }
    }

    /// Handles received bytes.
    pub fn receive(&mut self, bytes: &[u8]) {
        if self.over.is_some() {
            return;
        }
        if !self.is_set_up && self.incoming.is_empty() && begins_tls_record(bytes) {
            return self.finish(Over::Breach(TLS_INSTEAD));
        }
        if let Err(breach) = self.read(bytes) {
            frames::write_go_away(&mut self.outgoing, breach.code);
            return self.finish(Over::Breach(breach.cause));
        }
        if !self.waiting.is_empty() {
            self.begin_waiting();
        }
    }

    fn read(&mut self, mut bytes: &[u8]) -> Result<(), Breach> {
        if let Some(frame) = self.incoming.complete(&mut bytes) {
            let result = self.read_frames(&mut &frame[..]);
            self.incoming.keep(frame);
            result?;
        }
        self.read_frames(&mut bytes)?;
        self.incoming.begin(bytes);
        Ok(())
    }

    fn read_frames(&mut self, bytes: &mut &[u8]) -> Result<(), Breach> {
        loop {
            match cut(bytes) {
                Cut::Frame(head, payload) => self.on_frame(head, payload)?,
                Cut::Incomplete => return Ok(()),
                Cut::TooLarge => return Err(ErrorCode::FRAME_SIZE_ERROR.into()),
            }
        }
    }

    /// Handles that the connection ended, or failed with this errno.
    pub fn end(&mut self, errno: Option<i32>) {
        if self.over.is_none() {
            self.finish(Over::Lost(errno));
        }
    }

    /// The server's SETTINGS_MAX_CONCURRENT_STREAMS; `None` until it is known.
    ///
    /// # Errors
    /// The cause that kept the connection from being set up.
    pub fn open(&mut self) -> Result<Option<u32>, FailureCause> {
        match self.over {
            Some(over) => Err(self.refusal(over)),
            None if self.is_set_up => {
                let most = self.settings.max_streams.min(self.streams.width());
                Ok((most > 0).then_some(most))
            }
            None => Ok(None),
        }
    }

    /// The cause for a connection that could not be set up: most failures at that stage mean that the server does not support HTTP/2.
    fn refusal(&self, over: Over) -> FailureCause {
        match (over, self.go_away) {
            (_, Some(GoAway { code, .. })) if code != ErrorCode::NO_ERROR => code.of_go_away(),
            (Over::Lost(Some(errno)), _) => FailureCause::from_errno(errno),
            (Over::Breach(cause), _) if self.is_set_up || cause == TLS_INSTEAD => cause,
            _ => NOT_HTTP2,
        }
    }

    /// Whether the server has violated the protocol.
    pub const fn is_breached(&self) -> bool {
        matches!(self.over, Some(Over::Breach(_)))
    }

    /// Whether the connection takes new requests. After a GOAWAY it only finishes those it has.
    pub fn takes_requests(&mut self) -> bool {
        self.is_set_up && self.over.is_none() && self.go_away.is_none() && self.streams.next_id().is_some()
    }

    /// Whether the server sent a GOAWAY after it had processed a stream. Each connection to such a server ends some requests.
    pub fn has_taken_streams(&self) -> bool {
        self.go_away.is_some_and(|go_away| go_away.last_id > 0) && self.streams.next_id() != Some(1)
    }

    /// Counts an acknowledgement that must be sent.
    pub(super) fn acknowledge(&mut self) -> Result<(), Breach> {
        self.unsent_acknowledgements += 1;
        if self.unsent_acknowledgements > MOST_UNSENT_ACKNOWLEDGEMENTS {
            return Err(Breach { code: ErrorCode::ENHANCE_YOUR_CALM, cause: FLOOD });
        }
        Ok(())
    }

    /// The next stream whose request has ended.
    #[inline]
    pub fn next_end(&mut self) -> Option<(u32, StreamEnd)> {
        self.ended.pop_front()
    }

    /// The reader of the response on a stream that has just ended; `None` if responses are not read.
    pub fn reader(&mut self, place: u32) -> Option<&mut ResponseReader> {
        self.streams.at(place).reader.as_deref_mut()
    }

    /// When the final header of the last response on a stream arrived.
    pub fn head_ns(&self, place: u32) -> Nanos {
        self.streams.get(place).head_ns
    }

    /// Whether the final header of the response has arrived, on a stream that is open.
    pub fn has_head(&self, place: u32) -> bool {
        let stream = self.streams.get(place);
        matches!(stream.state, StreamState::Open) && stream.head.is_some()
    }

    /// Takes the bytes that must be sent now.
    pub fn take_outgoing(&mut self, outgoing: &mut Vec<u8>) {
        outgoing.append(&mut self.outgoing);
    }

    /// The reason why a request cannot be sent over this connection.
    pub(super) fn not_sent(&self) -> NotSent {
        let cause = match (self.over, self.go_away) {
            (_, Some(go_away)) => go_away.code.of_go_away(),
            (Some(Over::Breach(cause)), None) => cause,
            (Some(Over::Lost(Some(errno))), None) => FailureCause::from_errno(errno),
            _ => FailureCause::ClosedBeforeAnswer,
        };
        NotSent { cause, again: Again::Send }
    }

    /// Ends the connection with all its streams.
    fn finish(&mut self, over: Over) {
        self.over = Some(over);
        self.waiting.clear();
        self.blocked.clear();
        for place in 0..self.streams.width() {
            match self.streams.get(place).state {
                StreamState::Idle => {}
                StreamState::Waiting(_) => self.end_unsent(place),
                StreamState::Open => {
                    let broken = self.broken_by(place, over);
                    self.streams.close(place);
                    self.ended.push_back((place, StreamEnd::Broken(broken)));
                }
            }
        }
    }

    /// Ends a request that waited for a stream in vain.
    pub(super) fn end_unsent(&mut self, place: u32) {
        let NotSent { cause, again } = self.not_sent();
        self.streams.at(place).state = StreamState::Idle;
        self.ended.push_back((place, StreamEnd::Broken(Broken { cause, status: None, again })));
    }

    fn broken_by(&self, place: u32, over: Over) -> Broken {
        let stream = self.streams.get(place);
        let status = stream.head.map(|head| head.status);
        let broken = |cause| Broken { cause, status, again: Again::Never };
        let errno = match over {
            Over::Breach(cause) => return broken(cause),
            Over::Lost(errno) => errno,
        };
        let cause = match (errno, status) {
            (Some(errno), _) => FailureCause::from_errno(errno),
            (None, Some(_)) => FailureCause::TruncatedAnswer,
            (None, None) => FailureCause::ClosedBeforeAnswer,
        };
        let is_lost = matches!(cause, FailureCause::ClosedBeforeAnswer | FailureCause::ConnectionReset);
        match self.go_away {
            // The server had begun to process the request, and its GOAWAY gives the reason.
            Some(GoAway { code, .. })
                if code != ErrorCode::NO_ERROR && (is_lost || cause == FailureCause::TruncatedAnswer) =>
            {
                broken(code.of_go_away())
            }
            _ if is_lost && status.is_none() && stream.is_idempotent => {
                Broken { again: Again::IfIdleClose, ..broken(cause) }
            }
            _ => broken(cause),
        }
    }
}
