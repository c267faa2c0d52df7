//! The floor of a closed loop: 64 connections over io_uring that send the same bytes and count responses, without
//! reading them.
//!
//! It does what every generator must do (a send and a receive per request, a wake-up per response) and nothing else: no
//! parsing, no times, no failures. What is left is the kernel's TCP.
//!
//! All connections receive into one buffer, which is never read: it stays in the processor's cache for any number of them.

pub mod sleeping;
pub mod streams;

use crate::server::answer::{Answers, Reply};
use crate::server::ring::{POLL_FIRST, retry};
use io_uring::{IoUring, opcode, squeue, types};
use serde::{Deserialize, Serialize};
use std::io;
use std::net::{SocketAddr, TcpStream};
use std::os::fd::{AsRawFd, RawFd};
use std::time::Duration;
use threadcount_load::clock::now_ns;

const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";
/// The largest piece of a response that is received at once.
const LARGEST_BUFFER: usize = 64 * 1_024;

/// What the loop did. Printed as one JSON line.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct BareResult {
    /// Complete responses received.
    pub answers: u64,
    /// How long it ran.
    pub seconds: f64,
    /// CPU time of the whole process (user and system) per response.
    pub cpu_us_per_request: f64,
    /// How late it sent what was due, the 99th percentile in milliseconds; `None` of a loop without a schedule.
    pub send_lag_p99_ms: Option<f64>,
    /// How many it sent more than a millisecond late; `None` of a loop without a schedule.
    pub late: Option<u64>,
}

struct Connection {
    stream: TcpStream,
    /// Bytes received of the present response.
    received: usize,
}

/// Sends over `connections` connections for `lasts` and counts the responses, whose bodies are `body` bytes long.
///
/// # Errors
/// When the server cannot be reached, closes a connection, or the kernel does not allow io_uring.
pub fn run(address: SocketAddr, connections: u32, lasts: Duration, body: usize) -> io::Result<BareResult> {
    let answer = Answers::with_body(body).bytes(Reply::Keep).len();
    let mut buffer = vec![0; answer.next_power_of_two().clamp(1_024, LARGEST_BUFFER)];
    let mut ring = ring_for(connections)?;
    let mut connections: Vec<Connection> =
        (0..connections).map(|_| connect(address)).collect::<io::Result<_>>()?;
    let files: Vec<RawFd> = connections.iter().map(|c| c.stream.as_raw_fd()).collect();
    ring.submitter().register_files(&files)?;
    for at in 0..connections.len() {
        ask(&mut ring, at, &mut buffer)?;
    }
    closed_loop(&mut ring, lasts, |ring, at, bytes| {
        let connection = &mut connections[at];
        connection.received += bytes;
        if connection.received < answer {
            push(ring, &receive(at, &mut buffer))?;
            return Ok(0);
        }
        connection.received -= answer;
        ask(ring, at, &mut buffer)?;
        Ok(1)
    })
}

/// A ring with room for a send and a receive of each connection.
fn ring_for(connections: u32) -> io::Result<IoUring> {
    IoUring::builder()
        .setup_single_issuer()
        .setup_defer_taskrun()
        .build((connections * 2).next_power_of_two())
}

/// Passes each receive to `received` (connection, bytes), which returns how many responses it completed, until `lasts`
/// is over.
fn closed_loop(
    ring: &mut IoUring,
    lasts: Duration,
    mut received: impl FnMut(&mut IoUring, usize, usize) -> io::Result<u64>,
) -> io::Result<BareResult> {
    let start = now_ns();
    let end = start + lasts.as_nanos() as u64;
    let mut answers = 0;
    let mut completions = Vec::with_capacity(ring.params().cq_entries() as usize);
    while now_ns() < end {
        retry(|| ring.submit_and_wait(1))?;
        completions.extend(ring.completion().map(|c| (c.user_data(), c.result())));
        for (at, result) in completions.drain(..) {
            if result <= 0 {
                return Err(ended(result));
            }
            answers += received(ring, at as usize, result as usize)?;
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

fn connect(address: SocketAddr) -> io::Result<Connection> {
    let stream = TcpStream::connect(address)?;
    stream.set_nodelay(true)?;
    Ok(Connection { stream, received: 0 })
}

fn ask(ring: &mut IoUring, at: usize, buffer: &mut [u8]) -> io::Result<()> {
    let send = opcode::Send::new(types::Fixed(at as u32), REQUEST.as_ptr(), REQUEST.len() as u32)
        .flags(libc::MSG_NOSIGNAL)
        .build()
        .flags(squeue::Flags::SKIP_SUCCESS)
        .user_data(at as u64);
    push(ring, &send)?;
    push(ring, &receive(at, buffer))
}

fn receive(at: usize, buffer: &mut [u8]) -> squeue::Entry {
    opcode::Recv::new(types::Fixed(at as u32), buffer.as_mut_ptr(), buffer.len() as u32)
        .ioprio(POLL_FIRST)
        .build()
        .user_data(at as u64)
}

fn push(ring: &mut IoUring, entry: &squeue::Entry) -> io::Result<()> {
    // SAFETY: a request is static, or is sent before it is written again, because a send of so few bytes completes when
    // it is submitted (`streams`). The buffer is a vector that neither grows nor moves while the ring lives, and is
    // read (`streams`) only when its receive has completed.
    unsafe { ring.submission().push(entry) }.map_err(io::Error::other)
}

fn ended(result: i32) -> io::Error {
    match result {
        0 => io::Error::new(io::ErrorKind::UnexpectedEof, "the server closed a connection"),
        errno => io::Error::from_raw_os_error(-errno),
    }
}

/// CPU time of this process so far, in microseconds.
fn cpu_us() -> f64 {
    // SAFETY: getrusage only fills the structure on this stack frame, for which zero bytes are a valid value.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_SELF, &raw mut usage);
        usage
    };
    let us = |t: libc::timeval| t.tv_sec as f64 * 1e6 + t.tv_usec as f64;
    us(usage.ru_utime) + us(usage.ru_stime)
}
