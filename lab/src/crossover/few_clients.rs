//! The warm-up with few clients: at most one per core, so that the compiler has a core when it needs one.
//!
//! Many clients fill the cores, and threads of requests and the compiler share them: a JVM that is warmed up by the load itself has
//! much of its code interpreted or badly compiled for minutes.

use super::{CrossoverEvent, CrossoverFailure, CrossoverOrder};
use crate::run::server_seconds::ServerSeconds;
use crate::run::steady::WarmUpTest;
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use threadcount_load::outcome::Second;
use threadcount_load::plan::{LoadPlan, Pacing, Stop};
use threadcount_load::run::{self, Control};
use threadcount_machine::probe::crossover::CrossoverSession;
use threadcount_model::crossover::CrossoverWarmUp;

/// A JVM that was just started needs no longer on two cores; one that runs already is soon seen to be warm.
const AT_MOST_S: f64 = 30.0;
/// Each kind of thread in turn: both compile the application's code, and the places where it is called.
const SECONDS_PER_TREATMENT: u32 = 2;

/// So long each number of clients.
const ROUND_S: f64 = 4.0;
/// Below this part of the cores the server mostly waits, and more clients leave the compiler its core all the same.
const IDLE_SHARE: f64 = 0.25;
/// How many times as many clients come next: of the idle share that is at most all but a small part of the cores.
const MORE: u32 = 3;

/// Sends few clients' requests until the JVM is in a steady state: at first one client per core, more where requests mostly wait.
pub(super) fn warm_up(
    order: &CrossoverOrder<'_>,
    session: &CrossoverSession,
    stop: &AtomicBool,
    watch: &mut dyn FnMut(CrossoverEvent<'_>),
) -> Result<CrossoverWarmUp, CrossoverFailure> {
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get() as u32);
    let most = order.plan.connections.get();
    let mut warming = Warming {
        test: WarmUpTest::new(AT_MOST_S, false),
        seconds: ServerSeconds::of_process(Some(order.pid)),
        passed: 0,
        lasted_s: 0.0,
    };
    let mut clients = cores.min(most);
    loop {
        let cpu_cores = warming.round(order, session, stop, clients, watch)?;
        let next = next_clients(clients, cpu_cores / f64::from(cores), most);
        let is_steady = warming.test.is_steady() == Some(true) && next == clients;
        if is_steady || stop.load(Ordering::Relaxed) || warming.lasted_s >= AT_MOST_S {
            let steady = warming.test.is_steady();
            return Ok(CrossoverWarmUp { few_clients_s: warming.lasted_s, load_s: 0.0, steady });
        }
        clients = next;
    }
}

/// More where the server used little of the cores.
fn next_clients(clients: u32, used_share: f64, most: u32) -> u32 {
    if used_share < IDLE_SHARE { clients.saturating_mul(MORE).min(most) } else { clients }
}

/// The warm-up so far.
struct Warming {
    test: WarmUpTest,
    seconds: ServerSeconds,
    /// Whole seconds of all rounds.
    passed: u32,
    lasted_s: f64,
}

impl Warming {
    /// Some seconds with so many clients; returns the cores that the server used on average.
    fn round(
        &mut self,
        order: &CrossoverOrder<'_>,
        session: &CrossoverSession,
        stop: &AtomicBool,
        clients: u32,
        watch: &mut dyn FnMut(CrossoverEvent<'_>),
    ) -> Result<f64, CrossoverFailure> {
        let plan = with_clients(order.plan, clients);
        let over = AtomicBool::new(false);
        let mut switched = Ok(());
        let mut used = Vec::new();
        let mut on_second = |second: &Second| {
            // The last one of a round is a part of a second.
            if f64::from(second.index) + 1.0 > ROUND_S {
                return;
            }
            watch(CrossoverEvent::WarmingUp(second));
            let done = self.seconds.passed(second);
            used.push(done.cpu_cores);
            self.test.second(done);
            self.passed += 1;
            if self.passed.is_multiple_of(SECONDS_PER_TREATMENT) {
                let turn = (self.passed / SECONDS_PER_TREATMENT) as usize;
                let treatment = order.treatments[turn % order.treatments.len()];
                switched = session.switch_to(treatment, order.port).map(drop);
            }
            if switched.is_err() || stop.load(Ordering::Relaxed) {
                over.store(true, Ordering::Relaxed);
            }
        };
        let outcome = run::run(&plan, Control::new(&over, &mut on_second))?;
        switched?;
        self.lasted_s += outcome.ended_ns.saturating_sub(outcome.started_ns) as f64 / 1e9;
        Ok(threadcount_stats::runs::mean(&used).unwrap_or_default())
    }
}

fn with_clients(plan: &LoadPlan, clients: u32) -> LoadPlan {
    plan.clone().with(|changed| {
        changed.pacing = Pacing::Closed;
        changed.connections = NonZeroU32::new(clients).unwrap_or(NonZeroU32::MIN);
        changed.stop = Stop::Duration(Duration::from_secs_f64(ROUND_S));
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
        assert_eq!(next_clients(2, 0.03, 300), 6);
        assert_eq!(next_clients(150, 0.1, 300), 300);
        assert_eq!(next_clients(2, 0.6, 300), 2);
    }
}
