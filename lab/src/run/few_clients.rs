//! A warm-up with few clients: at most one per core, so that the compiler has a core when it needs one.
//!
//! Many clients fill the cores, so request threads and the compiler share them: a JVM that is warmed up by the load itself runs much of its
//! code interpreted or badly compiled for minutes. Where requests mostly wait there is room for more clients.

use super::server_seconds::ServerSeconds;
use super::steady::WarmUpTest;
use std::num::NonZeroU32;
use std::thread::available_parallelism;
use std::time::Duration;
use threadcount_load::outcome::{LoadOutcome, Second};
use threadcount_load::plan::{LoadPlan, Pacing, Stop};
use threadcount_model::record::RequestsAlone;

/// The share of the cores below which a server mostly waits. More clients then still leave the compiler its core.
const IDLE_SHARE: f64 = 0.25;
/// The share of the cores up to which the number of clients is raised.
const FILLED_SHARE: f64 = 0.5;
/// A smaller share of the cores is mostly the granularity of the CPU clock.
const LEAST_SHARE: f64 = 0.005;
/// The longest warm-up, in seconds, that the test is told: for it, the test looks at the last three seconds.
const TESTED_S: f64 = 6.0;

/// Rounds of a closed load with few clients, until the JVM is in a steady state or the time is over.
pub(crate) struct FewClients {
    /// One test per kind of thread: the kinds respond at different rates, so one test over all would never see a level rate.
    tests: Vec<WarmUpTest>,
    seconds: ServerSeconds,
    cores: u32,
    /// The number of clients of the load itself.
    most: u32,
    clients: u32,
    next_clients: u32,
    at_most_s: f64,
    lasted_s: f64,
}

impl FewClients {
    /// A warm-up for this load and process that lasts at most `at_most_s`. `least` is the number of clients needed to send at all.
    pub fn new(pid: Option<u32>, plan: &LoadPlan, least: u32, at_most_s: f64) -> Self {
        Self::on_kinds(1, pid, plan, least, at_most_s)
    }

    /// A warm-up for a server whose requests run on several kinds of thread in turn.
    pub fn on_kinds(kinds: usize, pid: Option<u32>, plan: &LoadPlan, least: u32, at_most_s: f64) -> Self {
        let cores = available_parallelism().map_or(1, |cores| cores.get() as u32);
        let most = plan.connections.get();
        let clients = cores.max(least).min(most);
        Self {
            tests: vec![WarmUpTest::new(at_most_s.min(TESTED_S), false); kinds],
            seconds: ServerSeconds::of_process(pid),
            cores,
            most,
            clients,
            next_clients: clients,
            at_most_s,
            lasted_s: 0.0,
        }
    }

    /// Whether the load has more clients than the warm-up.
    pub const fn are_fewer(&self) -> bool {
        self.clients < self.most
    }

    /// The load of the next round; `None` when the warm-up is over.
    pub fn next_round(&self, plan: &LoadPlan) -> Option<LoadPlan> {
        let left_s = self.at_most_s - self.lasted_s;
        (left_s >= 1.0 && self.is_steady() != Some(true)).then(|| with_clients(plan, self.clients, left_s))
    }

    /// Takes in a second of a round. Returns whether the round ends.
    pub fn passed(&mut self, second: &Second) -> bool {
        self.passed_on(0, second)
    }

    /// Like [`passed`](Self::passed), for one of several kinds of thread.
    pub fn passed_on(&mut self, kind: usize, second: &Second) -> bool {
        // The last second may be incomplete.
        if f64::from(second.index) + 1.0 > self.at_most_s - self.lasted_s {
            return true;
        }
        let done = self.seconds.passed(second);
        self.tests[kind].second(done);
        self.next_clients = next_clients(self.clients, done.cpu_cores / f64::from(self.cores), self.most);
        self.next_clients > self.clients || self.is_steady() == Some(true)
    }

    /// Takes in the outcome of a round that has ended.
    pub fn round_ended(&mut self, outcome: &LoadOutcome) {
        self.lasted_s += outcome.ended_ns.saturating_sub(outcome.started_ns) as f64 / 1e9;
        self.clients = self.next_clients;
    }

    /// How long all rounds lasted, in seconds.
    pub const fn lasted_s(&self) -> f64 {
        self.lasted_s
    }

    /// Whether the JVM is in a steady state on each kind of thread, or `None` if too few seconds have passed.
    pub fn is_steady(&self) -> Option<bool> {
        let each: Vec<Option<bool>> = self.tests.iter().map(WarmUpTest::is_steady).collect();
        let is_steady = !each.contains(&Some(false));
        (!is_steady || each.iter().all(Option::is_some)).then_some(is_steady)
    }
}

/// The number of clients in the next round: more if the server used little of the cores.
fn next_clients(clients: u32, used_share: f64, most: u32) -> u32 {
    if used_share >= IDLE_SHARE {
        return clients;
    }
    let filling = f64::from(clients) * FILLED_SHARE / used_share.max(LEAST_SHARE);
    (filling as u32).min(most)
}

/// The usual time for which one client has the server to itself, in seconds.
pub(crate) const ALONE_S: f64 = 1.0;
/// The number of requests for which one client stays alone if they take longer.
const FEW_REQUESTS: f64 = 8.0;

/// How long one client stays alone, given its first response time; `None` if a few more such requests would take too long.
pub(crate) fn alone_s(first_ms: f64) -> Option<f64> {
    Some(FEW_REQUESTS * first_ms / 1_000.0)
        .filter(|seconds| *seconds <= 2.0 * ALONE_S)
        .map(|it| it.max(ALONE_S / 4.0))
}

/// The response times of a client that was alone; `None` if it had no response or a failure.
pub(crate) fn requests_alone(outcome: &LoadOutcome) -> Option<RequestsAlone> {
    let times = outcome.response_time.summary().filter(|_| outcome.counts.failed == 0)?;
    Some(RequestsAlone {
        requests: outcome.counts.ok,
        mean_ms: times.mean,
        p50_ms: times.p50,
        stddev_ms: times.stddev,
    })
}

/// The same requests in a closed loop with this many clients, for this long.
pub(crate) fn with_clients(plan: &LoadPlan, clients: u32, seconds: f64) -> LoadPlan {
    plan.clone().with(|changed| {
        changed.pacing = Pacing::Closed;
        changed.connections = NonZeroU32::new(clients).unwrap_or(NonZeroU32::MIN);
        changed.stop = Stop::Duration(Duration::from_secs_f64(seconds));
        changed.lateness = Duration::ZERO;
        changed.lead_in = Duration::ZERO;
        changed.log = None;
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_that_mostly_wait_get_more_clients_and_requests_that_compute_do_not() {
        assert_eq!(next_clients(2, 0.04, 300), 25);
        assert_eq!(next_clients(150, 0.1, 300), 300);
        assert_eq!(next_clients(2, 0.0, 1_000), 200);
        assert_eq!(next_clients(2, 0.6, 300), 2);
    }

    #[test]
    fn a_client_is_alone_for_a_few_requests_unless_they_take_long() {
        assert_eq!([0.5, 40.0, 250.0, 400.0].map(alone_s), [Some(0.25), Some(0.32), Some(2.0), None]);
    }
}
