//! HTTP/2: one connection that many streams share (RFC 9113), driven by hand: no runtime, no socket.

use super::cause;
use super::pipe::Pipe;
use crate::failure::FailureCause;
use crate::response::MAX_KEPT_BYTES;
use bytes::Bytes;
use h2::client::{Builder, Connection, ResponseFuture, SendRequest};
use h2::{Reason, RecvStream};
use http::{HeaderMap, Request};
use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, Wake, Waker};

/// What a server may send before it hears from us again: enough that no response waits for it.
const STREAM_WINDOW_BYTES: u32 = 2 * 1024 * 1024;
const CONNECTION_WINDOW_BYTES: u32 = 16 * 1024 * 1024;

/// May the request go over another connection?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Again {
    /// No: it failed.
    Never,
    /// Yes, where the connection may have been closed as idle, and it counts as sent again (RFC 9112 section 9.3.1).
    IfIdleClose,
    /// Yes: the server says that it did not look at it (RFC 9113 section 8.7).
    Resend,
    /// Yes, and no byte of it left before.
    Send,
}

/// A complete response, where a load looks into it.
#[derive(Debug, Default)]
pub(crate) struct KeptResponse {
    pub headers: HeaderMap,
    pub body: Vec<u8>,
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
    /// Of the response, where one had begun.
    pub status: Option<u16>,
    pub again: Again,
}

/// A request that could not be handed to the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NotSent {
    pub cause: FailureCause,
    pub again: Again,
}

/// Why a connection is over.
#[derive(Clone, Copy, Debug)]
struct Closed {
    /// For whoever waits for it to be set up.
    while_opening: FailureCause,
    /// The server's GOAWAY said why.
    go_away: Option<FailureCause>,
}

enum Stage {
    Preface(Pin<Box<dyn Future<Output = Result<Halves, h2::Error>>>>),
    Running(Box<Halves>),
}

type Halves = (SendRequest<Bytes>, Connection<Pipe, Bytes>);

pub(super) struct Http2Session {
    pipe: Pipe,
    stage: Stage,
    streams: Vec<Stream>,
    ready: Arc<ReadyStreams>,
    ended: VecDeque<(u32, StreamEnd)>,
    closed: Option<Closed>,
}

struct Stream {
    state: StreamState,
    waker: Waker,
    /// The response that is being read; kept only where a load looks into it.
    kept: Option<Box<KeptResponse>>,
}

#[derive(Default)]
enum StreamState {
    #[default]
    Idle,
    /// The server takes no more streams for the moment.
    Waiting(Request<Bytes>),
    Sent {
        response: ResponseFuture,
        is_idempotent: bool,
    },
    Reading(Reading),
}

/// A response whose head has come.
struct Reading {
    status: u16,
    body: RecvStream,
    body_bytes: u64,
}

/// Which streams have something to look at, one bit each: looking at all of them for each frame would cost their square.
#[derive(Debug)]
struct ReadyStreams(Vec<AtomicU64>);

struct StreamWaker {
    ready: Arc<ReadyStreams>,
    stream: u32,
}

impl Wake for StreamWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.ready.0[self.stream as usize / 64].fetch_or(1 << (self.stream % 64), Ordering::Relaxed);
    }
}

impl Http2Session {
    /// The client's preface is the first that leaves (RFC 9113 section 3.4). No request is sent before the server's settings
    /// have come: before that nobody can know how many streams it takes, nor whether it speaks HTTP/2 at all.
    pub fn new(width: u32, keeps_responses: bool) -> Self {
        let pipe = Pipe::default();
        let mut builder = Builder::new();
        builder
            .enable_push(false)
            .initial_window_size(STREAM_WINDOW_BYTES)
            .initial_connection_window_size(CONNECTION_WINDOW_BYTES)
            .initial_max_send_streams(0);
        let end = pipe.clone();
        let handshake = async move { builder.handshake::<_, Bytes>(end).await };
        let ready = Arc::new(ReadyStreams((0..width.div_ceil(64)).map(|_| AtomicU64::new(0)).collect()));
        let stream = |stream| Stream {
            state: StreamState::Idle,
            waker: Waker::from(Arc::new(StreamWaker { ready: Arc::clone(&ready), stream })),
            kept: keeps_responses.then(Box::default),
        };
        let mut session = Self {
            pipe,
            stage: Stage::Preface(Box::pin(handshake)),
            streams: (0..width).map(stream).collect(),
            ready,
            ended: VecDeque::new(),
            closed: None,
        };
        session.turn();
        session
    }

    /// Bytes came.
    pub fn receive(&mut self, bytes: &[u8]) {
        self.pipe.put(bytes);
        self.turn();
    }

    /// The connection ended, or failed with this errno.
    pub fn end(&mut self, errno: Option<i32>) {
        self.pipe.end(errno);
        self.turn();
    }

