//! What to send, how fast, over how many connections, and for how long. A plan is data: it does nothing.

mod address;
mod error;
mod own_part;
mod tls;

pub use address::{AddressOverride, AddressOverrideError};
pub use error::PlanError;
pub use tls::{ClientIdentity, TlsFile, TlsFileError, TlsOptions};

use crate::request::RequestSource;
use crate::response::{BodyCheck, Capture};
pub use crate::share::LoadShare;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::num::{NonZeroU32, NonZeroU64};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Everything the generator must know before it starts. Made by [`closed`](Self::closed) or [`open`](Self::open), then
/// changed field by field.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LoadPlan {
    /// The requests and their origin.
    pub requests: Arc<RequestSource>,
    /// When the next request is due.
    pub pacing: Pacing,
    /// How many connections are kept open. For an open load: at most this many requests are on their way at once
    /// (over HTTP/2 times `streams_per_connection`).
    pub connections: NonZeroU32,
    /// When to stop sending.
    pub stop: Stop,
    /// How many generator threads; `None`: half of the cores, at least one.
    pub threads: Option<NonZeroU32>,
    /// The cores the generator's threads are pinned to, one after the other; empty: not pinned.
    pub cores: Vec<usize>,
    /// Which HTTP to speak.
    pub protocol: ProtocolChoice,
    /// Requests at once on one HTTP/2 connection.
    pub streams_per_connection: NonZeroU32,
    /// `false`: a new connection per request, and `Connection: close` is sent.
    pub keep_alive: bool,
    /// How long a connection may take to be established (TLS included).
    pub connect_timeout: Duration,
    /// How long a request may take, counted from the moment it was sent.
    pub request_timeout: Duration,
    /// Expected status codes; any other is a failure.
    pub expected_status: ExpectedStatus,
    /// Do not verify the server's certificate.
    pub insecure: bool,
    /// Seed of everything random (Poisson arrivals, weights, `{rand:..}`), so that a load can be repeated.
    pub seed: u64,
    /// Where connections really go, instead of to the host and port of the URL. The first that applies counts, of each
    /// kind. `Host`, SNI and the certificate's name stay those of the URL.
    pub resolve: Vec<AddressOverride>,
    /// Connect to this Unix socket instead of over TCP.
    pub unix_socket: Option<PathBuf>,
    /// The name sent in the TLS handshake (SNI) and looked for in the certificate; `None`: the host of the URL.
    pub sni: Option<String>,
    /// Authorities, client certificate and session resumption.
    pub tls: TlsOptions,
    /// Open loads: requests that fall due within this time of the first of them leave together, when it has passed, with
    /// one wake of the generator. None is ever sent early, and due times and send lag stay exact. A window that would end
    /// after the load is not waited for. Zero: each leaves when it is due.
    pub lateness: Duration,
    /// How long the load goes on before anything of it is counted, so that the figures hold neither the opening of its
    /// connections nor what a server does at the first requests of each. Requests in flight when counting begins are
    /// [`in_flight_at_start`](crate::outcome::Counts::in_flight_at_start) and count, with their whole time, when they end; those
    /// of an open load that are due and not sent by then are
    /// [`waiting_at_start`](crate::outcome::Counts::waiting_at_start).
    /// `stop` counts from then. Only for loads that a time ends and whose rate stays the same.
    pub lead_in: Duration,
    /// The threads of an open load ask the kernel for real-time priority (sched(7)), where a core is left for everybody else; of a
    /// share of a load, as others may run on the same machine, they do not. False, unless a program decides it.
    pub real_time: bool,
    /// How long, after the end of sending, requests in flight may still complete. What is then in flight is
    /// *unfinished*.
    pub grace: Duration,
    /// Write one line per request to this file: CSV, or compressed where the name ends with `.gz`.
    pub log: Option<PathBuf>,
    /// What the body of a response must contain to be a success.
    pub expected_body: Option<BodyCheck>,
    /// Redirects to the same scheme, host and port are followed, ten of one request at most: its times end with the last byte of the
    /// last response.
    pub follow_redirects: bool,
    /// A response is complete with the first byte of its body: for bodies without an end. Its connection is then closed, over
    /// HTTP/2 its stream.
    pub first_byte: bool,
    /// Send the cookies that the server has set, each connection its own.
    pub keep_cookies: bool,
    /// Values from responses that later requests on the same connection send as `{capture:NAME}`.
    pub captures: Vec<Capture>,
    /// Which part of it this process sends. Everything else in a plan is said of the whole load.
    pub share: LoadShare,
}

