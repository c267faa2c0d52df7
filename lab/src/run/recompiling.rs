//! The time between attaching and the explaining window, in which the JVM recompiles the code it gave up.
//!
//! When a recording starts, a JVM of Java 21 gives up all its compiled code (`-Xlog:redefine+class+nmethod=debug` says "Marked all nmethods
//! for deopt"); later versions give up whatever depends on the code of virtual threads and of the changed events. For seconds the server is
//! half as fast, and reasons found in it would be those of a cold JVM.

use super::context::RunContext;
use super::lasting::lasting;
use super::sender::PlannedLoad;
use super::server_seconds::ServerSeconds;
use super::steady::RecompilingTest;
use super::warm_up::warming_rate_per_s;
use super::{DuringLoad, RunError};
use crate::run::watch::Event;
use std::sync::atomic::Ordering;
use std::time::Duration;
use threadcount_load::plan::{LoadPlan, Pacing, RateShape};
use threadcount_model::experiment::Workload;
use threadcount_model::record::Cost;
use threadcount_model::record::explaining::Recompiling;
use threadcount_servers::running_server::RunningServer;

/// The lowest rate while recompiling, because a ramp may begin with nothing.
const LEAST_PER_S: f64 = 1.0;

/// Runs the same load, unobserved, until the compiler is as quiet as when the server was measured.
pub(super) fn recompile(
    run: &mut RunContext<'_>,
    plan: &LoadPlan,
    server: &mut RunningServer,
) -> Result<Recompiling, RunError> {
    let measured_share = run.record.cost.as_ref().and_then(Cost::compiler_share).unwrap_or_default();
    let (runner, spec, watch) = (run.runner, run.load, &mut *run.watch);
    let plan = lasting(
        &without_a_course(plan, spec.workload),
        Duration::from_secs_f64(runner.experiment.longest_recompiling_s()),
    )
    .with(|changed| changed.lead_in = Duration::ZERO);
    let (mut seconds, mut test) = (ServerSeconds::of(server), RecompilingTest::new(measured_share));
    let load = PlannedLoad { spec, plan: &plan };
    let mut is_over = false;
    let outcome = runner.load_until(load, server, DuringLoad::default(), &mut |second, stop| {
        watch.event(Event::Recompiling(second));
        is_over = is_over || test.is_over_after(seconds.passed(second));
        if is_over {
            stop.store(true, Ordering::Relaxed);
        }
    })?;
    runner.check(server, "observed")?;
    runner.settle(spec, server, None, "observed")?;
    Ok(Recompiling { lasted_s: outcome.ended_ns.saturating_sub(outcome.started_ns) as f64 / 1e9, is_over })
}

/// The load at the rate of the warm-up: a much lower rate would compile little, and an overload would leave requests behind.
fn without_a_course(plan: &LoadPlan, workload: Workload) -> LoadPlan {
    let rate_per_s = warming_rate_per_s(workload, &plan.pacing);
    plan.clone().with(|changed| {
        if let (Pacing::Open { shape, .. }, Some(rate_per_s)) = (&mut changed.pacing, rate_per_s) {
            *shape = RateShape::Constant { rate_per_s: rate_per_s.max(LEAST_PER_S) };
        }
    })
}
