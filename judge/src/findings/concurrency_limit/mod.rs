//! Fewer requests run at once than are in flight: some limit, which is named by what the running threads have in common.

mod by_time;
#[cfg(test)]
mod queue_tests;
mod rule;
#[cfg(test)]
mod tests;
mod words;

pub(crate) use rule::{find_after, in_window};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use threadcount_model::record::thread_family::Executor;
use threadcount_model::record::wait_profile::{ThreadActivity, ThreadState};

/// Is the executor full, with `working` of its threads at work?
fn is_full(executor: &Executor, working: f64) -> bool {
    const NEARLY_ALL: f64 = 0.85;
    working >= NEARLY_ALL * f64::from(executor.size)
}

/// How many requests run at once, and the evidence that no more can.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ConcurrencyLimit {
    /// The most requests that run at once.
    pub at_once: f64,
    /// Requests in flight.
    pub in_flight: f64,
    /// Requests completed per second; `None` if unknown.
    pub rate_per_s: Option<f64>,
    /// Whether the rate was counted at the server's sockets because no load was sent (`watch`).
    pub is_rate_estimate: bool,
    /// The threads that requests run on; `None` if each request has a thread of its own.
    pub threads: Option<LimitedThreads>,
    /// The activity of the running requests, at the place where most of them are.
    pub running: ThreadActivity,
    /// Share of the running requests that are at that place, 0 to 1.
    pub at_place: f64,
    /// The place where threads with a request wait for the running ones.
    pub waiting: Option<WaitingThreads>,
    /// Connections of requests that run on no thread: each carries one request after the other, or with `alone_ms` perhaps several at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connections: Option<LimitedConnections>,
    /// Time of a request that had the server to itself, if only that time shows how many requests run at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alone_ms: Option<f64>,
}

/// Connections to one address, each with a request on it all the time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LimitedConnections {
    /// Host and port.
    pub address: String,
    /// Number of connections.
    pub connections: u32,
}

/// Threads whose names differ only in a number.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LimitedThreads {
    /// The name with `*` for the number.
    pub name: String,
    /// Whether each thread waits for many channels and handles what arrives itself.
    pub is_event_loop: bool,
    /// The executor that owns the threads; `None` if unknown.
    pub executor: Option<Executor>,
    /// Mean number of tasks in the executor's queue; `None` if unknown.
    pub queued: Option<f64>,
}

/// Threads with a request that wait at one place.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WaitingThreads {
    /// The threads' wait and its place.
    pub activity: ThreadActivity,
    /// Mean number of these threads.
    pub threads: f64,
    /// Mean number of virtual threads that have no carrier because threads that wait here or run are pinned to all of them.
    pub without_carrier: f64,
}

impl WaitingThreads {
    /// Do the threads wait for a notification or an element, which may stand for anything?
    fn is_condition(&self) -> bool {
        matches!(self.activity.state, ThreadState::Wait | ThreadState::Queue)
    }
}

impl ConcurrencyLimit {
    /// The sleeping threads that set the pace, if any: what lets them go on counts time, not requests.
    fn pace(&self) -> Option<&WaitingThreads> {
        self.waiting.as_ref().filter(|it| self.alone_ms.is_some() && it.activity.state == ThreadState::Sleep)
    }

    /// Does this limit already tell that threads wait as `wait` does?
    pub(crate) fn names(&self, wait: &ThreadActivity) -> bool {
        self.waiting.as_ref().is_some_and(|it| {
            (it.activity.state, &it.activity.application) == (wait.state, &wait.application)
        })
    }
}
