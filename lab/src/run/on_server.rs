//! Does a run on a server: starts it, warms it up, measures the workload, and stops it.

use super::context::{MeasuredWindow, RunContext, ServerWorkload};
use super::silence::Hang;
use super::watch::Event;
use super::{RunError, explain, memory};
use std::path::Path;
use std::time::Duration;
use threadcount_load::plan::LoadPlan;
use threadcount_machine::jvm_log::stops::Stops;
use threadcount_machine::other_processes::OtherProcesses;
use threadcount_machine::other_session::other_session;
use threadcount_machine::{jvm_flags, jvm_log};
use threadcount_model::experiment::Variant;
use threadcount_model::record::jvm_log::JvmLog;
use threadcount_model::record::{BeforeAfter, ServerFacts};
use threadcount_model::window::Window;
use threadcount_servers::kind::ServerKind;
use threadcount_servers::kinds::kind;
use threadcount_servers::request_thread;
use threadcount_servers::running_server::RunningServer;
use threadcount_servers::workload::load_plan::{LoadPlanError, load_plan, round_seed};
use threadcount_stats::observed_causes::of_log;
use threadcount_stats::pause_ledger::pause_ledger;

/// Measures the workload on a fresh server.
pub(super) fn measure(run: &mut RunContext<'_>, workload: &dyn ServerWorkload) -> Result<(), RunError> {
    let (runner, variant, load) = (run.runner, run.variant, run.load);
    run.watch.event(Event::Starting { variant: &variant.name, load: &load.name });
    let mut server = runner.launcher.launch(variant, load.clients(), &run.folder, runner.interrupted)?;
    run.record.server = server.facts.clone();
    run.record.server.log = runner.folder.relative(run.record.server.log.as_deref());
    for backend in &mut run.record.server.backends {
        backend.log = runner.folder.relative(backend.log.as_deref());
    }
    is_as_configured(variant, &run.record.server)?;
    if server.pid().is_some() {
        run.watch.event(Event::Ready { after_ms: run.record.server.ready_after_ms });
    }
    let memory_before = server.native_memory();

    let plan = measured_plan(run, &server.url)?;
    runner.warm_up(run.record, load, &plan, &mut server, run.watch)?;
    let before = other_session();
    let others = OtherProcesses::from_now();
    let measured = workload.measure(run, &plan, &mut server);
    run.record.busiest_other_process = others.busiest(server.pid());
    run.record.other_session = before.or_else(other_session);
    let measured = measured?;

    runner.check(&mut server, "measured")?;
    responds(run, &measured, &server)?;
    let memory_after = server.native_memory();
    run.record.native_memory =
        memory_before.zip(memory_after).map(|(before, after)| BeforeAfter { before, after });
    run.record.memory = memory::count(run, &measured.plan, &mut server);
    runner.check(&mut server, "counting its heap")?;
    explain::explain(run, &measured.plan, &mut server);
    let jvm_log = server.jvm_log();
    let stopped = server.tear_down();
    // The log is complete only now, because a pause is logged when it is over.
    let logged = jvm_log.zip(measured.window).and_then(|(file, window)| logged(run, &file, window));
    run.record.pause_ledger = measured.tail.zip(measured.window).and_then(|(tail, window)| {
        let of_log = logged.as_ref().map(|(_, stops)| of_log(stops)).unwrap_or_default();
        let causes: Vec<_> = of_log.into_iter().chain(tail.sampled_causes).collect();
        pause_ledger(&tail.slow, &causes, window)
    });
    run.record.jvm_log = logged.map(|(log, _)| log);
    // If the server did not stop, the next run would not find the machine that its set-up expects.
    stopped?;
    Ok(())
}

