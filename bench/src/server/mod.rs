//! The servers: they return the same response to each request, at a known time, and count.
//!
//! [`ring`] responds at once over io_uring and is as cheap as possible, because every microsecond it burns limits the
//! generator on the other core. [`paced`] responds at the times of a [`Pace`], over epoll. Both are single-threaded and
//! speak HTTP/1.1 without TLS; [`nginx`](crate::nginx) does the rest.

pub mod answer;
pub mod lateness;
pub mod pace;
pub mod paced;
pub mod ring;
pub mod stop;

pub use pace::{Pace, Stall};

use crate::server::answer::{ANSWER, Answers, Reply};
use crate::server::stop::StopSignal;
use crate::tool::Quantiles;
use serde::{Deserialize, Serialize};
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::os::fd::AsRawFd;
use threadcount_load::times::Times;

/// What a server does.
#[derive(Clone, Debug, Default)]
pub struct Service {
    /// When it responds.
    pub pace: Pace,
    /// The response.
    pub answers: Answers,
    /// The rate of the load, to compute its lateness.
    pub asked_rate: Option<u32>,
}

/// What a server did. Printed as one JSON line when it is stopped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Served {
    /// Well-formed requests received.
    pub requests: u64,
    /// Answers written.
    pub answers: u64,
    /// The most connections that were open at once.
    pub connections: u64,
    /// Malformed requests; each got a 400 and a close.
    pub refused: u64,
    /// From the first request to the last response: whole waves when many connections ask at once.
    pub seconds: f64,
    /// Answers per second over `seconds`.
    pub rate_per_s: f64,
    /// Time from reading a request to writing its response, in milliseconds. Only of
    /// responses at known times.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub held_ms: Option<Quantiles>,
    /// How late requests arrived against the even schedule of the requested rate, in milliseconds. Only where a rate
    /// was named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lateness_ms: Option<Quantiles>,
}

/// The counting while it serves.
#[derive(Debug, Default)]
struct Counts {
    requests: u64,
    answers: u64,
    refused: u64,
    open: u64,
    most_open: u64,
    first_ns: Option<u64>,
    last_answer_ns: u64,
    held: Times,
    /// When requests arrived, and the rate at which they were to; only where lateness is wanted.
    arrivals: Option<(u32, Vec<u64>)>,
}

impl Counts {
    fn of(service: &Service) -> Self {
        Self { arrivals: service.asked_rate.map(|rate| (rate, Vec::new())), ..Self::default() }
    }

    /// Counts a request that arrived at `now_ns`; returns how many arrived before it.
    fn received(&mut self, reply: Reply, now_ns: u64) -> u64 {
        self.first_ns.get_or_insert(now_ns);
        let before = self.requests + self.refused;
        if reply == Reply::Refuse {
            self.refused += 1;
        } else {
            self.requests += 1;
            if let Some((_, arrivals)) = &mut self.arrivals {
                arrivals.push(now_ns);
            }
        }
        before
    }

    fn opened(&mut self) {
        self.open += 1;
        self.most_open = self.most_open.max(self.open);
    }

    fn closed(&mut self) {
        self.open -= 1;
    }

    fn answered(&mut self, reply: Reply, now_ns: u64) {
        if reply != Reply::Refuse {
            self.answers += 1;
            self.last_answer_ns = now_ns;
        }
    }

    /// A response was written at `now_ns` whose request was read at `came_ns`.
    fn held(&mut self, came_ns: u64, now_ns: u64) {
        self.held.record_ns(now_ns.saturating_sub(came_ns));
    }

    fn served(&self) -> Served {
        let ns = self.first_ns.map_or(0, |first| self.last_answer_ns.saturating_sub(first));
        let seconds = ns as f64 / 1e9;
        let rate_per_s = if ns == 0 { 0.0 } else { self.answers as f64 / seconds };
        let &Self { requests, answers, refused, most_open, .. } = self;
        let held_ms = self.held.summary().map(Quantiles::from);
        let lateness_ms =
            self.arrivals.as_ref().and_then(|(rate, arrivals)| lateness::lateness(arrivals, *rate));
        Served {
            requests,
            answers,
            connections: most_open,
            refused,
            seconds,
            rate_per_s,
            held_ms,
            lateness_ms,
        }
    }
}

/// Listens with the largest backlog the kernel gives.
///
/// # Errors
/// When the address is taken or not allowed.
pub fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let listener = TcpListener::bind(address)?;
    listener.set_nonblocking(true)?;
    // std listens with 128 (4096 in newer versions); listening again only raises the backlog.
    // SAFETY: the descriptor is open and owned by `listener`.
    if unsafe { libc::listen(listener.as_raw_fd(), 65_535) } != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(listener)
}

/// Serves until `stop`: over io_uring when every response is due at once and the kernel allows it, else over epoll.
///
/// # Errors
/// When the kernel refuses a descriptor or a ring; never because of what a client does.
pub fn serve(listener: &TcpListener, service: &Service, stop: &StopSignal) -> io::Result<Served> {
    let is_long = service.answers.bytes(Reply::Keep).len() > ANSWER.len();
    if service.pace.is_immediate() {
        match ring::Ring::new(listener, service, stop) {
            Ok(ring) => return ring.serve(),
            // Over epoll a response is written in one go or not at all.
            Err(error) if is_long => return Err(error),
            Err(error) => {
                eprintln!("io_uring is not allowed here ({error}): serving over epoll, which costs more")
            }
        }
    }
    if is_long {
        return Err(io::Error::other("--body: only without a delay"));
    }
    paced::Paced::new(listener, service, stop)?.serve()
}

#[cfg(test)]
mod tests;
