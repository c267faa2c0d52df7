//! A connection's bytes, in the clear or inside TLS, and how many of them went each way.

use crate::outcome::Bytes;
use std::cell::Cell;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::client::TlsStream;

/// What one thread's connections carried, for TLS without its own bytes.
#[derive(Debug, Default)]
pub(super) struct Traffic {
    sent: Cell<u64>,
    received: Cell<u64>,
}

impl Traffic {
    pub fn bytes(&self) -> Bytes {
        Bytes { sent: self.sent.get(), received: self.received.get() }
    }
}

/// One connection.
pub(super) struct Transport {
    stream: Stream,
    traffic: Rc<Traffic>,
}

/// The bytes' way.
pub(super) enum Stream {
    Plain(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
}

impl Transport {
    pub fn new(stream: Stream, traffic: Rc<Traffic>) -> Self {
        Self { stream, traffic }
    }
}

impl AsyncRead for Transport {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let transport = self.get_mut();
        let before = buffer.filled().len();
        let polled = match &mut transport.stream {
            Stream::Plain(stream) => Pin::new(stream).poll_read(cx, buffer),
            Stream::Tls(stream) => Pin::new(stream).poll_read(cx, buffer),
        };
        let read = (buffer.filled().len() - before) as u64;
        transport.traffic.received.update(|bytes| bytes + read);
        polled
    }
}

impl AsyncWrite for Transport {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let transport = self.get_mut();
        let polled = match &mut transport.stream {
            Stream::Plain(stream) => Pin::new(stream).poll_write(cx, bytes),
            Stream::Tls(stream) => Pin::new(stream).poll_write(cx, bytes),
        };
        if let Poll::Ready(Ok(written)) = polled {
            transport.traffic.sent.update(|bytes| bytes + written as u64);
        }
        polled
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.get_mut().stream {
            Stream::Plain(stream) => Pin::new(stream).poll_flush(cx),
            Stream::Tls(stream) => Pin::new(stream).poll_flush(cx),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.get_mut().stream {
            Stream::Plain(stream) => Pin::new(stream).poll_shutdown(cx),
            Stream::Tls(stream) => Pin::new(stream).poll_shutdown(cx),
        }
    }
}
