//! Where the time of a request goes: its mean service time, in parts.

use super::interval::Interval;
use super::record::wait_profile::{ThreadActivity, ThreadRole};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The mean service time of one variant under one load, in parts that add up to it. By Little's law a part is the mean
/// number of threads that do something, divided by the throughput of the same window.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RequestTime {
    /// The variant.
    pub variant: String,
    /// The load.
    pub load: String,
    /// The mean service time in the explaining windows.
    pub service_time_ms: f64,
    /// Completed requests per second in them. Little's law also counts the time that unfinished ones had taken.
    pub rate_per_s: f64,
    /// Runs with such a window.
    pub runs: u32,
    /// Samples of threads in them.
    pub samples: u32,
    /// Whose threads were counted.
    pub counted: ThreadRole,
    /// Threads of pools that had no work, on average.
    pub idle_workers: f64,
    /// What requests do, the longest first.
    pub parts: Vec<RequestTimePart>,
    /// What is left: requests on no thread (in a queue, on the network, in the kernel, waiting asynchronously), and what
    /// sampling did not see. Negative: the threads found were more than the requests measured.
    pub without_thread: TimeShare,
    /// The threads in whose queue they wait meanwhile; `None`: not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue: Option<String>,
}

/// One thing that requests do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RequestTimePart {
    /// What and where.
    #[serde(flatten)]
    pub activity: ThreadActivity,
    /// Threads that do it, on average.
    pub threads: f64,
    /// The time in it.
    #[serde(flatten)]
    pub time: TimeShare,
}

/// A part of the time of a request.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TimeShare {
    /// Per request.
    pub ms: f64,
    /// By resampling of the samples in blocks; `None`: too few samples.
    pub interval: Option<Interval>,
}

impl RequestTime {
    /// A part of the whole.
    #[must_use]
    pub fn share(&self, part: &RequestTimePart) -> f64 {
        if self.service_time_ms > 0.0 { part.time.ms / self.service_time_ms } else { 0.0 }
    }

    /// A time as a part of the whole, at least. Threads too many may all be in it, so what they took is taken off; the parts and
    /// what is left add up to the whole, which keeps this below 1.
    #[must_use]
    pub fn least_share(&self, ms: f64) -> f64 {
        let least_ms = (ms + self.without_thread.ms.min(0.0)).max(0.0);
        if self.service_time_ms > 0.0 { least_ms / self.service_time_ms } else { 0.0 }
    }
}