    /// How many streams the server allows at once, once it has said so (SETTINGS_MAX_CONCURRENT_STREAMS).
    ///
    /// # Errors
    /// What kept the connection from being set up.
    pub fn open(&mut self) -> Result<Option<u32>, FailureCause> {
        match (&self.stage, self.closed) {
            (_, Some(closed)) => Err(closed.while_opening),
            (Stage::Preface(_), None) => Ok(None),
            (Stage::Running(halves), None) => {
                let most = halves.1.max_concurrent_send_streams();
                Ok((most > 0).then(|| most.min(self.streams.len()) as u32))
            }
        }
    }

    /// Does the connection take new requests? After a GOAWAY it only carries those it has.
    pub fn takes_requests(&mut self) -> bool {
        let mut cx = Context::from_waker(Waker::noop());
        match &mut self.stage {
            Stage::Running(halves) => {
                self.closed.is_none() && !matches!(halves.0.poll_ready(&mut cx), Poll::Ready(Err(_)))
            }
            Stage::Preface(_) => false,
        }
    }

    /// Begins a request on a stream that has none.
    ///
    /// # Errors
    /// It was not sent.
    pub fn send(&mut self, stream: u32, request: Request<Bytes>) -> Result<(), NotSent> {
        let begun = self.begin(stream, request)?;
        self.streams[stream as usize].state = begun;
        self.wake(stream);
        Ok(())
    }

    fn begin(&mut self, stream: u32, request: Request<Bytes>) -> Result<StreamState, NotSent> {
        let Stage::Running(halves) = &mut self.stage else { return Err(NotSent::elsewhere()) };
        let sender = &mut halves.0;
        let mut cx = Context::from_waker(&self.streams[stream as usize].waker);
        match sender.poll_ready(&mut cx) {
            Poll::Ready(Ok(())) => {}
            Poll::Ready(Err(error)) => return Err(NotSent::because(&error)),
            Poll::Pending => return Ok(StreamState::Waiting(request)),
        }
        let is_idempotent = request.method().is_idempotent();
        let (head, body) = request.into_parts();
        let (response, mut sending) = sender
            .send_request(Request::from_parts(head, ()), body.is_empty())
            .map_err(|error| NotSent::because(&error))?;
        if !body.is_empty() {
            // Where the server is done before it has read the body, its response says so.
            let _ = sending.send_data(body, true);
        }
        Ok(StreamState::Sent { response, is_idempotent })
    }

    /// Gives up what a stream waits for: the server is told with RST_STREAM.
    pub fn cancel(&mut self, stream: u32) {
        self.streams[stream as usize].state = StreamState::Idle;
        self.turn();
    }

    /// The next stream whose request has ended.
    pub fn next_end(&mut self) -> Option<(u32, StreamEnd)> {
        let (stream, end) = self.ended.pop_front()?;
        Some((stream, end.explained_by(self.closed)))
    }

    /// The response of a stream that has just ended, where responses are kept.
    pub fn kept(&self, stream: u32) -> Option<&KeptResponse> {
        self.streams[stream as usize].kept.as_deref()
    }

    /// Takes the bytes that are to be sent now.
    pub fn take_outgoing(&mut self, outgoing: &mut Vec<u8>) {
        self.turn();
        self.pipe.take_outgoing(outgoing);
    }

    fn wake(&self, stream: u32) {
        self.ready.0[stream as usize / 64].fetch_or(1 << (stream % 64), Ordering::Relaxed);
    }

    /// Reads what came and writes what is to be sent, until neither leads to anything.
    fn turn(&mut self) {
        loop {
            self.turn_connection();
            if !self.turn_streams() {
                return;
            }
        }
    }

    fn turn_connection(&mut self) {
        let mut cx = Context::from_waker(Waker::noop());
        if let Stage::Preface(handshake) = &mut self.stage {
            match handshake.as_mut().poll(&mut cx) {
                Poll::Ready(Ok(halves)) => self.stage = Stage::Running(Box::new(halves)),
                Poll::Ready(Err(error)) => self.closed = self.closed.or(Some(Closed::by(&error))),
                Poll::Pending => {}
            }
        }
        if let (Stage::Running(halves), None) = (&mut self.stage, self.closed) {
            match Pin::new(&mut halves.1).poll(&mut cx) {
                Poll::Ready(Ok(())) => self.closed = Some(Closed::by(&Reason::NO_ERROR.into())),
                Poll::Ready(Err(error)) => self.closed = Some(Closed::by(&error)),
                Poll::Pending => {}
            }
        }
    }

    /// Looks at the streams that have something. False: none had.
    fn turn_streams(&mut self) -> bool {
        let mut has_moved = false;
        for word in 0..self.ready.0.len() {
            let mut bits = self.ready.0[word].swap(0, Ordering::Relaxed);
            while bits != 0 {
                let stream = word as u32 * 64 + bits.trailing_zeros();
                bits &= bits - 1;
                has_moved = true;
                self.turn_stream(stream);
            }
        }
        has_moved
    }

