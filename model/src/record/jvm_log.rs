//! The JVM's unified log (`-Xlog:gc,safepoint`) of the measured window. The log costs next to nothing, so it is on while figures
//! are taken.

use super::jvm::{HeapAfterGc, Total};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The log's figures. Only the part of a pause inside the window counts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JvmLog {
    /// The log file, relative to the result folder.
    pub file: Option<String>,
    /// The JVM's name: `G1`, `The Z Garbage Collector`.
    pub collector: String,
    /// Pauses as the collector times them; for ZGC its safepoints, including the time to reach them.
    pub gc_pauses: Stopped,
    /// The longest pauses, in the order of time.
    pub pauses: Vec<LoggedPause>,
    /// Number of shorter pauses that are not in `pauses`.
    pub pauses_left_out: u64,
    /// Total pause per second of the window; the last second may be shorter.
    pub gc_paused_ms_by_second: Vec<f64>,
    /// Safepoints for any reason, collections included.
    pub safepoints: Safepoints,
    /// Times in which threads waited for memory that ZGC had not freed yet. Durations are summed over all threads; `share` is the time in
    /// which at least one thread waited.
    pub allocation_stalls: Stopped,
    /// The heap in use after at most 500 collections, spread over the window; the JVM rounds it down to MiB.
    pub heap_after_gc: Vec<HeapAfterGc>,
    /// The heap in use after the last collection of the whole heap in the window; `None`: there was none.
    pub heap_after_whole_gc_bytes: Option<u64>,
}

/// Number and duration of stops, and their share of the window.
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
    /// The start of the pause, in seconds since the measured window began.
    pub t_s: f64,
    pub duration_ms: f64,
    /// Kind and cause: `Pause Young (Normal) (G1 Evacuation Pause)`.
    pub name: String,
    /// The heap in use before the pause; `None`: the pause frees nothing.
    pub heap_before_bytes: Option<u64>,
    /// The heap in use after the pause.
    pub heap_after_bytes: Option<u64>,
}

/// Stops of all threads.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Safepoints {
    /// The time from the request to stop until the threads ran again.
    pub stopped: Stopped,
    /// The part of this time until the last thread had stopped.
    pub to_safepoint: Total,
    /// Safepoints by the JVM's reason, the longest first.
    pub reasons: Vec<SafepointReason>,
}

/// Safepoints of one reason.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SafepointReason {
    /// The JVM's name: `G1CollectForAllocation`.
    pub name: String,
    pub total: Total,
}
