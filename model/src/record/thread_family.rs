//! Platform threads of one name: how many of them work at once, where, and for which executor.

use super::wait_profile::ThreadActivity;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Threads whose names differ in their last number alone.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadFamily {
    /// With `*` for the number; of virtual threads it may be empty.
    pub name: String,
    /// All virtual threads are one family.
    pub is_virtual: bool,
    /// In the order of time, as many for each family.
    pub samples: Vec<FamilySample>,
    /// Of those that work, the share in which a server handles a request: 0 to 1.
    pub request_share: f64,
    /// What most of those that work do, and where.
    pub activity: ThreadActivity,
    /// The share of those that work which is there: 0 to 1.
    pub at_place: f64,
    /// Each of them waits for many channels, and handles what arrives itself.
    pub is_event_loop: bool,
    /// `None`: they work for none of the JDK's, or for one that has no figures.
    pub executor: Option<Executor>,
    /// Tasks that the executor completed, or threads that were made for tasks, per second; `None`: it does not count them.
    pub completed_per_s: Option<f64>,
    /// How often its threads began to wait, per second, by the kernel; `None`: not read.
    pub switches_per_s: Option<f64>,
}

/// One sample of a family.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FamilySample {
    /// All of them.
    pub threads: u32,
    /// Those that work on something or wait for something outside of the JVM; see `is_estimate`.
    pub working: f64,
    /// Those that have work and wait for other threads.
    pub waiting: f64,
    /// Only some were looked at.
    pub is_estimate: bool,
    /// Tasks in the executor's queue; `None`: it has none.
    pub queued: Option<u64>,
}

/// An executor of the JDK, or one with the same figures.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Executor {
    /// Its class.
    pub class: String,
    /// The most tasks that it runs at once.
    pub size: u32,
    /// The number of threads that it was allowed.
    pub maximum: u32,
}

impl ThreadFamily {
    /// On average over the samples.
    #[must_use]
    pub fn mean(&self, figure: impl Fn(&FamilySample) -> f64) -> f64 {
        self.samples.iter().map(figure).sum::<f64>() / self.samples.len().max(1) as f64
    }
}