    fn turn_stream(&mut self, number: u32) {
        let stream = &mut self.streams[number as usize];
        let waker = stream.waker.clone();
        let mut cx = Context::from_waker(&waker);
        let mut end = None;
        let state = match std::mem::take(&mut stream.state) {
            StreamState::Idle => StreamState::Idle,
            StreamState::Waiting(request) => match self.begin(number, request) {
                Ok(state) => {
                    if matches!(state, StreamState::Sent { .. }) {
                        // Its first look is what tells it whom to wake.
                        self.wake(number);
                    }
                    state
                }
                Err(NotSent { cause, again }) => {
                    end = Some(StreamEnd::Broken(Broken { cause, status: None, again }));
                    StreamState::Idle
                }
            },
            StreamState::Sent { mut response, is_idempotent } => {
                match Pin::new(&mut response).poll(&mut cx) {
                    Poll::Pending => StreamState::Sent { response, is_idempotent },
                    Poll::Ready(Err(error)) => {
                        end = Some(before_response(&error, is_idempotent));
                        StreamState::Idle
                    }
                    Poll::Ready(Ok(response)) => {
                        let status = response.status().as_u16();
                        let (head, body) = response.into_parts();
                        if let Some(kept) = &mut stream.kept {
                            kept.headers = head.headers;
                            kept.body.clear();
                        }
                        let reading = Reading { status, body, body_bytes: 0 };
                        reading.read(stream.kept.as_deref_mut(), &mut cx, &mut end)
                    }
                }
            }
            StreamState::Reading(reading) => reading.read(stream.kept.as_deref_mut(), &mut cx, &mut end),
        };
        self.streams[number as usize].state = state;
        if let Some(end) = end {
            self.ended.push_back((number, end));
        }
    }
}

impl Reading {
    /// Reads the body and its trailers as far as they have come, giving the server its window back.
    fn read(
        mut self,
        mut kept: Option<&mut KeptResponse>,
        cx: &mut Context<'_>,
        end: &mut Option<StreamEnd>,
    ) -> StreamState {
        loop {
            match self.body.poll_data(cx) {
                Poll::Pending => return StreamState::Reading(self),
                Poll::Ready(Some(Ok(data))) => {
                    self.body_bytes += data.len() as u64;
                    // It fails only for more than was received.
                    let _ = self.body.flow_control().release_capacity(data.len());
                    if let Some(kept) = &mut kept {
                        let room = MAX_KEPT_BYTES.saturating_sub(kept.body.len());
                        kept.body.extend_from_slice(&data[..data.len().min(room)]);
                    }
                }
                Poll::Ready(Some(Err(error))) => {
                    *end = Some(self.broken_by(&error));
                    return StreamState::Idle;
                }
                Poll::Ready(None) => break,
            }
        }
        *end = Some(match self.body.poll_trailers(cx) {
            Poll::Pending => return StreamState::Reading(self),
            Poll::Ready(Ok(_)) => StreamEnd::Complete { status: self.status, body_bytes: self.body_bytes },
            Poll::Ready(Err(error)) => self.broken_by(&error),
        });
        StreamState::Idle
    }

    fn broken_by(&self, error: &h2::Error) -> StreamEnd {
        let cause = cause::of_http2(error, true);
        StreamEnd::Broken(Broken { cause, status: Some(self.status), again: Again::Never })
    }
}

/// The stream ended before its response began. REFUSED_STREAM too says that the server did not look at it, but a server that
/// refuses under load is what a load is there to show.
fn before_response(error: &h2::Error, is_idempotent: bool) -> StreamEnd {
    let cause = cause::of_http2(error, false);
    let is_lost = matches!(cause, FailureCause::ClosedBeforeAnswer | FailureCause::ConnectionReset);
    let was_ignored = error.is_go_away() && error.is_remote() && error.reason() == Some(Reason::NO_ERROR);
    let again = match (was_ignored, is_lost && is_idempotent) {
        (true, _) => Again::Resend,
        (false, true) => Again::IfIdleClose,
        (false, false) => Again::Never,
    };
    StreamEnd::Broken(Broken { cause, status: None, again })
}

impl NotSent {
    pub(super) fn elsewhere() -> Self {
        Self { cause: FailureCause::ClosedBeforeAnswer, again: Again::Send }
    }

    fn because(error: &h2::Error) -> Self {
        let again = if error.is_go_away() || error.is_io() { Again::Send } else { Again::Never };
        Self { cause: cause::of_http2(error, false), again }
    }
}

impl Closed {
    fn by(error: &h2::Error) -> Self {
        let go_away = error.is_go_away().then(|| cause::of_http2(error, false));
        Self { while_opening: cause::of_http2_preface(error), go_away }
    }
}

impl StreamEnd {
    /// A stream that the server had begun to process only sees the connection end; the GOAWAY said why.
    fn explained_by(self, closed: Option<Closed>) -> Self {
        use FailureCause::{ClosedBeforeAnswer, ConnectionReset, TruncatedAnswer};
        match (self, closed.and_then(|closed| closed.go_away)) {
            (
                Self::Broken(Broken {
                    cause: ClosedBeforeAnswer | TruncatedAnswer | ConnectionReset,
                    status,
                    ..
                }),
                Some(cause),
            ) => Self::Broken(Broken { cause, status, again: Again::Never }),
            (end, _) => end,
        }
    }
}
