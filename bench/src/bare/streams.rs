//! The floor of a closed loop over HTTP/2 in the clear: frames that are written once and patched with the stream's number.
//!
//! Of what it receives it reads the heads of the frames, and counts those that end a stream. What is left is the kernel's
//! TCP, shared by all streams of a connection.

use super::{BareResult, LARGEST_BUFFER, closed_loop, connect, push, ring_for};
use crate::server::ring::POLL_FIRST;
use io_uring::{opcode, squeue, types};
use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsRawFd, RawFd};
use std::time::Duration;

/// What a client sends first (RFC 9113).
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// An empty SETTINGS frame, the acknowledgement of the server's, and a window on the connection that never fills.
const SETUP: &[u8] = b"\0\0\0\x04\0\0\0\0\0\0\0\0\x04\x01\0\0\0\0\0\0\x04\x08\0\0\0\0\0\x7f\xfe\0\0";
/// HEADERS of `GET http://127.0.0.1/`, which ends both the block and the stream; the last four bytes of its head are the
/// stream's number.
const REQUEST: &[u8] = b"\0\0\x0e\x01\x05\0\0\0\0\x82\x84\x86\x01\x09127.0.0.1";
const STREAM_AT: usize = 5;
const FRAME_HEAD: usize = 9;
/// The types of the frames that may end a stream, and the flag that says so.
const DATA: u8 = 0;
const HEADERS: u8 = 1;
const END_STREAM: u8 = 1;

/// One connection with its streams.
struct Connection {
    fd: RawFd,
    next_stream: u32,
    frames: Frames,
    buffer: Vec<u8>,
    /// Bytes being sent; the next send is made only when responses to the last one have begun to arrive.
    request: Vec<u8>,
}

impl Connection {
    /// The requests on the next streams.
    fn ask(&mut self, requests: usize) -> squeue::Entry {
        self.request.clear();
        self.push_requests(requests);
        self.send()
    }

    fn push_requests(&mut self, requests: usize) {
        for _ in 0..requests {
            let begin = self.request.len();
            self.request.extend_from_slice(REQUEST);
            self.request[begin + STREAM_AT..begin + STREAM_AT + 4]
                .copy_from_slice(&self.next_stream.to_be_bytes());
            self.next_stream += 2;
        }
    }

    fn send(&self) -> squeue::Entry {
        opcode::Send::new(types::Fd(self.fd), self.request.as_ptr(), self.request.len() as u32)
            .flags(libc::MSG_NOSIGNAL | libc::MSG_WAITALL)
            .build()
            .flags(squeue::Flags::SKIP_SUCCESS)
    }

    fn receive(&mut self, at: usize) -> squeue::Entry {
        opcode::Recv::new(types::Fd(self.fd), self.buffer.as_mut_ptr(), self.buffer.len() as u32)
            .ioprio(POLL_FIRST)
            .build()
            .user_data(at as u64)
    }
}

/// Reads frames in whatever pieces they arrive.
#[derive(Debug, Default)]
struct Frames {
    head: [u8; FRAME_HEAD],
    filled: usize,
    /// Bytes to come of the present frame's payload.
    payload: usize,
}

impl Frames {
    /// How many streams end in these bytes.
    fn ended(&mut self, mut bytes: &[u8]) -> usize {
        let mut ended = 0;
        while !bytes.is_empty() {
            let skipped = self.payload.min(bytes.len());
            self.payload -= skipped;
            let taken = (FRAME_HEAD - self.filled).min(bytes.len() - skipped);
            self.head[self.filled..self.filled + taken].copy_from_slice(&bytes[skipped..skipped + taken]);
            self.filled += taken;
            bytes = &bytes[skipped + taken..];
            if self.filled == FRAME_HEAD {
                let [high, middle, low, kind, flags, ..] = self.head;
                self.payload = usize::from(high) << 16 | usize::from(middle) << 8 | usize::from(low);
                self.filled = 0;
                ended += usize::from(matches!(kind, DATA | HEADERS) && flags & END_STREAM != 0);
            }
        }
        ended
    }
}

/// Sends over `connections` connections with `streams` streams each for `lasts`, and counts the responses.
///
/// # Errors
/// When the server cannot be reached, closes a connection, or the kernel does not allow io_uring.
pub fn run(address: SocketAddr, connections: u32, streams: u32, lasts: Duration) -> io::Result<BareResult> {
    let sockets = (0..connections).map(|_| connect(address)).collect::<io::Result<Vec<_>>>()?;
    let mut connections: Vec<Connection> = sockets
        .iter()
        .map(|socket| Connection {
            fd: socket.stream.as_raw_fd(),
            next_stream: 1,
            frames: Frames::default(),
            buffer: vec![0; LARGEST_BUFFER],
            request: [PREFACE, SETUP].concat(),
        })
        .collect();
    let mut ring = ring_for(connections.len() as u32)?;
    for (at, connection) in connections.iter_mut().enumerate() {
        connection.push_requests(streams as usize);
        push(&mut ring, &connection.send())?;
        push(&mut ring, &connection.receive(at))?;
    }
    closed_loop(&mut ring, lasts, |ring, at, bytes| {
        let connection = &mut connections[at];
        let completed = connection.frames.ended(&connection.buffer[..bytes]);
        if completed > 0 {
            push(ring, &connection.ask(completed))?;
        }
        push(ring, &connection.receive(at))?;
        Ok(completed as u64)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_request_has_a_stream_of_its_own() {
        let (frames, buffer, request) = (Frames::default(), Vec::new(), Vec::new());
        let mut connection = Connection { fd: -1, next_stream: 1, frames, buffer, request };
        connection.push_requests(2);
        assert_eq!(connection.request.len(), 2 * REQUEST.len());
        assert_eq!(connection.request[5..9], [0, 0, 0, 1]);
        assert_eq!(connection.request[REQUEST.len() + 5..REQUEST.len() + 9], [0, 0, 0, 3]);
        assert_eq!(usize::from(REQUEST[2]), REQUEST.len() - 9, "the frame's length is that of its block");
    }

    #[test]
    fn ended_streams_are_counted_however_the_bytes_are_split() {
        let settings_acknowledged = b"\0\0\0\x04\x01\0\0\0\0";
        let headers = b"\0\0\x01\x01\x04\0\0\0\x01\x88";
        let data = b"\0\0\x02\0\x01\0\0\0\x01ok";
        let bytes = [&settings_acknowledged[..], headers, data, headers, data].concat();
        for piece in 1..=bytes.len() {
            let mut frames = Frames::default();
            let ended: usize = bytes.chunks(piece).map(|piece| frames.ended(piece)).sum();
            assert_eq!(ended, 2, "in pieces of {piece}");
        }
    }
}
