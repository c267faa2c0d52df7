//! The contract `threadcount/load/1`: a [`LoadOutcome`] as figures, with the unit in each key.
//!
//! `schema/load-1.schema.json` is the output of [`load_schema`]; a test fails if it is not.

mod build;
mod failure_reasons;
mod query;
mod schema;
mod thousands;

use crate::clock::NANOS_PER_S;
use crate::counts::{Bytes, ConnectionsAtStart, Counts};
use crate::failure::FailureCause;
use crate::log::LogCounts;
use crate::outcome::LoadOutcome;
use crate::pods::PodReport;
use crate::times::TimesSummary;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

pub use failure_reasons::{FailureReason, failure_reasons, most_frequent_failure};
pub use schema::load_schema;
pub use thousands::thousands;

/// The name and version of the document.
pub const SCHEMA: &str = "threadcount/load/1";

/// One load as figures. In documents of 0.2.0, the keys that are read with a default are missing, here and in [`Counts`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
#[non_exhaustive]
pub struct LoadReport {
    /// Name and version of this document.
    #[schemars(extend("const" = SCHEMA))]
    pub schema: String,
    /// The requested URL; for several, the first.
    pub target: String,
    /// The protocol that was really spoken, e.g. HTTP/1.1, HTTP/2, HTTP/2 over TLS 1.3; empty if no connection was made.
    pub protocol: String,
    /// What sent the load: epoll, or the name of another tool; before version 0.3 also io_uring.
    pub driver: String,
    /// The plan.
    pub plan: PlanReport,
    /// How long was measured, in seconds.
    pub elapsed_s: f64,
    /// The outcomes of the requests.
    pub requests: Counts,
    /// Rates over the time that really passed, in requests per second.
    pub rate_per_s: RateReport,
    /// From due to last byte, for requests with an expected response, in milliseconds; null if there was none.
    pub response_time_ms: Option<TimesSummary>,
    /// From sent to last byte, for requests with an expected response, in milliseconds; null if there was none.
    pub service_time_ms: Option<TimesSummary>,
    /// From sent to the first byte received, for requests with an expected response, in milliseconds; null if there was none. Interim
    /// responses count; over HTTP/2 it is the final header.
    pub first_byte_time_ms: Option<TimesSummary>,
    /// From due to failure, for failed requests, in milliseconds; null if none failed.
    pub failed_time_ms: Option<TimesSummary>,
    /// How long requests in flight when counting began had been on their way, mean in milliseconds; null if there was none.
    pub in_flight_at_start_age_ms: Option<f64>,
    /// How long unfinished requests had been on their way at the end, mean in milliseconds; null if there was none.
    pub in_flight_at_end_age_ms: Option<f64>,
    /// Age since due of requests in flight at the end, in milliseconds; null if there was none.
    pub unfinished_age_ms: Option<TimesSummary>,
    /// Age since due of requests that were due and never begun, in milliseconds; null if there was none.
    pub not_sent_age_ms: Option<TimesSummary>,
    /// Number of responses by status code, expected or not.
    pub status: BTreeMap<u16, u64>,
    /// Number of failed requests by cause in words; their sum is requests.failed.
    pub failures: BTreeMap<String, u64>,
    /// Number of failed requests by the name of the cause, which stays the same from version to version, e.g. no-port-left or
    /// unexpected-status:503; empty if another tool sent the load.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, u64>")]
    pub failure_causes: BTreeMap<FailureCause, u64>,
    /// The first 200 printable characters of the body of the first response with an unexpected status over HTTP/1.1, with secrets masked;
    /// absent if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_failing_body: Option<String>,
    /// Bytes on the wire (for TLS: of the HTTP stream inside).
    pub bytes: Bytes,
    /// The connections of the load.
    pub connections: ConnectionsReport,
    /// The generator's own health.
    pub generator: GeneratorReport,
    /// How busy each core of this machine was with all processes, 0 to 1, in the order of the cores; empty: not known.
    pub cores_busy: Vec<f64>,
    /// Warnings to know before believing the figures, the most important first.
    pub warnings: Vec<String>,
    /// The kind of each warning, in the same order, e.g. rate-missed or closed-loop; a kind keeps its name.
    #[serde(default)]
    pub warning_ids: Vec<String>,
    /// true: the load was cut short by the user.
    pub interrupted: bool,
    /// Rows of the log of requests; null if there is no log.
    pub log: Option<LogCounts>,
    /// The processes that sent the load together, each a share of it (threadcount merge, --kubernetes); empty if one process sent it.
    /// Totals and percentiles above are those of the complete ones.
    #[serde(default)]
    pub pods: Vec<PodReport>,
}

