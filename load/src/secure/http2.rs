//! HTTP/2: one connection that many streams share (RFC 9113).

use super::cause;
use super::lane::{Again, Broken};
use super::transport::Transport;
use crate::failure::FailureCause;
use bytes::Bytes;
use h2::client::{Builder, Connection, SendRequest};
use h2::{Reason, RecvStream};
use http::header::{CONNECTION, CONTENT_LENGTH, HOST, TRANSFER_ENCODING};
use http::{HeaderValue, Request};
use std::cell::Cell;
use std::future::poll_fn;
use std::pin::Pin;
use std::rc::Rc;
use std::task::Poll;

/// What a server may send before it hears from us again: enough that no answer waits for it.
const STREAM_WINDOW_BYTES: u32 = 2 * 1024 * 1024;
const CONNECTION_WINDOW_BYTES: u32 = 16 * 1024 * 1024;

/// A connection. Clones share it.
#[derive(Clone)]
pub(super) struct Http2 {
    send: SendRequest<Bytes>,
    is_closed: Rc<Cell<bool>>,
    /// Tells one connection from another.
    pub number: u64,
}

impl Http2 {
    /// Exchanges the prefaces (RFC 9113 section 3.4). Ends when the server's settings have come: before that nobody can
    /// know how many streams it takes, nor whether it speaks HTTP/2 at all.
    pub async fn new(transport: Transport, number: u64) -> Result<Self, h2::Error> {
        let (send, mut connection) = Builder::new()
            .enable_push(false)
            .initial_window_size(STREAM_WINDOW_BYTES)
            .initial_connection_window_size(CONNECTION_WINDOW_BYTES)
            .initial_max_send_streams(0)
            .handshake::<_, Bytes>(transport)
            .await?;
        settings(&mut connection).await?;
        let is_closed = Rc::new(Cell::new(false));
        let closed = Rc::clone(&is_closed);
        tokio::task::spawn_local(async move {
            // How it ended is told to each of its streams.
            let _ = connection.await;
            closed.set(true);
        });
        Ok(Self { send, is_closed, number })
    }

    pub fn is_closed(&self) -> bool {
        self.is_closed.get()
    }

    /// How many streams the server allows at once (SETTINGS_MAX_CONCURRENT_STREAMS).
    pub fn max_streams(&self) -> usize {
        self.send.current_max_send_streams()
    }

    /// Sends a request, reads its answer to the end and returns the status.
    pub async fn exchange(&self, request: Request<Bytes>) -> Result<u16, Broken> {
        let is_idempotent = request.method().is_idempotent();
        let (head, body) = split(request);
        let not_sent = |error: h2::Error| Broken {
            cause: cause::of_http2(&error, false),
            status: None,
            again: if error.is_go_away() || error.is_io() { Again::Send } else { Again::Never },
        };
        let mut send = self.send.clone().ready().await.map_err(not_sent)?;
        let (answer, mut sending) = send.send_request(head, body.is_empty()).map_err(not_sent)?;
        if !body.is_empty() {
            // Where the server is done before it has read the body, its answer says so.
            let _ = sending.send_data(body, true);
        }
        let answer = answer.await.map_err(|error| before_answer(&error, is_idempotent))?;
        let status = answer.status().as_u16();
        match drain(answer.into_body()).await {
            Ok(()) => Ok(status),
            Err(error) => Err(Broken {
                cause: cause::of_http2(&error, true),
                status: Some(status),
                again: Again::Never,
            }),
        }
    }
}

/// Waits for the server's first SETTINGS frame, which raises the number of streams from the zero it was set to.
async fn settings(connection: &mut Connection<Transport, Bytes>) -> Result<(), h2::Error> {
    poll_fn(|cx| match Pin::new(&mut *connection).poll(cx) {
        Poll::Ready(Ok(())) => Poll::Ready(Err(Reason::NO_ERROR.into())),
        Poll::Ready(Err(error)) => Poll::Ready(Err(error)),
        Poll::Pending if connection.max_concurrent_send_streams() > 0 => Poll::Ready(Ok(())),
        Poll::Pending => Poll::Pending,
    })
    .await
}

/// Reads a body and its trailers, giving the server its window back.
async fn drain(mut body: RecvStream) -> Result<(), h2::Error> {
    while let Some(data) = body.data().await {
        let length = data?.len();
        // It fails only for more than was received.
        let _ = body.flow_control().release_capacity(length);
    }
    body.trailers().await.map(drop)
}

/// The stream ended before its answer began. A request that the server says it has not looked at may be sent again
/// whatever its method (RFC 9113 section 8.7); REFUSED_STREAM says so too, but a server that refuses under load is what
/// a load is there to show.
fn before_answer(error: &h2::Error, is_idempotent: bool) -> Broken {
    let cause = cause::of_http2(error, false);
    let is_lost = matches!(cause, FailureCause::ClosedBeforeAnswer | FailureCause::ConnectionReset);
    let was_ignored = error.is_go_away() && error.is_remote() && error.reason() == Some(Reason::NO_ERROR);
    let again = if was_ignored || (is_lost && is_idempotent) { Again::Resend } else { Again::Never };
    Broken { cause, status: None, again }
}

/// Head and body, without the headers that belong to an HTTP/1.1 connection (RFC 9113 section 8.2.2).
fn split(request: Request<Bytes>) -> (Request<()>, Bytes) {
    let (mut head, body) = request.into_parts();
    for name in ["keep-alive", "proxy-connection", "upgrade"] {
        head.headers.remove(name);
    }
    for name in [CONNECTION, TRANSFER_ENCODING, HOST] {
        head.headers.remove(name);
    }
    if !body.is_empty() && !head.headers.contains_key(CONTENT_LENGTH) {
        head.headers.insert(CONTENT_LENGTH, HeaderValue::from(body.len()));
    }
    (Request::from_parts(head, ()), body)
}
