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

/// Sends few clients' requests until the JVM is in a steady state.
pub(super) fn warm_up(
    order: &CrossoverOrder<'_>,
    session: &CrossoverSession,
    stop: &AtomicBool,
    watch: &mut dyn FnMut(CrossoverEvent<'_>),
) -> Result<CrossoverWarmUp, CrossoverFailure> {
    let plan = with_few_clients(order.plan);
    let over = AtomicBool::new(false);
    let mut test = WarmUpTest::new(AT_MOST_S, false);
    let mut seconds = ServerSeconds::of_process(Some(order.pid));
    let mut switched = Ok(());
    let mut on_second = |second: &Second| {
        watch(CrossoverEvent::WarmingUp(second));
        test.second(seconds.passed(second));
        let next = (second.index + 1) / SECONDS_PER_TREATMENT;
        if (second.index + 1).is_multiple_of(SECONDS_PER_TREATMENT) {
            let treatment = order.treatments[next as usize % order.treatments.len()];
            switched = session.switch_to(treatment, order.port).map(drop);
        }
        if switched.is_err() || test.is_steady() == Some(true) || stop.load(Ordering::Relaxed) {
            over.store(true, Ordering::Relaxed);
        }
    };
    let outcome = run::run(&plan, Control::new(&over, &mut on_second))?;
    switched?;
    let lasted_s = outcome.ended_ns.saturating_sub(outcome.started_ns) as f64 / 1e9;
    Ok(CrossoverWarmUp { few_clients_s: lasted_s, load_s: 0.0, steady: test.is_steady() })
}

fn with_few_clients(plan: &LoadPlan) -> LoadPlan {
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get() as u32);
    plan.clone().with(|changed| {
        changed.pacing = Pacing::Closed;
        changed.connections = NonZeroU32::new(cores).unwrap_or(NonZeroU32::MIN).min(plan.connections);
        changed.stop = Stop::Duration(Duration::from_secs_f64(AT_MOST_S));
        changed.lateness = Duration::ZERO;
        changed.lead_in = Duration::ZERO;
        changed.log = None;
    })
}
