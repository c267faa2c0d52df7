//! One cause that delays most of the slowest requests.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use threadcount_model::record::pause_ledger::PauseCause;

/// Means of the runs that show it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names are the definition")]
pub struct DelayedTail {
    pub cause: PauseCause,
    /// Share of the requests beyond the 99th percentile.
    pub requests_share: f64,
    /// Mean delay of these requests.
    pub delay_ms: f64,
    pub pauses_per_run: f64,
    pub longest_pause_ms: f64,
    pub p50_ms: f64,
    pub p99_ms: f64,
}
