//! The mean service time of a request, divided into parts.

use super::interval::Interval;
use super::record::wait_profile::{ThreadActivity, ThreadRole};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The mean service time of one variant under one load, in parts that add up to it. By Little's law each part is the mean number of
/// threads with one activity, divided by the throughput of the same window.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RequestTime {
    /// The variant.
    pub variant: String,
    /// The load.
    pub load: String,
    /// The mean service time in the explaining windows.
    pub service_time_ms: f64,
    /// Completed requests per second in the explaining windows. Little's law also counts the time already spent in unfinished requests.
    pub rate_per_s: f64,
    /// Number of runs with an explaining window.
    pub runs: u32,
    /// Number of samples of threads in the explaining windows.
    pub samples: u32,
    /// The role of the threads that were counted.
    pub counted: ThreadRole,
    /// Mean number of idle pool threads.
    pub idle_workers: f64,
    /// The activities of requests, the longest first.
    pub parts: Vec<RequestTimePart>,
    /// The remaining time: requests without a thread (in a queue, on the network, in the kernel, waiting asynchronously), and time that
    /// sampling missed. Negative: more threads were found than requests measured.
    pub without_thread: TimeShare,
    /// The threads in whose queue requests wait meanwhile; `None`: not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue: Option<String>,
}

/// The part of the service time that one activity takes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RequestTimePart {
    #[serde(flatten)]
    pub activity: ThreadActivity,
    /// Mean number of threads with this activity.
    pub threads: f64,
    /// The time that a request spends in this activity.
    #[serde(flatten)]
    pub time: TimeShare,
}

/// A part of the time of a request.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TimeShare {
    /// The time per request in ms.
    pub ms: f64,
    /// The interval by resampling the samples in blocks; `None`: too few samples.
    pub interval: Option<Interval>,
}

impl RequestTime {
    /// A part divided by the whole service time.
    #[must_use]
    pub fn share(&self, part: &RequestTimePart) -> f64 {
        if self.service_time_ms > 0.0 { part.time.ms / self.service_time_ms } else { 0.0 }
    }

    /// The smallest share of the service time that this time can be. Surplus threads may all be in it, so their time is subtracted; the
    /// parts and the rest add up to the whole, which keeps this below 1.
    #[must_use]
    pub fn least_share(&self, ms: f64) -> f64 {
        let least_ms = (ms + self.without_thread.ms.min(0.0)).max(0.0);
        if self.service_time_ms > 0.0 { least_ms / self.service_time_ms } else { 0.0 }
    }
}
