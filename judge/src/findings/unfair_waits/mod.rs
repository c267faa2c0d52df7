//! Most requests are fast, and a few wait for seconds for a lock, a permit or a connection that the others pass on among themselves:
//! whoever comes at the right moment goes first.
//!
//! In a queue that serves in order of arrival all wait about equally long. Requests that are slow by themselves spend their time elsewhere.

mod rule;
mod words;

pub(crate) use rule::find;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use threadcount_model::request_time::RequestTimePart;

/// Unfair waits, in the run with the largest tail.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UnfairWaits {
    /// The place with most of the waiting.
    pub part: RequestTimePart,
    /// Share of the mean service time spent waiting for what other requests hold.
    pub waiting_share: f64,
    /// Mean service time.
    pub mean_ms: f64,
    /// Median service time.
    pub p50_ms: f64,
    /// 99th percentile of the service time.
    pub p99_ms: f64,
    /// Age of the oldest request without a response at the end; `None` if all had a response.
    pub oldest_unfinished_ms: Option<f64>,
}
