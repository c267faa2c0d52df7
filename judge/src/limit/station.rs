//! A station of requests: a resource with a number of servers, the requests in service, and those that wait for a server.

use crate::finding::Fact;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use threadcount_model::record::jvm::PoolKind;
use threadcount_model::record::thread_family::Executor;
use threadcount_model::record::wait_profile::{ThreadActivity, ThreadState};
use threadcount_model::request_time::TimeShare;

/// A station whose servers are all taken while other requests wait for one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Station {
    /// The resource that requests need.
    pub resource: Resource,
    /// The most requests that are in service at once; `None` if unknown.
    pub servers: Option<Servers>,
    /// Share of the pool's own readings in which all of it was in use; `None` if it has no counters.
    pub full_share: Option<f64>,
    /// Requests in flight; without a load, the threads with a request, or the requests at the server's sockets.
    pub in_flight: Option<f64>,
    /// Requests completed per second; `None` if unknown.
    pub rate_per_s: Option<f64>,
    /// Whether the rate was counted at the server's sockets because no load was sent (`watch`).
    pub is_rate_estimate: bool,
    /// Mean time of a request, if the time in the queue is known, or if the clients do nothing but wait for that time.
    pub service_time_ms: Option<f64>,
    /// Time of a request that waits for no other, if that time shows how many are in service, or that all servers are taken.
    pub unqueued_ms: Option<f64>,
    /// The requests in service; `None` if unknown.
    pub in_service: Option<InService>,
    /// The requests that wait for a server; `None` if nothing shows where they are.
    pub queue: Option<Queue>,
    /// The service times, if most requests are fast and some starve in the queue.
    pub tail: Option<Tail>,
}

/// The resource that a station is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Resource {
    /// Whatever the activity of the queue names: a lock, permits, a result, another service. Unnamed if there is no queue.
    #[default]
    Awaited,
    /// The clients of the load, each of which waits for its response: the server has room for more.
    Clients,
    /// The server's own pool of threads, each of which handles one request.
    ServerPool,
    /// Threads that requests are handed over to.
    Threads(LimitedThreads),
    /// A pool of connections that counts itself.
    ConnectionPool(ConnectionPool),
    /// Connections to one address, seen by the kernel.
    Neighbour(LimitedConnections),
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
}

/// A pool of connections.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ConnectionPool {
    /// The library that the pool belongs to.
    pub library: PoolKind,
    /// The pool's own name.
    pub name: String,
    /// Mean number of threads, or of requests without a thread, that wait for a connection, by the pool's counters.
    pub waiting: f64,
}

/// Connections to one address. They carry one request after the other if they are as many as the servers, and otherwise several at once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LimitedConnections {
    /// Host and port.
    pub address: String,
    /// Number of connections.
    pub connections: u32,
}

/// The number of requests that a station serves at once.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Servers {
    /// The number; a mean if it comes from arithmetic and is small.
    pub count: f64,
    /// The evidence for the number.
    pub known_by: KnownBy,
}

/// The evidence for a number of servers, the most certain first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum KnownBy {
    /// The resource's own counters or settings.
    Gauge,
    /// Counts of all threads or connections, none of which was higher.
    Count,
    /// Throughput x the time of a request alone.
    Arithmetic,
    /// Samples of some of the threads.
    Samples,
}

/// Requests in service.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct InService {
    /// The activity of most of them.
    #[serde(flatten)]
    pub activity: ThreadActivity,
    /// Share of the requests in service with that activity, 0 to 1.
    pub share: f64,
}

/// Requests that wait for a server.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Queue {
    /// Mean number of requests that wait.
    pub requests: f64,
    /// The wait of their threads and its place; `None` if they wait without a thread, in the queue of an executor.
    pub activity: Option<ThreadActivity>,
    /// Share of the threads waiting there that have a request; `None` if unknown.
    pub request_share: Option<f64>,
    /// Mean number of virtual threads that have no carrier because threads that wait here or run are pinned to all of them; `None` if there
    /// are none.
    pub without_carrier: Option<f64>,
    /// Time that a request spends waiting there; `None` if no load was sent (`watch`).
    pub time: Option<TimeShare>,
}

/// Service times of which a few are very much longer than the rest.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names are the definition")]
pub struct Tail {
    pub p50_ms: f64,
    pub p99_ms: f64,
    /// Share of the mean service time spent waiting for what other requests hold, at whatever line, 0 to 1.
    pub waiting_share: f64,
}

impl Servers {
    pub(super) const fn new(count: f64, known_by: KnownBy) -> Self {
        Self { count, known_by }
    }

    /// Whether at no time more requests than these can be, or were, in service.
    pub(super) const fn is_exact(self) -> bool {
        matches!(self.known_by, KnownBy::Gauge | KnownBy::Count)
    }
}

/// Does a thread with this activity wait for a notification or an element? Either may stand for anything.
pub(super) const fn is_condition(activity: &ThreadActivity) -> bool {
    matches!(activity.state, ThreadState::Wait | ThreadState::Queue)
}

impl Queue {
    pub(super) fn is_condition(&self) -> bool {
        self.activity.as_ref().is_some_and(is_condition)
    }
}

impl Station {
    /// The activity of the threads that wait for this station.
    #[must_use]
    pub fn wait(&self) -> Option<&ThreadActivity> {
        self.queue.as_ref()?.activity.as_ref()
    }

    /// Adds the time that requests wait here, as sampled, to the counted number of servers.
    pub(super) fn add_time(&mut self, wait: Self) {
        self.service_time_ms = wait.service_time_ms;
        if let Some(queue) = &mut self.queue {
            queue.time = wait.queue.and_then(|it| it.time);
        }
    }

    /// Whether the same threads wait for both stations.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        let place = |it: &Self| it.wait().map(ThreadActivity::place);
        self.wait().is_some() && place(self) == place(other)
    }

    /// The service time of a request, by Little's law.
    pub(crate) fn service_ms(&self) -> Option<f64> {
        Some(self.servers?.count * 1_000.0 / self.rate_per_s?)
    }

    /// The kind of finding that this station is, which depends on what is known about it.
    pub(crate) fn into_fact(self) -> Fact {
        match (&self.resource, self.servers) {
            (Resource::Clients, _) => Fact::ClientCeiling(self),
            (Resource::ServerPool, _) => Fact::PoolCeiling(self),
            _ if self.tail.is_some() => Fact::UnfairWaits(self),
            (Resource::ConnectionPool(_), _) if self.queue.is_none() => Fact::Waiting(self),
            (Resource::ConnectionPool(_), _) | (_, None) => Fact::RequestWaits(self),
            (_, Some(_)) => Fact::ConcurrencyLimit(self),
        }
    }
}

impl Fact {
    /// The station that is the limit; `None` for findings of other kinds.
    #[must_use]
    pub const fn station(&self) -> Option<&Station> {
        match self {
            Self::PoolCeiling(it)
            | Self::ConcurrencyLimit(it)
            | Self::Waiting(it)
            | Self::RequestWaits(it)
            | Self::UnfairWaits(it)
            | Self::ClientCeiling(it) => Some(it),
            _ => None,
        }
    }
}
