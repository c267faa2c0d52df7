//! The floor of a closed loop over HTTP/2 in the clear: frames that are written once and patched with the stream's number.
//!
//! The server is known: each response has the same length, so it counts bytes and reads no frame. What is left is
//! the kernel's TCP, shared by all streams of a connection.

use super::{BareResult, LARGEST_BUFFER, closed_loop, connect, push, ring_for};
use crate::server::h2::{ANSWER_BYTES, GREETING_BYTES, PREFACE};
use crate::server::ring::POLL_FIRST;
use io_uring::{opcode, squeue, types};
use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsRawFd, RawFd};
use std::time::Duration;

/// An empty SETTINGS frame, the acknowledgement of the server's, and a window on the connection that never fills.
const SETUP: &[u8] = b"\0\0\0\x04\0\0\0\0\0\0\0\0\x04\x01\0\0\0\0\0\0\x04\x08\0\0\0\0\0\x7f\xfe\0\0";
/// HEADERS of `GET http://127.0.0.1/`, which ends both the block and the stream; the last four bytes of its head are the
/// stream's number.
const REQUEST: &[u8] = b"\0\0\x0e\x01\x05\0\0\0\0\x82\x84\x86\x01\x09127.0.0.1";
const STREAM_AT: usize = 5;

/// One connection with its streams.
struct Connection {
    fd: RawFd,
    next_stream: u32,
    /// Bytes received of a response that is not complete.
    received: usize,
    /// Bytes that precede the first response.
    greeting: usize,
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

    /// How many responses are complete with these bytes.
    fn completed(&mut self, bytes: usize) -> usize {
        let greeting = self.greeting.min(bytes);
        self.greeting -= greeting;
        self.received += bytes - greeting;
        let completed = self.received / ANSWER_BYTES;
        self.received %= ANSWER_BYTES;
        completed
    }
}

/// Sends over `connections` connections with `streams` streams each for `lasts`, and counts the responses.
///
/// # Errors
/// When the server cannot be reached, closes a connection, or the kernel does not allow io_uring.
pub fn run(address: SocketAddr, connections: u32, streams: u32, lasts: Duration) -> io::Result<BareResult> {
    let mut buffer = vec![0; LARGEST_BUFFER];
    let sockets = (0..connections).map(|_| connect(address)).collect::<io::Result<Vec<_>>>()?;
    let mut connections: Vec<Connection> = sockets
        .iter()
        .map(|socket| Connection {
            fd: socket.stream.as_raw_fd(),
            next_stream: 1,
            received: 0,
            greeting: GREETING_BYTES,
            request: [PREFACE, SETUP].concat(),
        })
        .collect();
    let mut ring = ring_for(connections.len() as u32)?;
    for (at, connection) in connections.iter_mut().enumerate() {
        connection.push_requests(streams as usize);
        push(&mut ring, &connection.send())?;
        push(&mut ring, &receive(at, connection.fd, &mut buffer))?;
    }
    closed_loop(&mut ring, lasts, |ring, at, bytes| {
        let connection = &mut connections[at];
        let completed = connection.completed(bytes);
        if completed > 0 {
            push(ring, &connection.ask(completed))?;
        }
        push(ring, &receive(at, connection.fd, &mut buffer))?;
        Ok(completed as u64)
    })
}

fn receive(at: usize, fd: RawFd, buffer: &mut [u8]) -> squeue::Entry {
    opcode::Recv::new(types::Fd(fd), buffer.as_mut_ptr(), buffer.len() as u32)
        .ioprio(POLL_FIRST)
        .build()
        .user_data(at as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn connection() -> Connection {
        Connection { fd: -1, next_stream: 1, received: 0, greeting: 24, request: Vec::new() }
    }

    #[test]
    fn each_request_has_a_stream_of_its_own() {
        let mut connection = connection();
        connection.push_requests(2);
        assert_eq!(connection.request.len(), 2 * REQUEST.len());
        assert_eq!(connection.request[5..9], [0, 0, 0, 1]);
        assert_eq!(connection.request[REQUEST.len() + 5..REQUEST.len() + 9], [0, 0, 0, 3]);
        assert_eq!(usize::from(REQUEST[2]), REQUEST.len() - 9, "the frame's length is that of its block");
    }

    #[test]
    fn answers_are_counted_by_their_bytes_however_they_are_split() {
        let mut connection = connection();
        assert_eq!(connection.completed(10), 0);
        assert_eq!(connection.completed(14 + ANSWER_BYTES - 1), 0);
        assert_eq!(connection.completed(1 + 2 * ANSWER_BYTES), 3);
    }
}
