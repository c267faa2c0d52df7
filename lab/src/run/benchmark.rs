//! One run of a microbenchmark: JMH measures, we look at what it costs → [`Record`].
//!
//! JMH warms up and repeats by itself, so nothing is loaded here.

use super::watch::{Event, Watch};
use super::{EXIT_LOOK, RunError, Runner};
use crate::host::cpu_clock::stolen_ns;
use crate::host::jdk::Jdk;
use crate::host::{Sampler, sampler};
use crate::model::experiment::benchmark::Benchmark;
use crate::model::experiment::{BenchmarkMethod, LoadSpec, Variant};
use crate::model::record::{Record, ServerFacts};
use crate::server::error::LaunchError;
use crate::server::server_process::ServerProcess;
use crate::workload::jmh::jar::BenchmarkJar;
use crate::workload::jmh::scores::{self, JmhError};
use std::process::ExitStatus;
use std::sync::atomic::Ordering;
use threadcount_load::clock::{NANOS_PER_S, Nanos, now_ns};

/// JMH's own result file in the folder of the run.
const SCORES: &str = "jmh.json";

impl Runner<'_> {
    /// Runs one method in all its forks.
    pub(super) fn benchmark(
        &self,
        record: &mut Record,
        variant: &Variant,
        load: &LoadSpec,
        (benchmark, size): (&BenchmarkMethod, Benchmark),
        watch: &mut dyn Watch,
    ) -> Result<(), RunError> {
        let folder = self.folder.run_folder(record.position, &variant.name, &load.name);
        std::fs::create_dir_all(&folder)
            .map_err(|source| LaunchError::Folder { path: folder.display().to_string(), source })?;
        watch.event(Event::Starting { variant: &variant.name, load: &load.name });
        let (log, file) = (folder.join("server.log"), folder.join(SCORES));
        let found = BenchmarkJar::find(&self.launcher.jdks, variant, benchmark)?;
        let iteration_s = load.duration_s.unwrap_or_default();
        let command = found.command(variant, &benchmark.method, (size, iteration_s), &file);
        let mut process = ServerProcess::start(&command, &log).map_err(LaunchError::from)?;
        record.server = ServerFacts {
            command: command.words(),
            env: command.env.iter().map(|(name, value)| format!("{name}={value}")).collect(),
            pid: process.pid(),
            java: Some(Jdk::describe(&found.jdk)),
            log: self.folder.relative(log.to_str()),
            ..ServerFacts::default()
        };
        let status = self.observed(record, &mut process, watch)?;
        if !status.success() {
            return Err(RunError::BenchmarkEnded { status, log_tail: process.log_tail() });
        }
        let text = std::fs::read_to_string(&file).map_err(JmhError::from)?;
        let mut score = scores::parse(&text)?;
        score.file = self.folder.relative(file.to_str());
        record.server.product = Some(format!("JMH {}", score.jmh));
        record.benchmark = Some(score);
        Ok(())
    }

    /// Waits for its end and fills in what it cost. Its last moments are not in the cost: the counters of a process that
    /// has ended cannot be read.
    fn observed(
        &self,
        record: &mut Record,
        process: &mut ServerProcess,
        watch: &mut dyn Watch,
    ) -> Result<ExitStatus, RunError> {
        let (started_ns, stolen_before_ns) = (now_ns(), stolen_ns());
        let sampler = Sampler::start(process.pid(), sampler::INTERVAL).map_err(RunError::Observe)?;
        let (status, alive_ns) = self.wait(process, started_ns, watch)?;
        let samples = sampler.stop();
        let (cost, series) = samples.cut(started_ns, alive_ns);
        let lasted_ns = alive_ns.saturating_sub(started_ns) as f64;
        let stolen_ns = stolen_ns().saturating_sub(stolen_before_ns) as f64;
        record.cost = cost.map(|mut cost| {
            cost.stolen_cores = if lasted_ns > 0.0 { stolen_ns / lasted_ns } else { 0.0 };
            cost
        });
        record.process_series = series;
        Ok(status)
    }

    /// Its end, and when it was last seen alive.
    fn wait(
        &self,
        process: &mut ServerProcess,
        started_ns: Nanos,
        watch: &mut dyn Watch,
    ) -> Result<(ExitStatus, Nanos), RunError> {
        let mut alive_ns = started_ns;
        let mut told_s = 0;
        loop {
            if let Some(status) = process.has_exited() {
                return Ok((status, alive_ns));
            }
            if self.interrupted.load(Ordering::Relaxed) {
                return Err(RunError::Interrupted);
            }
            alive_ns = now_ns();
            let since_s = (alive_ns - started_ns) / NANOS_PER_S;
            if since_s > told_s {
                told_s = since_s;
                watch.event(Event::Benchmarking { since_s });
            }
            std::thread::park_timeout(EXIT_LOOK);
        }
    }
}
