//! The warm-up with few clients before the periods, on each kind of thread in turn.

use super::{CrossoverEvent, CrossoverFailure, CrossoverOrder, SILENT_S};
use crate::run::few_clients::FewClients;
use crate::run::silence::{Hang, Silence};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use threadcount_load::outcome::{LoadOutcome, Second};
use threadcount_load::run::{self, Control};
use threadcount_machine::probe::crossover::CrossoverSession;
use threadcount_model::crossover::CrossoverWarmUp;

/// The longest warm-up in seconds. A fresh JVM needs no longer on two cores; a JVM that already runs is soon found to be warm.
const AT_MOST_S: f64 = 30.0;
/// Seconds on one kind of thread before the next: each kind must get the application's code, and the places that call it, compiled.
const SECONDS_PER_TREATMENT: u32 = 2;

/// Sends few clients' requests until the JVM is in a steady state.
pub(super) fn warm_up(
    order: &CrossoverOrder<'_>,
    session: &CrossoverSession,
    stop: &AtomicBool,
    watch: &mut dyn FnMut(CrossoverEvent<'_>),
) -> Result<CrossoverWarmUp, CrossoverFailure> {
    let kinds = order.treatments.len();
    let mut few_clients = FewClients::on_kinds(kinds, Some(order.pid), order.plan, 1, AT_MOST_S);
    let (mut passed, mut silent_s) = (0, 0);
    while let Some(plan) = few_clients.next_round(order.plan).filter(|_| !stop.load(Ordering::Relaxed)) {
        let over = AtomicBool::new(false);
        let mut switched = Ok(());
        let mut on_second = |second: &Second| {
            watch(CrossoverEvent::WarmingUp(second));
            let kind = |passed: u32| (passed / SECONDS_PER_TREATMENT) as usize % kinds;
            let ends = few_clients.passed_on(kind(passed), second);
            passed += 1;
            silent_s = if second.counts.ok > 0 { 0 } else { silent_s + 1 };
            if passed % SECONDS_PER_TREATMENT == 0 {
                switched = session.switch_to(order.treatments[kind(passed)], order.port).map(drop);
            }
            if ends || silent_s >= SILENT_S || switched.is_err() || stop.load(Ordering::Relaxed) {
                over.store(true, Ordering::Relaxed);
            }
        };
        let mut outcome = run::run(&plan, Control::new(&over, &mut on_second))?;
        switched?;
        if silent_s >= SILENT_S && !stop.load(Ordering::Relaxed) {
            silent_s = 0;
            look_into(order.pid, &mut outcome)?;
            none_expected(&outcome).map_or(Ok(()), Err)?;
        }
        few_clients.round_ended(&outcome);
    }
    let steady = few_clients.is_steady();
    Ok(CrossoverWarmUp { few_clients_s: few_clients.lasted_s(), load_s: 0.0, steady })
}

/// The failure to report when no request succeeded: requests would then fail on every kind of thread.
fn none_expected(outcome: &LoadOutcome) -> Option<CrossoverFailure> {
    let (&why, _) = outcome.failures.iter().max_by_key(|(_, count)| **count)?;
    let is_none = outcome.counts.ok == 0;
    is_none.then_some(CrossoverFailure::NoneExpected { sent: outcome.counts.sent, why })
}

/// Fails if the service hangs. The round without a response was ended by us, not by the user.
fn look_into(pid: u32, outcome: &mut LoadOutcome) -> Result<(), CrossoverFailure> {
    outcome.interrupted = false;
    let hang = Silence::of(outcome).and_then(|it| Hang::find(Some(pid), Some(it), true, &Arc::default()));
    hang.filter(Hang::is_proven).map_or(Ok(()), |it| Err(CrossoverFailure::Hangs(Box::new(it))))
}
