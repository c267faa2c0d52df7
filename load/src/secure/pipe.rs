//! The byte stream that the h2 library reads and writes, held in memory.

use std::cell::RefCell;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Both directions of one connection. Clones share it.
#[derive(Clone, Debug, Default)]
pub(super) struct Pipe(Rc<RefCell<Ends>>);

#[derive(Debug, Default)]
struct Ends {
    incoming: Vec<u8>,
    /// How much of `incoming` has been read.
    read: usize,
    /// Why nothing will come after `incoming`; `None`: more may come.
    ended: Option<End>,
    outgoing: Vec<u8>,
}

#[derive(Clone, Copy, Debug)]
enum End {
    Closed,
    Failed(i32),
}

impl Pipe {
    /// Bytes came from the server.
    pub fn put(&self, bytes: &[u8]) {
        let mut ends = self.0.borrow_mut();
        if ends.read == ends.incoming.len() {
            ends.incoming.clear();
            ends.read = 0;
        }
        ends.incoming.extend_from_slice(bytes);
    }

    /// The server closed its side, or the connection failed with this errno.
    pub fn end(&self, errno: Option<i32>) {
        self.0.borrow_mut().ended = Some(errno.map_or(End::Closed, End::Failed));
    }

    /// Takes what is to be sent.
    pub fn take_outgoing(&self, taken: &mut Vec<u8>) {
        taken.append(&mut self.0.borrow_mut().outgoing);
    }
}

impl AsyncRead for Pipe {
    fn poll_read(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let mut ends = self.0.borrow_mut();
        let rest = &ends.incoming[ends.read..];
        let taken = rest.len().min(buffer.remaining());
        buffer.put_slice(&rest[..taken]);
        ends.read += taken;
        match ends.ended {
            _ if taken > 0 => Poll::Ready(Ok(())),
            None => Poll::Pending,
            Some(End::Closed) => Poll::Ready(Ok(())),
            Some(End::Failed(errno)) => Poll::Ready(Err(io::Error::from_raw_os_error(errno))),
        }
    }
}

impl AsyncWrite for Pipe {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.0.borrow_mut().outgoing.extend_from_slice(bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
