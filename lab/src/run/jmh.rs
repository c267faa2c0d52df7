//! Runs a microbenchmark with JMH and samples its cost. The result is a [`Record`](threadcount_model::record::Record).
//!
//! JMH warms up and repeats by itself, so there is no server and no load.

use super::context::RunContext;
use super::watch::{Event, Watch};
use super::{RunError, Runner};
use std::process::ExitStatus;
use std::slice::from_mut;
use std::sync::atomic::Ordering;
use std::time::Duration;
use threadcount_load::clock::{NANOS_PER_S, now_ns};
use threadcount_machine::jdk::Jdk;
use threadcount_machine::read_limit::ReadLimit;
use threadcount_machine::{Sampler, sampler};
use threadcount_model::experiment::Subject;
use threadcount_model::experiment::benchmark::Benchmark;
use threadcount_model::record::{Record, ServerFacts};
use threadcount_model::window::Window;
use threadcount_servers::error::LaunchError;
use threadcount_servers::server_process::ServerProcess;
use threadcount_servers::workload::jmh::jar::BenchmarkJar;
use threadcount_servers::workload::jmh::scores;
use threadcount_servers::workload::jmh::scores::JmhError;
use threadcount_servers::workload::programs::{self, ProgramsError};

/// JMH's own result file in the folder of the run.
const SCORES: &str = "jmh.json";

/// Runs the variant's method in all its forks.
pub(super) fn measure(run: &mut RunContext<'_>, size: Benchmark) -> Result<(), RunError> {
    let (runner, variant, load) = (run.runner, run.variant, run.load);
    let Subject::Benchmark { benchmark } = &variant.subject else {
        return Err(RunError::NoBenchmark(variant.name.clone()));
    };
    let folder = &run.folder;
    std::fs::create_dir_all(folder)
        .map_err(|source| LaunchError::Folder { path: folder.display().to_string(), source })?;
    run.watch.event(Event::Starting { variant: &variant.name, load: &load.name });
    let (log, file) = (folder.join("server.log"), folder.join(SCORES));
    let found = BenchmarkJar::find(&runner.launcher.jdks, variant, benchmark)?;
    let iteration_s = load.duration_s.unwrap_or_default();
    let command = found.command(variant, &benchmark.method, (size, iteration_s), &file);
    let mut process = ServerProcess::start(&command, &log).map_err(LaunchError::from)?;
    run.record.server = ServerFacts {
        command: command.words(),
        env: command.env.iter().map(|(name, value)| format!("{name}={value}")).collect(),
        pid: process.pid(),
        java: Some(Jdk::describe(&found.jdk)),
        log: runner.folder.relative(log.to_str()),
        ..ServerFacts::default()
    };
    let status = sampled(runner, run.record, &mut process, run.watch)?;
    if !status.success() {
        let log_tail = process.log_tail();
        // JMH prints `ERROR: Unable to acquire the JMH lock (/tmp/jmh.lock)`.
        if log_tail.iter().any(|line| line.contains("JMH lock")) {
            return Err(RunError::BenchmarkLocked);
        }
        return Err(RunError::BenchmarkEnded { status, log_tail });
    }
    let text = ReadLimit::PROGRAM_OUTPUT.read_file(&file).map_err(JmhError::from)?;
    let mut score = scores::parse(&text)?;
    score.file = runner.folder.relative(file.to_str());
    run.record.server.product = Some(format!("JMH {}", score.jmh));
    run.record.benchmark = Some(score);
    Ok(())
}

/// Waits for the process to end and fills in its cost. The last moments are missing, because the counters of a process that has ended
/// cannot be read.
fn sampled(
    runner: &Runner<'_>,
    record: &mut Record,
    process: &mut ServerProcess,
    watch: &mut dyn Watch,
) -> Result<ExitStatus, RunError> {
    let started_ns = now_ns();
    let sampler = Sampler::start(process.pid(), sampler::INTERVAL).map_err(RunError::Observe)?;
    sampler.window_begins();
    let mut alive_ns = started_ns;
    let ended = programs::wait(from_mut(process), Duration::MAX, || {
        let before_s = (alive_ns - started_ns) / NANOS_PER_S;
        alive_ns = now_ns();
        let since_s = (alive_ns - started_ns) / NANOS_PER_S;
        if since_s > before_s {
            watch.event(Event::Benchmarking { since_s });
        }
        runner.interrupted.load(Ordering::Relaxed)
    });
    let status = match ended.as_deref() {
        Ok([ended]) => ended.status,
        Err(ProgramsError::System(error)) => return Err(RunError::Observe(error.kind().into())),
        _ => return Err(RunError::Interrupted),
    };
    let samples = sampler.stop();
    let window = Window { started_ns, ended_ns: alive_ns };
    (record.cost, record.process_series) = samples.cut(window);
    Ok(status)
}
