//! The delays of requests beyond the 99th percentile: each slow request is attributed to the pause that it overlaps.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The ledger of the measured window, on the load's clock.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PauseLedger {
    pub p50_ms: f64,
    pub p99_ms: f64,
    /// Responses that took longer than the 99th percentile.
    pub slow_requests: u64,
    /// Number of slow requests that were drawn at random and compared with the pauses.
    pub sampled: u64,
    /// Every cause that was observed, including causes that never occurred.
    pub causes: Vec<CauseOfDelay>,
    /// Share of the slow requests that no cause explains.
    pub unexplained_share: f64,
    /// The slowest requests of the sample, in the order of time.
    pub slowest: Vec<DelayedRequest>,
}

/// One cause, and the slow requests attributed to it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CauseOfDelay {
    pub cause: PauseCause,
    /// Number of pauses in the window; for a sampled cause, the samples that show it.
    pub pauses: u64,
    pub total_ms: f64,
    pub longest_ms: f64,
    /// Share of the slow requests.
    pub requests_share: f64,
    /// Mean delay of these requests; `None`: no requests.
    pub delay_ms: Option<f64>,
}

/// A reason why a server stops or loses CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PauseCause {
    /// All threads are stopped for a collection.
    GarbageCollection,
    /// All threads are stopped for another reason.
    OtherSafepoint,
    /// Some threads are stopped and wait until the last one is.
    TimeToSafepoint,
    /// Threads wait for memory (ZGC).
    AllocationStall,
    /// The compiler uses cores of a full machine.
    Compilation,
    /// The CPU quota is used up.
    Throttling,
    /// The hypervisor runs another guest.
    Steal,
}

/// A slow request and the cause to which it is attributed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DelayedRequest {
    /// When it was due, in seconds since the measured window began.
    pub t_s: f64,
    pub response_ms: f64,
    /// The cause; `None`: unexplained.
    pub cause: Option<PauseCause>,
}

impl PauseLedger {
    /// The cause to which most slow requests are attributed.
    #[must_use]
    pub fn main_cause(&self) -> Option<CauseOfDelay> {
        self.causes.iter().copied().max_by(|a, b| a.requests_share.total_cmp(&b.requests_share))
    }
}
