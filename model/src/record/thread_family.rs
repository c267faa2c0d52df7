//! Threads grouped by name: how many work at once, where, and for which executor.

use super::wait_profile::ThreadActivity;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Threads whose names differ only in their last number.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadFamily {
    /// The name with `*` for the number; virtual threads may have an empty name.
    pub name: String,
    /// The family is that of all virtual threads.
    pub is_virtual: bool,
    /// Samples in the order of time, equally many for each family.
    pub samples: Vec<FamilySample>,
    /// The share of working threads in which a server handles a request: 0 to 1.
    pub request_share: f64,
    /// The most frequent activity of the working threads.
    pub activity: ThreadActivity,
    /// The share of working threads with that activity: 0 to 1.
    pub at_place: f64,
    /// Each thread waits for many channels, and handles whatever arrives on them itself.
    pub is_event_loop: bool,
    /// The executor; `None`: the threads belong to no executor of the JDK, or to one without figures.
    pub executor: Option<Executor>,
    /// Tasks that the executor completed, or threads made for tasks, per second; `None`: not counted by the executor.
    pub completed_per_s: Option<f64>,
    /// How often the threads began to wait, per second, by the kernel's count; `None`: not read.
    pub switches_per_s: Option<f64>,
}

/// One sample of a family.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FamilySample {
    /// All threads of the family.
    pub threads: u32,
    /// Threads that work, or wait for something outside of the JVM; see `is_estimate`.
    pub working: f64,
    /// Threads that have work but wait for other threads.
    pub waiting: f64,
    /// Only some of the threads were sampled.
    pub is_estimate: bool,
    /// Tasks in the executor's queue; `None`: the executor has no queue.
    pub queued: Option<u64>,
}

/// An executor of the JDK, or another one with the same figures.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Executor {
    /// The class of the executor.
    pub class: String,
    /// The largest number of tasks that run at once.
    pub size: u32,
    /// The largest number of threads that the executor may create.
    pub maximum: u32,
}

impl ThreadFamily {
    /// The mean of a figure over the samples.
    #[must_use]
    pub fn mean(&self, figure: impl Fn(&FamilySample) -> f64) -> f64 {
        self.samples.iter().map(figure).sum::<f64>() / self.samples.len().max(1) as f64
    }
}
