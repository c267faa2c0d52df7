//! The plan of a load: what to send, how fast, over how many connections, and for how long. A plan is data and does nothing.

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

/// Everything that the generator must know before it starts. [`closed`](Self::closed) or [`open`](Self::open) creates it; single fields are
/// changed afterwards.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LoadPlan {
    /// The requests and their origin.
    pub requests: Arc<RequestSource>,
    /// When the next request is due.
    pub pacing: Pacing,
    /// The number of connections that are kept open. For an open load, at most this many requests are in flight at once (over HTTP/2 times
    /// `streams_per_connection`).
    pub connections: NonZeroU32,
    /// When to stop sending.
    pub stop: Stop,
    /// The number of generator threads; `None`: half of the cores, at least one.
    pub threads: Option<NonZeroU32>,
    /// The cores to which the generator's threads are pinned, in turn; empty: not pinned.
    pub cores: Vec<usize>,
    /// The version of HTTP.
    pub protocol: ProtocolChoice,
    /// The number of concurrent requests on one HTTP/2 connection.
    pub streams_per_connection: NonZeroU32,
    /// `false`: a new connection per request, and `Connection: close` is sent.
    pub keep_alive: bool,
    /// How long a connection may take to be established (TLS included).
    pub connect_timeout: Duration,
    /// How long a request may take, counted from when it was sent.
    pub request_timeout: Duration,
    /// Expected status codes; any other is a failure.
    pub expected_status: ExpectedStatus,
    /// Do not verify the server's certificate.
    pub insecure: bool,
    /// Seed of everything random (Poisson arrivals, weights, `{rand:..}`), so that a load can be repeated.
    pub seed: u64,
    /// Other destinations for connections than the host and port of the URL. Of each kind, the first one that applies counts. `Host`, SNI
    /// and the certificate's name stay those of the URL.
    pub resolve: Vec<AddressOverride>,
    /// Connect to this Unix socket instead of over TCP.
    pub unix_socket: Option<PathBuf>,
    /// The name sent in the TLS handshake (SNI) and looked for in the certificate; `None`: the host of the URL.
    pub sni: Option<String>,
    /// Authorities, client certificate and session resumption.
    pub tls: TlsOptions,
    /// For open loads: requests that fall due within this time after the first of them leave together when it has passed, with one wake of
    /// the generator. No request is sent early, and due times and send lag stay exact. The generator does not wait if this time would end
    /// after the load. Zero: each request leaves when it is due.
    pub lateness: Duration,
    /// How long the load goes on before anything is counted, so that the figures include neither the opening of connections nor a server's
    /// first work on each. Requests in flight when counting begins are [`in_flight_at_start`](crate::outcome::Counts::in_flight_at_start)
    /// and count, with their whole time, when they end. Requests of an open load that are due but not sent by then are
    /// [`waiting_at_start`](crate::outcome::Counts::waiting_at_start). `stop` counts from then on. Only for loads that end by time and have
    /// a constant rate.
    pub lead_in: Duration,
    /// The threads of an open load ask the kernel for real-time priority (sched(7)), if a core is left for everybody else. The threads of a
    /// share do not, because other processes may run on the same machine. `false` unless a program decides otherwise.
    pub real_time: bool,
    /// How long requests in flight may still complete after the end of sending. Requests that are in flight after that are *unfinished*.
    pub grace: Duration,
    /// Write one line per request to this file: CSV, compressed if the name ends with `.gz`.
    pub log: Option<PathBuf>,
    /// The text or pattern that the body of a response must contain to be a success.
    pub expected_body: Option<BodyCheck>,
    /// Follow redirects to the same scheme, host and port, at most ten per request. The request's times end with the last byte of the last
    /// response.
    pub follow_redirects: bool,
    /// A response is complete with the first byte of its body, for bodies without an end. The connection is then closed, or over HTTP/2 the
    /// stream.
    pub first_byte: bool,
    /// Send the cookies that the server has set, on each connection its own.
    pub keep_cookies: bool,
    /// Values from responses that later requests on the same connection send as `{capture:NAME}`.
    pub captures: Vec<Capture>,
    /// The share of the load that this process sends. All other fields of a plan describe the whole load.
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

    /// Whether the load is the same at each moment: a closed loop, or a constant rate.
    #[must_use]
    pub fn is_steady(&self) -> bool {
        matches!(self.pacing, Pacing::Closed | Pacing::Open { shape: RateShape::Constant { .. }, .. })
    }

    /// Whether the engine must inspect responses, not only count their bytes.
    #[must_use]
    pub fn reads_responses(&self) -> bool {
        self.expected_body.is_some()
            || self.keep_cookies
            || self.follow_redirects
            || !self.captures.is_empty()
    }

    /// Checks that the fields do not exclude each other.
    ///
    /// # Errors
    /// The first pair of fields that does.
    pub fn check(&self) -> Result<(), PlanError> {
        error::check(self)
    }
}

/// The rule for when a request is due.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Pacing {
    /// Closed loop: each connection sends as soon as its response is complete. The response times leave out the queueing of requests that
    /// users would have sent meanwhile.
    Closed,
    /// Open loop: requests are due by the schedule, regardless of response times.
    Open {
        /// The rate over time.
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
    /// A constant rate.
    Constant {
        /// Requests per second.
        rate_per_s: f64,
    },
    /// A straight line from one rate to another, and then the last rate.
    Ramp {
        /// Requests per second at the start.
        from_per_s: f64,
        /// Requests per second at the end.
        to_per_s: f64,
        /// The length of the ramp.
        over: Duration,
    },
    /// One rate after the other; the last one continues.
    Steps(Vec<Step>),
}

impl RateShape {
    /// The lowest rate, in requests per second.
    #[must_use]
    pub fn lowest_per_s(&self) -> f64 {
        match self {
            Self::Constant { rate_per_s } => *rate_per_s,
            Self::Ramp { from_per_s, to_per_s, .. } => from_per_s.min(*to_per_s),
            Self::Steps(steps) => steps.iter().map(|step| step.rate_per_s).fold(f64::INFINITY, f64::min),
        }
    }

    /// The highest rate, in requests per second.
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
    /// The length of the step.
    pub lasts: Duration,
}

impl Step {
    /// A step with this rate, in requests per second.
    #[must_use]
    pub const fn new(rate_per_s: f64, lasts: Duration) -> Self {
        Self { rate_per_s, lasts }
    }
}

/// The distribution of due times at a given rate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Arrivals {
    /// Evenly spaced.
    #[default]
    Constant,
    /// A Poisson process: exponentially distributed gaps, as from independent users.
    Poisson,
}

/// When to stop sending. At least one of the two holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stop {
    /// After exactly this many requests were sent and each has ended.
    Requests(NonZeroU64),
    /// After this time. Requests that are still in flight then are *unfinished*.
    Duration(Duration),
    /// Whichever comes first.
    Either(NonZeroU64, Duration),
}

impl Stop {
    /// The number of requests that ends the load; `None`: only a time does.
    #[must_use]
    pub fn requests(self) -> Option<u64> {
        match self {
            Self::Requests(requests) | Self::Either(requests, _) => Some(requests.get()),
            Self::Duration(_) => None,
        }
    }

    /// How long requests are sent; `None`: only a number of requests ends the load.
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