impl LoadPlan {
    /// A closed loop over `connections` with every other setting at its default.
    #[must_use]
    pub fn closed(requests: Arc<RequestSource>, connections: NonZeroU32, stop: Stop) -> Self {
        Self {
            requests,
            pacing: Pacing::Closed,
            connections,
            stop,
            threads: None,
            cores: Vec::new(),
            protocol: ProtocolChoice::Auto,
            streams_per_connection: NonZeroU32::MIN,
            keep_alive: true,
            connect_timeout: Duration::from_secs(10),
            request_timeout: Duration::from_secs(30),
            expected_status: ExpectedStatus::default(),
            insecure: false,
            seed: 1,
            resolve: Vec::new(),
            unix_socket: None,
            sni: None,
            tls: TlsOptions::default(),
            lateness: Duration::ZERO,
            lead_in: Duration::ZERO,
            real_time: false,
            grace: Duration::ZERO,
            log: None,
            expected_body: None,
            follow_redirects: false,
            first_byte: false,
            keep_cookies: false,
            captures: Vec::new(),
            share: LoadShare::WHOLE,
        }
    }

    /// An open load with every other setting at its default.
    #[must_use]
    pub fn open(
        requests: Arc<RequestSource>,
        shape: RateShape,
        arrivals: Arrivals,
        connections: NonZeroU32,
        stop: Stop,
    ) -> Self {
        Self { pacing: Pacing::Open { shape, arrivals }, ..Self::closed(requests, connections, stop) }
    }

    /// The plan after a change: `plan.with(|plan| plan.keep_alive = false)`.
    #[must_use]
    pub fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }

    /// Is the load the same at each moment: a closed loop, or a constant rate?
    #[must_use]
    pub fn is_steady(&self) -> bool {
        matches!(self.pacing, Pacing::Closed | Pacing::Open { shape: RateShape::Constant { .. }, .. })
    }

    /// True where the engine must inspect responses, not only count their bytes.
    #[must_use]
    pub fn reads_responses(&self) -> bool {
        self.expected_body.is_some()
            || self.keep_cookies
            || self.follow_redirects
            || !self.captures.is_empty()
    }

    /// Do its fields go together?
    ///
    /// # Errors
    /// The first pair that does not.
    pub fn check(&self) -> Result<(), PlanError> {
        error::check(self)
    }
}

/// When a request is due.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Pacing {
    /// Closed loop: each connection sends as soon as its response is complete. Response times leave out the queueing of
    /// requests that users would have sent meanwhile.
    Closed,
    /// Open loop: requests are due by the schedule, regardless of response times.
    Open {
        /// How the rate develops.
        shape: RateShape,
        /// How the due times are spread.
        arrivals: Arrivals,
    },
}

/// The rate of an open load over time, in requests per second, over all connections and threads together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RateShape {
    /// The same rate all the time.
    Constant {
        /// Requests per second.
        rate_per_s: f64,
    },
    /// A straight line from one rate to another over a time; then it stays there.
    Ramp {
        /// Requests per second at the start.
        from_per_s: f64,
        /// Requests per second at the end.
        to_per_s: f64,
        /// How long the climb takes.
        over: Duration,
    },
    /// One rate after the other; the last one stays.
    Steps(Vec<Step>),
}

