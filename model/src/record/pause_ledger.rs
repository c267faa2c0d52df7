//! What delayed the requests beyond the 99th percentile: each is given to the pause that it overlaps.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Of the measured window, on the load's clock.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PauseLedger {
    pub p50_ms: f64,
    pub p99_ms: f64,
    /// Responses that took longer than the 99th percentile.
    pub slow_requests: u64,
    /// Number of them that were drawn at random and compared with the pauses.
    pub sampled: u64,
    /// Every cause that was observed, also where it never occurred.
    pub causes: Vec<CauseOfDelay>,
    /// Share of the slow requests that none of them explains.
    pub unexplained_share: f64,
    /// The slowest of the sample, in the order of time.
    pub slowest: Vec<DelayedRequest>,
}

/// One cause, and the slow requests that are given to it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CauseOfDelay {
    pub cause: PauseCause,
    /// Pauses in the window; of what is only sampled, the samples that have it.
    pub pauses: u64,
    pub total_ms: f64,
    pub longest_ms: f64,
    /// Share of the slow requests.
    pub requests_share: f64,
    /// Mean delay of these requests; `None`: there is none.
    pub delay_ms: Option<f64>,
}

/// What stops a server, or takes its CPU.
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

/// A slow request and what it is given to.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DelayedRequest {
    /// When it was due, in seconds since the measured window began.
    pub t_s: f64,
    pub response_ms: f64,
    /// `None`: unexplained.
    pub cause: Option<PauseCause>,
}

impl PauseLedger {
    /// The cause of most of the slow requests.
    #[must_use]
    pub fn main_cause(&self) -> Option<CauseOfDelay> {
        self.causes.iter().copied().max_by(|a, b| a.requests_share.total_cmp(&b.requests_share))
    }
}
