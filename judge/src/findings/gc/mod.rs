//! Garbage collection pauses: the ones that the slowest responses waited for, and the time that all of them took.

mod rule;
mod tail;
mod words;

pub(crate) use rule::{find, in_window};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Figures of the typical run of those that show it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names are the definition")]
pub struct GcPauses {
    pub paused_share: f64,
    pub pauses_per_run: f64,
    pub longest_pause_ms: f64,
    /// The seconds with the slowest responses; `None` if the pauses do not explain them.
    pub slow_seconds: Option<SlowSeconds>,
    /// The slowest hundredth of the requests; `None` if the pauses alone do not cause it.
    pub tail: Option<PauseTail>,
    /// A variant whose requests allocate much less, so that the heap is not too small; `None` if there is no such variant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allocates_more_than: Option<String>,
}

/// Pauses that delay the slowest hundredth of the requests.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names are the definition")]
pub struct PauseTail {
    pub p50_ms: f64,
    pub p99_ms: f64,
    /// Shortest delay of a delayed request.
    pub delay_ms: f64,
    /// Least share of the requests with such a delay.
    pub delayed_share: f64,
}

/// The seconds with the slowest responses of a run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names are the definition")]
pub struct SlowSeconds {
    pub slowest_ms: f64,
    pub seconds: f64,
    /// Number of these seconds with a pause that explains them.
    pub explained_seconds: f64,
    /// Share of the other seconds with a pause of that length.
    pub others_share: f64,
}
