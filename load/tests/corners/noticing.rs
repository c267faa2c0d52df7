//! A stream that notices how it ends.

use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// A TLS stream that counts when the other side cuts it off, without close_notify.
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

impl<S: AsyncWrite + Unpin> AsyncWrite for Noticing<'_, S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
