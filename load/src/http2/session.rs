//! One connection that many streams share.

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

/// The receive window: large enough that no response waits for a WINDOW_UPDATE.
pub(super) const STREAM_WINDOW_BYTES: u32 = 2 * 1024 * 1024;
const CONNECTION_WINDOW_BYTES: u32 = 16 * 1024 * 1024;
/// The window of each connection as it begins; SETTINGS do not change it (RFC 9113 section 6.9.2).
const FIRST_WINDOW_BYTES: u32 = 65_535;
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const NOT_HTTP2: FailureCause = FailureCause::Http2NotSpoken;
const TLS_INSTEAD: FailureCause = FailureCause::Http2("TLS instead of a frame (is this an https:// port?)");

/// More acknowledgements than this do not wait to be sent: a server that requests them and reads none would fill the memory.
const MOST_UNSENT_ACKNOWLEDGEMENTS: u32 = 10_000;
const FLOOD: FailureCause = FailureCause::Http2(
    "the server sent more than 10,000 PING or SETTINGS frames and read no acknowledgement",
);

/// The server's GOAWAY.
#[derive(Clone, Copy, Debug)]
pub(super) struct GoAway {
    /// Streams with higher numbers were not looked at.
    pub last_id: u32,
    pub code: ErrorCode,
}

/// Why the connection is over.
#[derive(Clone, Copy, Debug)]
enum Over {
    /// It ended, or failed with this errno.
    Lost(Option<i32>),
    /// The server broke the protocol.
    Breach(FailureCause),
}

/// An incomplete header block.
#[derive(Debug, Default)]
pub(super) struct PartialBlock {
    /// 0: there is none.
    pub stream: u32,
    pub ends_stream: bool,
    pub bytes: Kept,
}

/// One connection that many streams share.
#[derive(Debug)]
pub(crate) struct Http2Session {
    incoming: Incoming,
    /// When the bytes that are read arrived.
    pub arrived_ns: Nanos,
    pub(super) outgoing: Vec<u8>,
    pub(super) streams: Streams,
    /// The first byte of its body completes a response.
    pub first_byte: bool,
    pub(super) settings: ServerSettings,
    /// The server's settings have arrived.
    pub(super) is_set_up: bool,
    /// The server has acknowledged ours.
    pub(super) is_acknowledged: bool,
    pub(super) header_blocks: HeaderBlocks,
    pub(super) partial_block: PartialBlock,
    pub(super) request_blocks: RequestBlocks,
    pub(super) receive_window: ReceiveWindow,
    pub(super) send_window: SendWindow,
    /// Places whose requests wait for a stream.
    pub(super) waiting: VecDeque<u32>,
    /// Places whose bodies wait for a window.
    pub(super) blocked: Vec<u32>,
    pub(super) ended: VecDeque<(u32, StreamEnd)>,
    pub(super) go_away: Option<GoAway>,
    /// The number of PING and SETTINGS acknowledged since bytes left last.
    pub unsent_acknowledgements: u32,
    over: Option<Over>,
}

impl Http2Session {
    /// The client's preface is the first that leaves (RFC 9113 section 3.4). No request is sent before the server's settings
    /// have arrived: before that, neither its limit of streams nor its support of HTTP/2 is known.
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

    /// Bytes were received.
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

    /// The connection ended, or failed with this errno.
    pub fn end(&mut self, errno: Option<i32>) {
        if self.over.is_none() {
            self.finish(Over::Lost(errno));
        }
    }

    /// The server's SETTINGS_MAX_CONCURRENT_STREAMS, once known.
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

    /// While a connection is being set up, most failures mean that the server does not support HTTP/2.
    fn refusal(&self, over: Over) -> FailureCause {
        match (over, self.go_away) {
            (_, Some(GoAway { code, .. })) if code != ErrorCode::NO_ERROR => code.of_go_away(),
            (Over::Lost(Some(errno)), _) => FailureCause::from_errno(errno),
            (Over::Breach(cause), _) if self.is_set_up || cause == TLS_INSTEAD => cause,
            _ => NOT_HTTP2,
        }
    }

    /// Has the server broken the protocol?
    pub const fn is_breached(&self) -> bool {
        matches!(self.over, Some(Over::Breach(_)))
    }

    /// Does the connection take new requests? After a GOAWAY it only carries those it has.
    pub fn takes_requests(&mut self) -> bool {
        self.is_set_up && self.over.is_none() && self.go_away.is_none() && self.streams.next_id().is_some()
    }

    /// Did the server's GOAWAY come after a stream that it has taken? Each connection of such a server ends requests.
    pub fn has_taken_streams(&self) -> bool {
        self.go_away.is_some_and(|go_away| go_away.last_id > 0) && self.streams.next_id() != Some(1)
    }

    /// An acknowledgement is to be sent.
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

    /// The reader of the response of a stream that has just ended, where responses are read.
    pub fn reader(&mut self, place: u32) -> Option<&mut ResponseReader> {
        self.streams.at(place).reader.as_deref_mut()
    }

    /// When the final header of the last response of a stream arrived.
    pub fn head_ns(&self, place: u32) -> Nanos {
        self.streams.get(place).head_ns
    }

    /// Has the final header of the open stream's response arrived?
    pub fn has_head(&self, place: u32) -> bool {
        let stream = self.streams.get(place);
        matches!(stream.state, StreamState::Open) && stream.head.is_some()
    }

    /// Takes the bytes that are to be sent now.
    pub fn take_outgoing(&mut self, outgoing: &mut Vec<u8>) {
        outgoing.append(&mut self.outgoing);
    }

    /// Why a request cannot be sent over this connection.
    pub(super) fn not_sent(&self) -> NotSent {
        let cause = match (self.over, self.go_away) {
            (_, Some(go_away)) => go_away.code.of_go_away(),
            (Some(Over::Breach(cause)), None) => cause,
            (Some(Over::Lost(Some(errno))), None) => FailureCause::from_errno(errno),
            _ => FailureCause::ClosedBeforeAnswer,
        };
        NotSent { cause, again: Again::Send }
    }

    /// The connection is over, and with it all its streams.
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

    /// A request that waited for a stream gets none.
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
            // The server had begun to process it; its GOAWAY has the reason.
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