impl RateShape {
    /// The lowest rate that it has, in requests per second.
    #[must_use]
    pub fn lowest_per_s(&self) -> f64 {
        match self {
            Self::Constant { rate_per_s } => *rate_per_s,
            Self::Ramp { from_per_s, to_per_s, .. } => from_per_s.min(*to_per_s),
            Self::Steps(steps) => steps.iter().map(|step| step.rate_per_s).fold(f64::INFINITY, f64::min),
        }
    }

    /// The highest rate that it reaches, in requests per second.
    #[must_use]
    pub fn highest_per_s(&self) -> f64 {
        match self {
            Self::Constant { rate_per_s } => *rate_per_s,
            Self::Ramp { from_per_s, to_per_s, .. } => from_per_s.max(*to_per_s),
            Self::Steps(steps) => steps.iter().map(|step| step.rate_per_s).fold(0.0, f64::max),
        }
    }
}

/// One step of [`RateShape::Steps`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Step {
    /// Requests per second.
    pub rate_per_s: f64,
    /// How long.
    pub lasts: Duration,
}

impl Step {
    /// This rate, in requests per second, for so long.
    #[must_use]
    pub const fn new(rate_per_s: f64, lasts: Duration) -> Self {
        Self { rate_per_s, lasts }
    }
}

/// How due times are spread at a given rate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Arrivals {
    /// Evenly spaced.
    #[default]
    Constant,
    /// A Poisson process: exponentially distributed gaps, as independent users make them.
    Poisson,
}

/// When to stop sending. At least one of the two holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stop {
    /// After exactly this many requests were sent and each has ended.
    Requests(NonZeroU64),
    /// After this time. What is in flight then is *unfinished*.
    Duration(Duration),
    /// Whichever comes first.
    Either(NonZeroU64, Duration),
}

impl Stop {
    /// How many requests end the load, where a number does.
    #[must_use]
    pub fn requests(self) -> Option<u64> {
        match self {
            Self::Requests(requests) | Self::Either(requests, _) => Some(requests.get()),
            Self::Duration(_) => None,
        }
    }

    /// How long requests are sent, where a time ends the load.
    #[must_use]
    pub fn duration(self) -> Option<Duration> {
        match self {
            Self::Duration(duration) | Self::Either(_, duration) => Some(duration),
            Self::Requests(_) => None,
        }
    }
}

/// The HTTP version to speak.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ProtocolChoice {
    /// HTTP/1.1 without TLS; over TLS what ALPN agrees on, HTTP/2 preferred.
    #[default]
    Auto,
    /// HTTP/1.1.
    Http1,
    /// HTTP/2: over TLS by ALPN, or in the clear with prior knowledge (h2c, RFC 9113 section 3.3).
    Http2,
}

/// Expected status codes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ExpectedStatus {
    ranges: Vec<(u16, u16)>,
}

impl Default for ExpectedStatus {
    /// 200 to 399: a 4xx or 5xx is not a success unless the load expects it.
    fn default() -> Self {
        Self { ranges: vec![(200, 399)] }
    }
}

impl ExpectedStatus {
    /// Exactly these inclusive ranges.
    #[must_use]
    pub fn ranges(ranges: Vec<(u16, u16)>) -> Self {
        Self { ranges }
    }

    /// Whether this status is expected.
    #[must_use]
    pub fn accepts(&self, status: u16) -> bool {
        self.ranges.iter().any(|&(low, high)| (low..=high).contains(&status))
    }
}

/// `200,300-399`.
impl fmt::Display for ExpectedStatus {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, (low, high)) in self.ranges.iter().enumerate() {
            let comma = if place == 0 { "" } else { "," };
            if low == high {
                write!(out, "{comma}{low}")?;
            } else {
                write!(out, "{comma}{low}-{high}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_status_counts_as_its_class() {
        let expected = ExpectedStatus::default();
        assert!([200, 299, 399].into_iter().all(|status| expected.accepts(status)));
        assert!(![199, 400, 499, 599].into_iter().any(|status| expected.accepts(status)));
    }
}
