//! Finds the reasons why kinds of thread differ: after the periods, the load goes on for some seconds on each kind with the probe in the
//! JVM.

use super::{CrossoverFailure, CrossoverOrder};
use crate::run::attached;
use crate::run::probe_lines::{ProbeLines, follow};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use threadcount_load::outcome::LoadOutcome;
use threadcount_load::plan::{LoadPlan, Stop};
use threadcount_load::run::{self, Control};
use threadcount_machine::Samples;
use threadcount_machine::probe::Attached;
use threadcount_machine::probe::crossover::CrossoverSession;
use threadcount_machine::sampler::{INTERVAL, Sampler};
use threadcount_model::crossover::{CROSSOVER, Treatment};
use threadcount_model::record::{Record, RequestThread, ServerFacts};

/// Time for the requests of the previous kind to end and for the flight recorder to start.
const LEAD_IN: Duration = Duration::from_secs(1);
/// Bounds of the counted time, which is a tenth of the periods' budget: with few samples only the most frequent work shows.
const WINDOW: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(4));

/// The measurements on one kind of thread.
struct Observed {
    treatment: Treatment,
    outcome: LoadOutcome,
    samples: Samples,
}

/// Observes each treatment and returns a record for each.
///
/// # Errors
/// The probe or the load cannot be started. What was measured before stands.
pub(super) fn observe(
    order: &CrossoverOrder<'_>,
    session: &CrossoverSession,
    stop: &AtomicBool,
    own_threads: Option<u32>,
) -> Result<Vec<Record>, CrossoverFailure> {
    let attached = Attached::to(order.pid, &order.jar, None)?;
    let detacher = attached.detacher()?;
    let lines = follow(attached);
    let plan = order.plan.clone().with(|plan| {
        plan.stop = Stop::Duration((order.budget / 10).clamp(WINDOW.0, WINDOW.1));
        plan.lead_in = LEAD_IN;
        plan.log = None;
    });
    let mut observed = Vec::new();
    let mut done = Ok(());
    for &treatment in &order.treatments {
        match on(treatment, order, session, stop, &plan) {
            Ok(found) => observed.push(found),
            Err(why) => {
                done = Err(why);
                break;
            }
        }
    }
    let restored = session.restore();
    let ended_ns = observed.last().map_or(0, |it| it.outcome.ended_ns);
    let lines = ProbeLines::read(&lines, &AtomicU64::new(ended_ns), &mut |_| {});
    // If detaching fails, the probe ends by itself.
    let _ = detacher.detach();
    done?;
    restored?;
    let record = |observed: Observed| {
        let mut record = attached::record(
            [&observed.treatment.to_string(), CROSSOVER],
            &plan,
            &observed.outcome,
            lines.whole(),
            &observed.samples,
        );
        record.server = facts(observed.treatment, own_threads);
        record
    };
    Ok(observed.into_iter().map(record).collect())
}

fn on(
    treatment: Treatment,
    order: &CrossoverOrder<'_>,
    session: &CrossoverSession,
    stop: &AtomicBool,
    plan: &LoadPlan,
) -> Result<Observed, CrossoverFailure> {
    session.switch_to(treatment, order.port)?;
    let sampler = Sampler::start(order.pid, INTERVAL)?;
    let outcome =
        run::run(plan, Control::new(stop, &mut |_| {}).with_begin(&mut || sampler.window_begins()))?;
    let samples = sampler.stop();
    if stop.load(Ordering::Relaxed) {
        return Err(CrossoverFailure::Interrupted);
    }
    Ok(Observed { treatment, outcome, samples })
}

fn facts(treatment: Treatment, own_threads: Option<u32>) -> ServerFacts {
    let (pool, is_virtual) = match treatment {
        Treatment::Own => (own_threads, None),
        Treatment::Platform { threads } => (Some(threads), Some(false)),
        Treatment::Virtual { .. } => (None, Some(true)),
    };
    let thread = |is_virtual| RequestThread { name: treatment.to_string(), is_virtual };
    ServerFacts { pool_max_threads: pool, request_thread: is_virtual.map(thread), ..ServerFacts::default() }
}
