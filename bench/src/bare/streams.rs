//! The floor of a closed loop over HTTP/2 in the clear: frames that are written once and patched with the stream's number.
//!
//! It knows the server beside it: each answer has the same length, so it counts bytes and reads no frame. What is left is
//! the kernel's TCP, shared by all streams of a connection.

use super::{BareResult, LARGEST_BUFFER, connect, cpu_us, ended};
use crate::server::h2::{ANSWER_BYTES, GREETING_BYTES, PREFACE};
use crate::server::ring::{POLL_FIRST, retry};
use io_uring::{IoUring, opcode, squeue, types};
use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsRawFd, RawFd};
use std::time::Duration;
use threadcount_load::clock::now_ns;

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
    /// Bytes of answers that have come and belong to one that is not complete.
    received: usize,
    /// Bytes that come before the first answer.
    greeting: usize,
    /// What is on its way to the kernel; a new send is made only when all answers to the last one have begun to come.
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

    /// How many answers are complete with these bytes.
    fn completed(&mut self, bytes: usize) -> usize {
        let greeting = self.greeting.min(bytes);
        self.greeting -= greeting;
        self.received += bytes - greeting;
        let completed = self.received / ANSWER_BYTES;
        self.received %= ANSWER_BYTES;
        completed
    }
}

/// Sends over `connections` connections with `streams` streams each for `lasts`, and counts the answers.
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
    let mut ring = IoUring::builder()
        .setup_single_issuer()
        .setup_defer_taskrun()
        .build((connections.len() as u32 * 2).next_power_of_two())?;
    for (at, connection) in connections.iter_mut().enumerate() {
        connection.push_requests(streams as usize);
        push(&mut ring, &connection.send())?;
        push(&mut ring, &receive(at, connection.fd, &mut buffer))?;
    }
    let start = now_ns();
    let end = start + lasts.as_nanos() as u64;
    let mut answers = 0;
    let mut came = Vec::with_capacity(connections.len() * 2);
    while now_ns() < end {
        retry(|| ring.submit_and_wait(1))?;
        came.extend(ring.completion().map(|c| (c.user_data(), c.result())));
        for (at, result) in came.drain(..) {
            if result <= 0 {
                return Err(ended(result));
            }
            let connection = &mut connections[at as usize];
            let completed = connection.completed(result as usize);
            answers += completed as u64;
            if completed > 0 {
                push(&mut ring, &connection.ask(completed))?;
            }
            push(&mut ring, &receive(at as usize, connection.fd, &mut buffer))?;
        }
    }
    Ok(BareResult {
        answers,
        seconds: (now_ns() - start) as f64 / 1e9,
        cpu_us_per_request: cpu_us() / answers.max(1) as f64,
        send_lag_p99_ms: None,
        late: None,
    })
}

fn receive(at: usize, fd: RawFd, buffer: &mut [u8]) -> squeue::Entry {
    opcode::Recv::new(types::Fd(fd), buffer.as_mut_ptr(), buffer.len() as u32)
        .ioprio(POLL_FIRST)
        .build()
        .user_data(at as u64)
}

fn push(ring: &mut IoUring, entry: &squeue::Entry) -> io::Result<()> {
    // SAFETY: a connection's request is sent before it is written again: a send of so few bytes completes when it is
    // submitted. The buffer is a vector that neither grows nor moves while the ring lives, and what the kernel writes there
    // is never read.
    unsafe { ring.submission().push(entry) }.map_err(io::Error::other)
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
