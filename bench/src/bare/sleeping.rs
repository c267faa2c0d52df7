//! The floor of an open loop: it sleeps until the next request is due, sends it, reads the responses that have arrived
//! meanwhile, and sleeps again. With a lateness it sleeps that much longer and sends all that has become due.
//!
//! A generator that keeps to its schedule must wake for each request that is due by itself. This one does that and
//! nothing else: it never wakes for a response (and does not know when it arrived), parses nothing and records nothing but
//! how late it woke. What is left is one sleep, one send and one receive.

use super::{BareResult, REQUEST, cpu_us, ended};
use crate::server::answer::ANSWER;
use rustix::thread::{ClockId, clock_nanosleep_absolute};
use rustix::time::Timespec;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};
use threadcount_load::clock::{NANOS_PER_S, now_ns};
use threadcount_load::times::Times;

/// A request sent this long after it was due was delayed by the machine.
const LATE_NS: u64 = 1_000_000;
/// Timeout of responses after the last request.
const DRAIN_LIMIT: Duration = Duration::from_secs(5);

/// Sends `rate` requests a second, evenly spaced, over `connections` connections in turn, for `lasts`; those that fall due
/// within `lateness` of each other together, when the last of them is due.
///
/// # Errors
/// When the server cannot be reached or closes a connection.
pub fn run(
    address: SocketAddr,
    connections: u32,
    rate: u32,
    lasts: Duration,
    lateness: Duration,
) -> io::Result<BareResult> {
    let mut streams: Vec<TcpStream> =
        (0..connections.max(1)).map(|_| connect(address)).collect::<io::Result<_>>()?;
    let requests = u64::from(rate) * lasts.as_millis() as u64 / 1_000;
    let mut lags = Times::default();
    let mut late = 0;
    let mut bytes = 0;
    let started_ns = now_ns();
    let mut now = started_ns;
    for request in 0..requests {
        let due_ns = started_ns + request * NANOS_PER_S / u64::from(rate.max(1));
        if now < due_ns {
            sleep_until(due_ns + lateness.as_nanos() as u64)?;
            now = now_ns();
        }
        let lag_ns = now.saturating_sub(due_ns);
        lags.record_ns(lag_ns);
        late += u64::from(lag_ns > LATE_NS);
        let next = request as usize % streams.len();
        let before = (next + streams.len() - 1) % streams.len();
        streams[next].write_all(REQUEST)?;
        bytes += receive(&mut streams[before])?;
    }
    let seconds = (now_ns() - started_ns) as f64 / 1e9;
    let cpu_us = cpu_us();
    let missing = (requests * ANSWER.len() as u64).saturating_sub(bytes);
    bytes += drain(&mut streams, missing)?;
    let answers = bytes / ANSWER.len() as u64;
    Ok(BareResult {
        answers,
        seconds,
        cpu_us_per_request: cpu_us / answers.max(1) as f64,
        send_lag_p99_ms: lags.summary().map(|lags| lags.p99),
        late: Some(late),
    })
}

fn connect(address: SocketAddr) -> io::Result<TcpStream> {
    let stream = TcpStream::connect(address)?;
    stream.set_nodelay(true)?;
    stream.set_nonblocking(true)?;
    Ok(stream)
}

fn sleep_until(due_ns: u64) -> io::Result<()> {
    let due = Timespec { tv_sec: (due_ns / NANOS_PER_S) as i64, tv_nsec: (due_ns % NANOS_PER_S) as i64 };
    Ok(clock_nanosleep_absolute(ClockId::Monotonic, &due)?)
}

/// The bytes that have arrived, perhaps none.
fn receive(stream: &mut TcpStream) -> io::Result<u64> {
    match stream.read(&mut [0; 1_024]) {
        Ok(0) => Err(ended(0)),
        Ok(bytes) => Ok(bytes as u64),
        Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(0),
        Err(error) => Err(error),
    }
}

/// What is still on its way when the last request has been sent: waited for, but no longer measured.
fn drain(streams: &mut [TcpStream], missing: u64) -> io::Result<u64> {
    let give_up = Instant::now() + DRAIN_LIMIT;
    let mut bytes = 0;
    while bytes < missing && Instant::now() < give_up {
        for stream in &mut *streams {
            bytes += receive(stream)?;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    Ok(bytes)
}
