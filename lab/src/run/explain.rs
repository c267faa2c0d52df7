//! The explaining window: after the compared figures are measured, the same load runs once more with the probe in the JVM.

use super::context::RunContext;
use super::lasting::lasting;
use super::observed::observed;
use super::recompiling::recompile;
use super::sender::PlannedLoad;
use super::{DuringLoad, Question, RunError, figures, halfway};
use crate::run::watch::Event;
use std::path::Path;
use std::time::Duration;
use threadcount_load::outcome::Second;
use threadcount_load::plan::LoadPlan;
use threadcount_load::report::LoadReport;
use threadcount_model::experiment::Experiment;
use threadcount_model::experiment::explaining::LEAD_IN_S;
use threadcount_model::record::explaining::{ExplainingWindow, Recompiling};
use threadcount_model::window::Window;
use threadcount_servers::running_server::RunningServer;

/// Looks for reasons. The figures measured before stand, whatever happens here: a server that does not survive being observed has been
/// measured unobserved.
pub(super) fn explain(run: &mut RunContext<'_>, plan: &LoadPlan, server: &mut RunningServer) {
    let load = run.load;
    let is_wanted = server.is_to_be_observed() && run.runner.experiment.explains(load, run.record.round);
    let is_dumped = load.thread_dump && server.pid().is_some();
    if !is_wanted && !is_dumped {
        return;
    }
    if is_wanted {
        run.record.probe_refused = server.attach_instruments();
    }
    let dump = is_dumped.then(|| run.folder.join("threads.json"));
    match look(run, plan, server, is_wanted, dump.as_deref()) {
        Ok(window) => run.record.jvm = server.readings(window),
        Err(error) if error.is_interrupt() => {}
        Err(error) => run.record.unexplained = Some(error.to_string()),
    }
    let dumped = dump.filter(|file| file.is_file()).map(|file| file.display().to_string());
    run.record.thread_dump = run.runner.folder.relative(dumped.as_deref());
}

fn look(
    run: &mut RunContext<'_>,
    plan: &LoadPlan,
    server: &mut RunningServer,
    is_wanted: bool,
    dump: Option<&Path>,
) -> Result<Window, RunError> {
    // One of two instruments may be attached even if the other was refused.
    let recompiling = is_wanted.then(|| recompile(run, plan, server)).transpose()?;
    explaining_window(run, plan, server, dump, recompiling)
}

fn lasts(experiment: &Experiment, measured: Option<&LoadReport>) -> Duration {
    let measured_s = measured.map_or(0.0, |load| load.elapsed_s);
    let mean_ms = measured.and_then(|load| load.service_time_ms).map_or(0.0, |times| times.mean);
    Duration::from_secs_f64(experiment.explaining_requests_s(measured_s, mean_ms / 1_000.0))
}

fn explaining_window(
    run: &mut RunContext<'_>,
    plan: &LoadPlan,
    server: &mut RunningServer,
    dump: Option<&Path>,
    recompiling: Option<Recompiling>,
) -> Result<Window, RunError> {
    let (runner, spec, watch) = (run.runner, run.load, &mut *run.watch);
    let on_second = &mut |second: &Second| watch.event(Event::Explaining(second));
    let plan = lasting(plan, lasts(runner.experiment, run.record.measured.as_ref())).with(|plan| {
        if plan.is_steady() {
            plan.lead_in = plan.lead_in.max(Duration::from_secs_f64(LEAD_IN_S));
        }
    });
    let mut ask = |server: &RunningServer| {
        // A run without a dump is just as good; whether the file exists shows whether there is one.
        let _ = dump.map(|file| server.dump_threads(file));
    };
    let question = dump.map(|_| Question { after: halfway(&plan), ask: &mut ask, ends_load: false });
    let (outcome, observed) = observed(server, |server, window_begins| {
        let during = DuringLoad { on_begin: Some(window_begins), question };
        let load = PlannedLoad { spec, plan: &plan };
        runner.load_until(load, server, during, &mut |second, _| on_second(second))
    })?;
    let outcome = outcome?;
    runner.check(server, "observed")?;
    let window = Window::of_load(&outcome);
    let load = LoadReport::new(&outcome, &plan);
    let cost = figures::cost_within(&load, window, &observed.samples).0;
    run.record.explaining = Some(ExplainingWindow { load, cost, recompiling });
    Ok(window)
}