/// The plan.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
#[non_exhaustive]
pub struct PlanReport {
    /// closed: each connection sends as soon as it has its response. open: requests are due by a schedule, regardless of responses.
    #[schemars(extend("enum" = ["closed", "open"]))]
    pub mode: String,
    /// Connections; for an open load the most that are open at once.
    pub connections: u32,
    /// Generator threads that were really used.
    pub threads: u32,
    /// The constant rate requested, in requests per second; null for a closed load or a changing rate.
    pub rate_per_s: Option<f64>,
    /// A changing rate in words, in requests per second; else null.
    pub shape: Option<String>,
    /// How due times are spread: evenly (constant) or as a Poisson process; null for a closed load.
    #[schemars(extend("enum" = ["constant", "poisson", null]))]
    pub arrivals: Option<String>,
    /// The longest time to send, in seconds; null: until all requests were sent.
    pub duration_s: Option<f64>,
    /// The number of requests to send; null: until the time is up.
    pub requests: Option<u64>,
    /// false: a new connection for each request.
    pub keep_alive: bool,
    /// How long a connection may take to be made, in seconds.
    pub connect_timeout_s: f64,
    /// How long a request may take from being sent, in seconds.
    pub request_timeout_s: f64,
    /// Seed of everything random.
    pub seed: u64,
    /// How much later than due a request may have been sent, so that several left together; 0: each left alone.
    pub lateness_s: f64,
    /// How long the load went on before it was counted; 0: it was counted from its beginning.
    pub lead_in_s: f64,
    /// How long requests in flight could still complete after the end of sending.
    pub grace_s: f64,
    /// Whether TLS sessions were resumed; null without TLS.
    pub tls_resumption: Option<bool>,
}

/// Rates over the time that really passed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
#[non_exhaustive]
pub struct RateReport {
    /// The average of the schedule, in requests per second; null for a closed load.
    pub asked: Option<f64>,
    /// Requests begun per second.
    pub sent: f64,
    /// Expected responses completed per second.
    pub completed: f64,
}

/// The connections of the load.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
#[non_exhaustive]
pub struct ConnectionsReport {
    /// Connections that were established.
    pub opened: u64,
    /// Connections when the load began: when all were open, or when the time limit of connecting had passed. With a lead-in, those that had
    /// been opened by its end. Null: it opens none in advance.
    pub at_start: Option<ConnectionsAtStart>,
    /// Connections that were open when the load ended.
    pub open_at_end: u64,
    /// Connections that were closed because the server sent bytes while they had no request, other than a response that ends them.
    pub unsolicited: u64,
    /// The largest number of concurrent requests that one connection really carried: more than 1 only over HTTP/2.
    pub streams: u32,
}

/// The generator's own health.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
#[non_exhaustive]
pub struct GeneratorReport {
    /// CPU time of the generator per request that ended, in microseconds; 0 if none ended.
    pub cpu_us_per_request: f64,
    /// Share of one core that the busiest generator thread used; 1 is all of it.
    pub cpu_share: f64,
    /// CPU of all generator threads, in cores.
    pub cpu_cores: f64,
    /// From due to sent, for all requests sent, in milliseconds; null if none was.
    pub send_lag_ms: Option<LagReport>,
    /// The generator's own part of the send lag: the time after a connection was free for the request, in milliseconds; null if nothing was
    /// sent.
    pub own_lag_ms: Option<LagReport>,
    /// How late the event loop came back to look for work, in milliseconds; a rest without work is not late. Null if not measured.
    pub loop_lag_ms: Option<LagReport>,
    /// How the arrival of the responses' last bytes was timed. kernel: the kernel's receive stamps (open loads over plain HTTP/1.1);
    /// generator: when the generator saw them; both: some each; null: no response came.
    #[schemars(extend("enum" = ["kernel", "generator", "both", null]))]
    pub last_byte_seen_by: Option<String>,
    /// true: all threads of the generator had real-time priority, which the threads of an open load ask for; they then wake when a request
    /// is due, however busy the machine is.
    pub real_time: bool,
    /// true: the figures are about the generator rather than the server.
    pub bottleneck: bool,
    /// Why the generator is called the bottleneck; else null.
    pub why: Option<String>,
}

/// A lag in milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
#[non_exhaustive]
pub struct LagReport {
    /// Half were at most this late, in milliseconds.
    pub p50: f64,
    /// 99 % were at most this late, in milliseconds.
    pub p99: f64,
    /// The latest, in milliseconds.
    pub max: f64,
}

impl LoadOutcome {
    /// How long was measured, in seconds.
    #[must_use]
    pub fn elapsed_s(&self) -> f64 {
        self.ended_ns.saturating_sub(self.started_ns) as f64 / NANOS_PER_S as f64
    }
}
