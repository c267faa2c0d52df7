//! Fewer requests run at once than are in flight: a limit, whatever its name. What the threads that run have in common is its name.

mod by_time;
#[cfg(test)]
mod polling_tests;
mod rule;
#[cfg(test)]
mod tests;
mod words;

pub(crate) use rule::{find_after, in_window};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use threadcount_model::record::thread_family::Executor;
use threadcount_model::record::wait_profile::{ThreadActivity, ThreadState};

/// Do so many of an executor's threads work that it is full?
fn is_full(executor: &Executor, working: f64) -> bool {
    const NEARLY_ALL: f64 = 0.85;
    working >= NEARLY_ALL * f64::from(executor.size)
}

/// How many requests run at once, and what shows that no more can.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ConcurrencyLimit {
    /// The most requests that run at once.
    pub at_once: f64,
    /// Requests in flight.
    pub in_flight: f64,
    /// Requests completed per second; `None`: not known.
    pub rate_per_s: Option<f64>,
    /// Counted at the server's sockets, as no load was sent (`watch`).
    pub is_rate_estimate: bool,
    /// The threads that requests run on; `None`: each has a thread of its own.
    pub threads: Option<LimitedThreads>,
    /// What those that run do, and where most of them are.
    pub running: ThreadActivity,
    /// The share of those that run which is there: 0 to 1.
    pub at_place: f64,
    /// Where threads with a request wait for those that run.
    pub waiting: Option<WaitingThreads>,
    /// Where no threads run: connections that carry one request after the other, or with `alone_ms` perhaps several at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connections: Option<LimitedConnections>,
    /// The time of a request that had the server to itself, where that alone shows how many run at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alone_ms: Option<f64>,
}

/// Connections to one address, each with a request on it all the time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LimitedConnections {
    /// Host and port.
    pub address: String,
    /// How many.
    pub connections: u32,
}

/// Threads of one name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LimitedThreads {
    /// With `*` for the number.
    pub name: String,
    /// Each waits for many channels, and handles what arrives itself.
    pub is_event_loop: bool,
    /// `None`: not known.
    pub executor: Option<Executor>,
    /// Tasks in its queue, on average; `None`: not known.
    pub queued: Option<f64>,
}

/// Threads with a request that wait at one place.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WaitingThreads {
    /// What they wait for, and where.
    pub activity: ThreadActivity,
    /// How many, on average.
    pub threads: f64,
    /// Virtual threads that wait for a carrier, because those that wait here or run are pinned to all of them; on average.
    pub without_carrier: f64,
}

impl WaitingThreads {
    /// A notification or an element may stand for anything.
    fn is_condition(&self) -> bool {
        matches!(self.activity.state, ThreadState::Wait | ThreadState::Queue)
    }

    /// One that polls may check for anything as well.
    fn may_be_for_news(&self) -> bool {
        self.is_condition() || self.activity.state == ThreadState::Poll
    }
}

impl ConcurrencyLimit {
    /// Those that do not run sleep until it is their turn: what lets them go on counts time, not requests.
    fn pace(&self) -> Option<&WaitingThreads> {
        self.waiting.as_ref().filter(|it| self.alone_ms.is_some() && it.activity.state == ThreadState::Sleep)
    }

    /// Does it say that threads wait for this?
    pub(crate) fn names(&self, wait: &ThreadActivity) -> bool {
        self.waiting.as_ref().is_some_and(|it| {
            (it.activity.state, &it.activity.application) == (wait.state, &wait.application)
        })
    }
}
