//! One HTTP/1.1 exchange at a time over a TLS connection.

use super::cause;
use super::lane::{Again, Broken};
use super::transport::Transport;
use crate::failure::FailureCause;
use crate::http1::{Answer, Parsed, ResponseParser};
use std::future::poll_fn;
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Room for one read. It lies on the stack, so that a silent connection costs no memory.
const READ_BYTES: usize = 16 * 1024;

/// A request as it goes over the wire.
#[derive(Clone, Debug)]
pub(super) struct Http1Request {
    pub bytes: Vec<u8>,
    pub is_head: bool,
    pub is_idempotent: bool,
}

/// A connection that carries one request at a time.
pub(super) struct Http1 {
    transport: Transport,
    parser: ResponseParser,
    written: usize,
    is_flushed: bool,
}

impl Http1 {
    pub fn new(transport: Transport) -> Self {
        Self { transport, parser: ResponseParser::new(), written: 0, is_flushed: false }
    }

    /// Sends a request and reads its answer. `keep_alive` of the answer: the connection may carry another request.
    pub async fn exchange(&mut self, request: &Http1Request) -> Result<Answer, Broken> {
        self.parser.begin(request.is_head);
        (self.written, self.is_flushed) = (0, false);
        poll_fn(|cx| self.poll_exchange(cx, request)).await
    }

    /// Did the server close the connection, or send something, while no request was on its way?
    pub fn idle_state(&mut self) -> Idle {
        let mut byte = [0; 1];
        let mut buffer = ReadBuf::new(&mut byte);
        let mut cx = Context::from_waker(std::task::Waker::noop());
        match Pin::new(&mut self.transport).poll_read(&mut cx, &mut buffer) {
            Poll::Pending => Idle::Ready,
            Poll::Ready(Ok(())) if !buffer.filled().is_empty() => Idle::UnaskedBytes,
            Poll::Ready(_) => Idle::Closed,
        }
    }

    fn poll_exchange(
        &mut self,
        cx: &mut Context<'_>,
        request: &Http1Request,
    ) -> Poll<Result<Answer, Broken>> {
        // A server may answer before it has read the request, and close: so a write that fails or waits does not keep
        // the answer from being read, and the read tells how the connection ended.
        self.poll_send(cx, &request.bytes);
        let mut bytes = [MaybeUninit::uninit(); READ_BYTES];
        loop {
            let mut buffer = ReadBuf::uninit(&mut bytes);
            let read = ready!(Pin::new(&mut self.transport).poll_read(cx, &mut buffer));
            let parsed = match read {
                Err(error) => {
                    let cause = cause::of_transfer(&error, self.parser.has_begun());
                    return Poll::Ready(Err(self.broken(cause, request)));
                }
                Ok(()) if buffer.filled().is_empty() => {
                    let ended =
                        self.parser.end_of_stream().map(|answer| Answer { keep_alive: false, ..answer });
                    return Poll::Ready(ended.map_err(|cause| self.broken(cause, request)));
                }
                Ok(()) => self.parser.feed(buffer.filled()),
            };
            match parsed {
                Ok(Parsed::More) => {}
                Ok(Parsed::Complete { answer, consumed }) => {
                    if consumed < buffer.filled().len() {
                        return Poll::Ready(Err(Broken::malformed(
                            "bytes nobody asked for",
                            Some(answer.status),
                        )));
                    }
                    let keep_alive = answer.keep_alive && self.written == request.bytes.len();
                    return Poll::Ready(Ok(Answer { keep_alive, ..answer }));
                }
                Err(how) => return Poll::Ready(Err(Broken::malformed(how.0, None))),
            }
        }
    }

    fn poll_send(&mut self, cx: &mut Context<'_>, bytes: &[u8]) {
        while self.written < bytes.len() {
            match Pin::new(&mut self.transport).poll_write(cx, &bytes[self.written..]) {
                Poll::Ready(Ok(written)) if written > 0 => self.written += written,
                _ => return,
            }
        }
        if !self.is_flushed {
            self.is_flushed = Pin::new(&mut self.transport).poll_flush(cx).is_ready();
        }
    }

    fn broken(&self, cause: FailureCause, request: &Http1Request) -> Broken {
        let is_lost = matches!(cause, FailureCause::ClosedBeforeAnswer | FailureCause::ConnectionReset);
        let again = match is_lost && !self.parser.has_begun() && request.is_idempotent {
            true => Again::Resend,
            false => Again::Never,
        };
        Broken { cause, status: None, again }
    }
}

/// What an idle connection is good for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Idle {
    /// The next request.
    Ready,
    /// Nothing: the server closed it.
    Closed,
    /// Nothing: the server sent what nobody asked for.
    UnaskedBytes,
}
