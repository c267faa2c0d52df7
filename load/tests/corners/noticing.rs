//! Streams for tests that notice how they end, or end in one particular way.

use crate::reply::Closing;
use std::cell::Cell;
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// A TLS stream that counts whether the other side cut it off, without close_notify.
pub struct Noticing<'c, S> {
    pub stream: S,
    pub cut_off: &'c AtomicU32,
}

impl<S: AsyncRead + Unpin> AsyncRead for Noticing<'_, S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let read = Pin::new(&mut self.stream).poll_read(context, buffer);
        let is_cut = |error: &io::Error| error.kind() == io::ErrorKind::UnexpectedEof;
        if matches!(&read, Poll::Ready(Err(error)) if is_cut(error)) {
            self.cut_off.fetch_add(1, Ordering::SeqCst);
        }
        read
    }
}

/// A GOAWAY without an error, which retires no stream (RFC 9113 section 6.8).
const GO_AWAY: [u8; 17] = [0, 0, 8, 7, 0, 0, 0, 0, 0, 0x7F, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0];

/// A stream that can close only its side of TLS or HTTP/2 while it is still read.
pub struct Ending<'c, S> {
    pub stream: S,
    /// The way of closing, which the next read carries out.
    pub closing: &'c Cell<Option<Closing>>,
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for Ending<'_, S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.closing.get() {
            Some(Closing::CloseNotify) => ready!(Pin::new(&mut self.stream).poll_shutdown(context))?,
            Some(Closing::GoAway) => {
                let written = ready!(Pin::new(&mut self.stream).poll_write(context, &GO_AWAY))?;
                assert_eq!(written, GO_AWAY.len());
                let _ = Pin::new(&mut self.stream).poll_flush(context);
            }
            Some(Closing::Fin) | None => {}
        }
        self.closing.set(None);
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

/// A stream below TLS that stays open when TLS ends.
pub struct StaysOpen<S>(pub S);

impl<S: AsyncRead + Unpin> AsyncRead for StaysOpen<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(context, buffer)
    }
}

/// Passes writes on to the inner stream.
macro_rules! writes_to {
    ($stream:ty, $inside:tt, $shutdown:ident) => {
        impl<S: AsyncWrite + Unpin> AsyncWrite for $stream {
            fn poll_write(
                mut self: Pin<&mut Self>,
                context: &mut Context<'_>,
                bytes: &[u8],
            ) -> Poll<io::Result<usize>> {
                Pin::new(&mut self.$inside).poll_write(context, bytes)
            }

            fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
                Pin::new(&mut self.$inside).poll_flush(context)
            }

            fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
                Pin::new(&mut self.$inside).$shutdown(context)
            }
        }
    };
}

writes_to!(Noticing<'_, S>, stream, poll_shutdown);
writes_to!(Ending<'_, S>, stream, poll_shutdown);
writes_to!(StaysOpen<S>, 0, poll_flush);
