//! The JVM's unified log (`-Xlog:gc,safepoint`) of the measured window. It costs next to nothing, so it is on while figures
//! are taken.

use super::jvm::{HeapAfterGc, Total};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Of a pause that crosses an edge of the window, the part inside counts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JvmLog {
    /// Relative to the result folder.
    pub file: Option<String>,
    /// The JVM's name: `G1`, `The Z Garbage Collector`.
    pub collector: String,
    /// As the collector times them; for ZGC the safepoints, with the time to reach them.
    pub gc_pauses: Stopped,
    /// The longest of them, in the order of time.
    pub pauses: Vec<LoggedPause>,
    /// Number of shorter ones that are not in `pauses`.
    pub pauses_left_out: u64,
    /// Sum per second of the window; the last second may be shorter.
    pub gc_paused_ms_by_second: Vec<f64>,
    /// For any reason, collections included.
    pub safepoints: Safepoints,
    /// Threads that waited for memory that the collector had not freed yet (ZGC). Times are sums over all threads; `share` is
    /// the time in which at least one waited.
    pub allocation_stalls: Stopped,
    /// The heap in use after collections, at most 500 of them spread over the window; rounded down to MiB by the JVM.
    pub heap_after_gc: Vec<HeapAfterGc>,
    /// The same after the last collection of the whole heap in the window; `None`: there was none.
    pub heap_after_whole_gc_bytes: Option<u64>,
}

/// Number and duration, and the share of the window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names are the definition")]
pub struct Stopped {
    pub count: u64,
    pub total_ms: f64,
    pub longest_ms: f64,
    /// Share of the window, from 0 to 1; overlapping times count once.
    pub share: f64,
}

/// A pause of the collector.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LoggedPause {
    /// Its start, in seconds since the measured window began.
    pub t_s: f64,
    pub duration_ms: f64,
    /// Kind and cause: `Pause Young (Normal) (G1 Evacuation Pause)`.
    pub name: String,
    /// The heap in use before it; `None`: the pause frees nothing.
    pub heap_before_bytes: Option<u64>,
    /// The heap in use after it.
    pub heap_after_bytes: Option<u64>,
}

/// Stops of all threads.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Safepoints {
    /// From the request to stop until they ran again.
    pub stopped: Stopped,
    /// The part until the last thread had stopped.
    pub to_safepoint: Total,
    /// By the JVM's reason, the longest first.
    pub reasons: Vec<SafepointReason>,
}

/// Safepoints of one reason.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SafepointReason {
    /// The JVM's name: `G1CollectForAllocation`.
    pub name: String,
    pub total: Total,
}
