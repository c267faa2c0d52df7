//! A load that an external load tool sends. We start the tool, read its figures and measure its CPU.
//!
//! Studies publish figures of `ab`, some of which are limits of `ab` itself. Loading the same server with `ab` and with
//! our own generator shows which.

pub mod ab;
pub mod keys;
pub mod quantiles;

use super::programs::{self, ProgramsError};
use crate::command_line::ServerCommand;
use crate::server_process::{Ended, ServerProcess};
use quantiles::{Table, of_all};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::time::Duration;
use threadcount_load::clock::{Nanos, now_ns};
use threadcount_load::report::LoadReport;
use threadcount_machine::read_limit::ReadLimit;
use threadcount_model::experiment::{LoadSpec, Tool};
use threadcount_model::record::MorePercentiles;
use threadcount_model::record::external::{ExternalLoad, ExternalProcess, ExternalTimes};

mod report;

/// Time granted beyond the load's duration, because `ab` itself waits 30 s for an answer.
const GRACE: Duration = Duration::from_secs(60);
/// Time limit of a load that ends after a number of requests.
const LONGEST: Duration = Duration::from_secs(3_600);

/// The tool is not installed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("ab is missing: apt-get install apache2-utils")]
pub struct ToolMissing;

/// The reason why there are no figures.
#[derive(Debug, thiserror::Error)]
pub enum ExternalError {
    /// The tool is not installed.
    #[error(transparent)]
    Missing(#[from] ToolMissing),
    /// The tool could not be run to its end.
    #[error("ab: {0}")]
    Programs(#[from] ProgramsError),
    /// The tool gave up.
    #[error("ab gave up ({status}): {words}")]
    GaveUp {
        status: ExitStatus,
        /// The last line that the tool printed.
        words: String,
    },
    /// The tool succeeded, but a figure is missing from its output.
    #[error("ab printed no line `{label}`; see {output}")]
    Unreadable {
        /// The beginning of the missing line.
        label: &'static str,
        /// The file with its output.
        output: String,
    },
}

impl ExternalError {
    /// Whether the tool waited for the server in vain; any other error tells nothing about the server.
    #[must_use]
    pub const fn is_without_responses(&self) -> bool {
        matches!(self, Self::GaveUp { .. } | Self::Programs(ProgramsError::TooSlow(_)))
    }
}

/// The measurement of an external load tool, and when it ran.
#[derive(Clone, Debug, PartialEq)]
pub struct ExternalOutcome {
    /// The report in the form of our own generator's, as far as possible; the times are in `load`.
    pub report: LoadReport,
    /// Everything that the tool reports.
    pub load: ExternalLoad,
    /// Percentiles that the tool reports but `load` has no field for.
    pub more_percentiles: MorePercentiles,
    /// Start of the first process, on the shared clock.
    pub started_ns: Nanos,
    /// End of the last process, on the shared clock.
    pub ended_ns: Nanos,
}

/// The path of the tool.
///
/// # Errors
/// [`ToolMissing`] with what to install.
pub fn program(tool: Tool) -> Result<PathBuf, ToolMissing> {
    let Tool::Ab { .. } = tool;
    which::which("ab").map_err(|_| ToolMissing)
}

/// Sends the load to the server at `url` and returns when the last process has ended. The output of each is kept in
/// `folder`.
///
/// # Errors
/// See [`ExternalError`].
pub fn load(
    load: &LoadSpec,
    tool: Tool,
    url: &str,
    folder: &Path,
    should_stop: impl FnMut() -> bool,
) -> Result<ExternalOutcome, ExternalError> {
    let Tool::Ab { processes } = tool;
    load_with(&program(tool)?, (load, processes), url, folder, should_stop)
}

fn load_with(
    program: &Path,
    (load, processes): (&LoadSpec, u32),
    url: &str,
    folder: &Path,
    should_stop: impl FnMut() -> bool,
) -> Result<ExternalOutcome, ExternalError> {
    // The recorded command keeps `${NAME}`; only the process gets the value.
    let written = jobs(load, processes, program, url, folder);
    let filled = LoadSpec { request: load.request.with_environment(), ..load.clone() };
    let jobs = jobs(&filled, processes, program, url, folder);
    let limit = load.duration_s.map_or(LONGEST, |s| Duration::from_secs_f64(s) + GRACE);
    std::fs::create_dir_all(folder).map_err(ProgramsError::from)?;
    let started_ns = now_ns();
    let started: Result<Vec<_>, _> =
        jobs.iter().map(|job| ServerProcess::start(&job.command, &job.output)).collect();
    let mut started = started.map_err(|error| ProgramsError::from(Box::new(error)))?;
    let ended = programs::wait(&mut started, limit, should_stop)?;
    let ended_ns = now_ns();
    let outcomes = written
        .iter()
        .zip(&ended)
        .map(|(job, ended)| process_outcome(job, *ended))
        .collect::<Result<Vec<_>, _>>()?;
    let more_percentiles = MorePercentiles::read(at(&outcomes));
    let external = together(outcomes);
    let report = report::load_report(load, processes, url, &external);
    Ok(ExternalOutcome { report, load: external, more_percentiles, started_ns, ended_ns })
}

/// One process of the tool, and the file for its output.
struct Job {
    command: ServerCommand,
    output: PathBuf,
}

fn jobs(load: &LoadSpec, processes: u32, program: &Path, url: &str, folder: &Path) -> Vec<Job> {
    let requests = load.requests.map(|all| all.div_ceil(u64::from(processes)));
    let job = |number: u32| {
        let output = folder.join(format!("ab-{number}.txt"));
        let arguments = ab::arguments(load, load.clients() / processes, requests, url, &csv_of(&output));
        let program = program.to_owned();
        Job { command: ServerCommand { program, arguments, env: BTreeMap::new(), folder: None }, output }
    };
    (1..=processes).map(job).collect()
}

fn csv_of(output: &Path) -> PathBuf {
    output.with_extension("csv")
}

/// The outcome of one process that has ended.
struct ProcessOutcome {
    version: String,
    process: ExternalProcess,
    mean_ms: f64,
    times: Table,
}

fn process_outcome(job: &Job, ended: Ended) -> Result<ProcessOutcome, ExternalError> {
    let text = ReadLimit::PROGRAM_OUTPUT.read_file(&job.output).map_err(ProgramsError::from)?;
    if !ended.status.success() {
        let words = text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("nothing").to_owned();
        return Err(ExternalError::GaveUp { status: ended.status, words });
    }
    let output = job.output.display().to_string();
    let printed =
        ab::printed(&text).map_err(|label| ExternalError::Unreadable { label, output: output.clone() })?;
    // Unless a request succeeded, ab writes no percentiles.
    let csv = ReadLimit::PROGRAM_OUTPUT.read_file(&csv_of(&job.output)).unwrap_or_default();
    let cpu_s = ended.cpu_ns as f64 / 1e9;
    let process = ExternalProcess {
        command: job.command.words(),
        output: Some(output),
        requests: printed.requests,
        failed: printed.failed,
        not_2xx: printed.not_2xx,
        rate_per_s: printed.rate_per_s,
        elapsed_s: printed.elapsed_s,
        received_bytes: printed.received_bytes,
        cpu_s,
        cpu_share: if printed.elapsed_s > 0.0 { cpu_s / printed.elapsed_s } else { 0.0 },
    };
    let times = Table { requests: printed.requests, rows: ab::percentiles(&csv) };
    Ok(ProcessOutcome { version: printed.version, process, mean_ms: printed.mean_ms, times })
}

/// Percentiles over the requests of all processes.
fn at(outcomes: &[ProcessOutcome]) -> impl Fn(u32) -> f64 + use<> {
    let tables: Vec<Table> = outcomes.iter().map(|one| one.times.clone()).collect();
    move |percent| of_all(&tables, percent).unwrap_or(0.0)
}

fn together(outcomes: Vec<ProcessOutcome>) -> ExternalLoad {
    let requests: u64 = outcomes.iter().map(|one| one.process.requests).sum();
    let weighed = |one: &ProcessOutcome| one.mean_ms * one.process.requests as f64 / requests.max(1) as f64;
    let mean_ms = outcomes.iter().map(weighed).sum();
    let at = at(&outcomes);
    ExternalLoad {
        tool: format!("ApacheBench {}", outcomes.first().map_or("", |one| &one.version)),
        times: ExternalTimes {
            mean_ms,
            p50_ms: at(50),
            p75_ms: at(75),
            p90_ms: at(90),
            p95_ms: at(95),
            p99_ms: at(99),
            max_ms: at(100),
        },
        processes: outcomes.into_iter().map(|one| one.process).collect(),
    }
}

#[cfg(test)]
mod tests;
