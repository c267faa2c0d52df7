//! What the JVM's unified log (`-Xlog:gc,safepoint`) says of the measured window. Nothing in the JVM observes for it: it
//! stays while figures are taken.

use super::jvm::{HeapAfterGc, Total};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The log over the measured window. Times that cross an edge of it count with their part inside.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JvmLog {
    /// Relative to the result folder.
    pub file: Option<String>,
    /// As the JVM names it: `G1`, `The Z Garbage Collector`.
    pub collector: String,
    /// Pauses of the collector, as it times them; ZGC's as safepoints, with the time to reach them.
    pub gc_pauses: Stopped,
    /// The longest of them, in the order of time.
    pub pauses: Vec<LoggedPause>,
    /// How many shorter ones are not in `pauses`.
    pub pauses_left_out: u64,
    /// How much of each second of the window they took, all of them; the last second may be a part of one.
    pub gc_paused_ms_by_second: Vec<f64>,
    /// All threads stopped, for whatever reason; those of the collector included.
    pub safepoints: Safepoints,
    /// Threads that waited for memory that the collector had not freed yet (ZGC). The times of all threads are added up;
    /// `share` is the time in which at least one waited.
    pub allocation_stalls: Stopped,
    /// The heap in use after collections, at most 500 of them spread over the window; rounded down to MiB by the JVM.
    pub heap_after_gc: Vec<HeapAfterGc>,
    /// The same after the last collection of the whole heap in the window; `None`: there was none.
    pub heap_after_whole_gc_bytes: Option<u64>,
}

/// How often and how long, and the share of the window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names are the definition")]
pub struct Stopped {
    pub count: u64,
    pub total_ms: f64,
    pub longest_ms: f64,
    /// Of the window, from 0 to 1; times that overlap count once.
    pub share: f64,
}

/// A pause of the collector.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LoggedPause {
    /// Its beginning, seconds since the measured window began.
    pub t_s: f64,
    /// How long it was.
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
    /// The part of it until the last thread had stopped.
    pub to_safepoint: Total,
    /// By the JVM's reason, the one that took the longest first.
    pub reasons: Vec<SafepointReason>,
}

/// Safepoints of one reason.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SafepointReason {
    /// The JVM's name of it: `G1CollectForAllocation`.
    pub name: String,
    /// How often and how long.
    pub total: Total,
}
