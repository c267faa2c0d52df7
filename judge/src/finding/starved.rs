//! Threads and requests that wait much longer than the others.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use threadcount_model::record::run_delay::{HeldCarrier, RunDelay};
use threadcount_model::record::turns::Turns;
use threadcount_model::request_time::RequestTimePart;

/// Of the run in which virtual threads waited longest for a carrier.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HeldCarriers {
    /// The place that kept carriers longest.
    pub place: HeldCarrier,
    /// Its share of the time for which carriers were kept.
    pub place_share: f64,
    /// Until a virtual thread that could run had a carrier.
    pub virtual_delay: RunDelay,
    /// Until a platform thread that could run had a core.
    pub platform_delay: RunDelay,
    /// Carriers; `None`: not read.
    pub carriers: Option<u32>,
    /// The share of the carriers' time in which they could run and waited for a core, by the kernel; `None`: not read.
    pub core_wait_share: Option<f64>,
}

/// Of the run with the largest tail.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UnfairWaits {
    /// What most of the waiting is for.
    pub part: RequestTimePart,
    /// Share of the mean service time spent waiting for what other requests hold.
    pub waiting_share: f64,
    /// Mean service time.
    pub mean_ms: f64,
    /// Service time.
    pub p50_ms: f64,
    /// Service time.
    pub p99_ms: f64,
    /// Who goes first there; `None`: not seen, or an older result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turns: Option<Turns>,
    /// Age of the oldest request without a response at the end; `None`: all had one.
    pub oldest_unfinished_ms: Option<f64>,
}

/// Of what somebody who was overtaken waits for longest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OvertakenWaits {
    /// Who goes first there.
    pub turns: Turns,
}
