//! Bytes in and out of a connection, in the clear or over TLS, without ever waiting.

use rustls::{ServerConfig, ServerConnection};
use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;

/// A connection's bytes.
pub enum Transport {
    /// As they are.
    Plain(TcpStream),
    /// Encrypted.
    Tls(Box<TlsStream>),
}

/// A connection and its TLS session.
pub struct TlsStream {
    stream: TcpStream,
    session: ServerConnection,
}

impl Transport {
    /// A transport over `stream`, which no longer waits from now on.
    ///
    /// # Errors
    /// When the kernel or TLS refuses.
    pub fn new(stream: TcpStream, tls: Option<&Arc<ServerConfig>>) -> io::Result<Self> {
        stream.set_nonblocking(true)?;
        stream.set_nodelay(true)?;
        let Some(config) = tls else { return Ok(Self::Plain(stream)) };
        let session = ServerConnection::new(Arc::clone(config)).map_err(io::Error::other)?;
        Ok(Self::Tls(Box::new(TlsStream { stream, session })))
    }

    /// Appends to `unread` what has arrived; false: the peer has closed.
    ///
    /// # Errors
    /// `WouldBlock` when nothing has arrived; anything else ends the connection.
    pub fn read(&mut self, chunk: &mut [u8], unread: &mut Vec<u8>) -> io::Result<bool> {
        match self {
            Self::Plain(stream) => {
                let read = stream.read(chunk)?;
                unread.extend_from_slice(&chunk[..read]);
                Ok(read > 0)
            }
            Self::Tls(tls) => tls.read(chunk, unread),
        }
    }

    /// Writes all of it.
    ///
    /// # Errors
    /// Also when the socket takes less: the responses are far smaller than its buffer, so the peer does not read.
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::Plain(stream) => {
                let written = stream.write(bytes)?;
                if written == bytes.len() { Ok(()) } else { Err(ErrorKind::WriteZero.into()) }
            }
            Self::Tls(tls) => {
                tls.session.writer().write_all(bytes)?;
                tls.flush()
            }
        }
    }
}

impl TlsStream {
    fn read(&mut self, chunk: &mut [u8], unread: &mut Vec<u8>) -> io::Result<bool> {
        let read = self.session.read_tls(&mut self.stream)?;
        let processed = self.session.process_new_packets();
        // The messages of the handshake, or an alert.
        self.flush()?;
        processed.map_err(io::Error::other)?;
        loop {
            match self.session.reader().read(chunk) {
                Ok(0) => return Ok(false),
                Ok(decrypted) => unread.extend_from_slice(&chunk[..decrypted]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(read > 0),
                Err(error) => return Err(error),
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        while self.session.wants_write() {
            self.session.write_tls(&mut self.stream)?;
        }
        Ok(())
    }
}

impl AsFd for Transport {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Plain(stream) => stream.as_fd(),
            Self::Tls(tls) => tls.stream.as_fd(),
        }
    }
}