/// Fails the run if the server hangs, whatever it did before.
fn responds(run: &RunContext<'_>, measured: &MeasuredWindow, server: &RunningServer) -> Result<(), RunError> {
    let hang = Hang::find(server.pid(), measured.silence, server.may_be_probed(), run.runner.interrupted);
    hang.map_or(Ok(()), |hang| Err(RunError::Hangs(hang, server.log_tail())))
}

/// The plan of a run, with its own log and a seed for its round.
fn measured_plan(run: &RunContext<'_>, url: &str) -> Result<LoadPlan, LoadPlanError> {
    Ok(load_plan(run.load, url)?.with(|plan| {
        plan.lead_in = Duration::from_secs_f64(run.runner.experiment.lead_in_s(run.load));
        plan.real_time = plan.real_time && leaves_a_core(run.variant, &run.load.sending.cores);
        plan.seed = round_seed(plan.seed, run.record.round);
        plan.log = plan.log.take().and_then(|log| Some(run.folder.join(log.file_name()?)));
    }))
}

/// Whether real-time priority is safe: it would starve a server or backend that has no core besides the generator's.
fn leaves_a_core(variant: &Variant, of_generator: &[usize]) -> bool {
    let behind = variant.backends.iter().map(|backend| &backend.cores);
    std::iter::once(&variant.cores).chain(behind).all(|cores| has_another_core(cores, of_generator))
}

/// A process that is not pinned may use all cores.
fn has_another_core(cores: &[usize], of_generator: &[usize]) -> bool {
    cores.is_empty() || cores.iter().any(|core| !of_generator.contains(core))
}

/// The JVM's log of the window.
fn logged(run: &RunContext<'_>, file: &Path, window: Window) -> Option<(JvmLog, Stops)> {
    let (log, stops) = jvm_log::read_with_stops(file, window)?;
    Some((JvmLog { file: run.runner.folder.relative(file.to_str()), ..log }, stops))
}

/// Checks that the server itself reports the threads and flags that its variant asks for.
fn is_as_configured(variant: &Variant, server: &ServerFacts) -> Result<(), RunError> {
    let kind = variant.server().map(kind);
    let configured = kind.and_then(|kind| kind.thread_kind().or_else(|| variant.kind_setting()));
    request_thread::check(variant, configured, server.request_thread.as_ref())?;
    if !kind.is_some_and(ServerKind::passes_jvm_flags) {
        return Ok(());
    }
    match jvm_flags::missing(&variant.jvm, &server.jvm_flags) {
        Some(flag) => Err(RunError::FlagMissing(flag.to_owned(), server.jvm_flags.join(" "))),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_generator_has_priority_only_where_the_server_has_a_core_besides() {
        assert!(
            has_another_core(&[], &[0]) && has_another_core(&[0, 1], &[0]) && has_another_core(&[1], &[])
        );
        assert!(!has_another_core(&[0], &[0]) && !has_another_core(&[0], &[0, 1]));
    }

    #[test]
    fn a_generator_that_shares_its_core_with_what_is_behind_the_server_has_no_priority() {
        let variant = |neighbour: &str| {
            let text = format!(
                "question: q\nserver: {{command: 'x {{port}}'}}\nrequest: /\nbackends: {{neighbour: {{command: 'y {{port}}'}}}}\n\
                 cores: {{load: '0', server: '1-2', neighbour: '{neighbour}'}}\nvariants: {{a: {{}}}}\n\
                 loads: [{{clients: 1, duration: 1s}}]\n"
            );
            let experiment = threadcount_config::parse("x", "x.yaml", &text, false).expect("an experiment");
            let mut variant = experiment.variants[0].clone();
            // The generator's cores must leave one free even on a machine that has them all.
            variant.cores = vec![1, 2];
            variant.backends[0].cores = threadcount_model::parse::cores(neighbour).expect("cores").0;
            variant
        };
        assert!(!leaves_a_core(&variant("0"), &[0]) && leaves_a_core(&variant("3"), &[0]));
        assert!(leaves_a_core(&variant("0-1"), &[0]));
    }
}
