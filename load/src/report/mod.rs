//! The contract `threadcount/load/1`: a [`LoadOutcome`] as figures, with the unit in each key.
//!
//! `schema/load-1.schema.json` describes the same document; a test holds the two together.

mod build;
mod failure_reasons;
mod query;
mod thousands;

use crate::clock::NANOS_PER_S;
use crate::counts::{Bytes, ConnectionsAtStart, Counts};
use crate::failure::FailureCause;
use crate::log::LogCounts;
use crate::outcome::LoadOutcome;
use crate::pods::PodReport;
use crate::times::TimesSummary;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

pub use failure_reasons::{FailureReason, failure_reasons, most_frequent_failure};
pub use thousands::thousands;

/// The name and version of the document.
pub const SCHEMA: &str = "threadcount/load/1";

/// The JSON Schema of the document.
pub const SCHEMA_JSON: &str = include_str!("../../schema/load-1.schema.json");

/// One load as figures. Documents of 0.2.0 have no key that is read with a default, here and in [`Counts`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the JSON Schema defines each key")]
#[non_exhaustive]
pub struct LoadReport {
    pub schema: String,
    pub target: String,
    pub protocol: String,
    pub driver: String,
    pub plan: PlanReport,
    pub elapsed_s: f64,
    pub requests: Counts,
    pub rate_per_s: RateReport,
    pub response_time_ms: Option<TimesSummary>,
    pub service_time_ms: Option<TimesSummary>,
    /// From sent to first byte received, of requests with an expected response.
    pub first_byte_time_ms: Option<TimesSummary>,
    pub failed_time_ms: Option<TimesSummary>,
    /// How long the requests in flight at the start had been on their way then, on average; null where there were none.
    pub in_flight_at_start_age_ms: Option<f64>,
    /// The same of the unfinished requests at the end.
    pub in_flight_at_end_age_ms: Option<f64>,
    pub unfinished_age_ms: Option<TimesSummary>,
    pub not_sent_age_ms: Option<TimesSummary>,
    pub status: BTreeMap<u16, u64>,
    /// By the words of the cause.
    pub failures: BTreeMap<String, u64>,
    /// The same by the name of the cause, as `unexpected-status:503`.
    #[serde(default)]
    pub failure_causes: BTreeMap<FailureCause, u64>,
    /// Of the first response with an unexpected status: 200 printable characters, secrets masked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_failing_body: Option<String>,
    pub bytes: Bytes,
    pub connections: ConnectionsReport,
    pub generator: GeneratorReport,
    /// How busy each core of this machine was, 0 to 1, by all processes; empty: not known.
    pub cores_busy: Vec<f64>,
    /// What the reader must know before believing the figures; the first is the most important.
    pub warnings: Vec<String>,
    /// What kind of warning each of them is, as `rate-missed`.
    #[serde(default)]
    pub warning_ids: Vec<String>,
    pub interrupted: bool,
    /// Rows of the log of requests that were written and dropped; null where there is none.
    pub log: Option<LogCounts>,
    /// The processes that sent it together; empty: one did.
    #[serde(default)]
    pub pods: Vec<PodReport>,
}

/// The plan.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the JSON Schema defines each key")]
#[non_exhaustive]
pub struct PlanReport {
    /// `closed` or `open`.
    pub mode: String,
    pub connections: u32,
    pub threads: u32,
    /// The requested constant rate; null for a closed loop or a changing rate (then see `shape`).
    pub rate_per_s: Option<f64>,
    /// A changing rate in words, e.g. `ramp 100/s to 500/s over 10s`.
    pub shape: Option<String>,
    /// `constant` or `poisson`; null for a closed loop.
    pub arrivals: Option<String>,
    pub duration_s: Option<f64>,
    pub requests: Option<u64>,
    pub keep_alive: bool,
    pub connect_timeout_s: f64,
    pub request_timeout_s: f64,
    pub seed: u64,
    /// How much later than due a request may have been sent, to leave together with others; 0: each was due alone.
    pub lateness_s: f64,
    /// How long the load went on before it was counted; 0: it was counted from its beginning.
    pub lead_in_s: f64,
    /// How long requests in flight could still complete after the end of sending.
    pub grace_s: f64,
    /// Were TLS sessions resumed? null without TLS.
    pub tls_resumption: Option<bool>,
}

/// Rates over the time that really passed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the JSON Schema defines each key")]
#[non_exhaustive]
pub struct RateReport {
    /// The schedule's average; null for a closed loop.
    pub asked: Option<f64>,
    pub sent: f64,
    /// Expected responses completed, per second.
    pub completed: f64,
}

/// What carried the requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ConnectionsReport {
    /// Connections that were established.
    pub opened: u64,
    /// Connections when the load began, or by the end of its lead-in; null: it opens none in advance.
    pub at_start: Option<ConnectionsAtStart>,
    /// Connections that were open when the load ended.
    pub open_at_end: u64,
    /// Connections that were closed because the server sent bytes while they had no request, other than a response that ends them.
    pub unsolicited: u64,
    /// Requests at once that one connection really carried: more than 1 only over HTTP/2, and no more than the server
    /// allows.
    pub streams: u32,
}

/// The generator's own health.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the JSON Schema defines each key")]
#[non_exhaustive]
pub struct GeneratorReport {
    pub cpu_us_per_request: f64,
    /// The busiest generator thread's share of one core.
    pub cpu_share: f64,
    /// All generator threads' CPU, in cores.
    pub cpu_cores: f64,
    pub send_lag_ms: Option<LagReport>,
    /// The generator's own part of the send lag: the time after a connection was free for the request.
    pub own_lag_ms: Option<LagReport>,
    pub loop_lag_ms: Option<LagReport>,
    /// Who said when the responses' last bytes arrived: `kernel`, `generator`, or `both`; null where no response arrived.
    pub last_byte_seen_by: Option<String>,
    /// All of its threads had real-time priority.
    pub real_time: bool,
    pub bottleneck: bool,
    /// Why the generator is called the bottleneck.
    pub why: Option<String>,
}

/// A lag in milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names are the definition")]
#[non_exhaustive]
pub struct LagReport {
    pub p50: f64,
    pub p99: f64,
    pub max: f64,
}

impl LoadOutcome {
    /// How long was measured, in seconds.
    #[must_use]
    pub fn elapsed_s(&self) -> f64 {
        self.ended_ns.saturating_sub(self.started_ns) as f64 / NANOS_PER_S as f64
    }
}
