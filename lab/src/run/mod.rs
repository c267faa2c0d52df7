//! One run: launch, warm up, load and observe, stop → [`Record`].

mod benchmark;
mod capacity;
mod figures;
mod foreign;
mod observed;
pub mod session;
mod settle;
mod warm_up;
pub mod watch;

use crate::host::jvm_flags;
use crate::model::experiment::plan::PlannedRun;
use crate::model::experiment::{Experiment, LoadKind, LoadSpec, Subject, Variant};
use crate::model::record::{BeforeAfter, Record, RunFailure, ServerFacts};
use crate::model::result_folder::ResultFolder;
use crate::probe::readings::Window;
use crate::server::error::LaunchError;
use crate::server::kinds::kind;
use crate::server::launcher::{Launcher, RunningServer};
use crate::server::thread_seen::{self, AnotherThread};
use crate::workload::external::ForeignError;
use crate::workload::jmh::jar::BenchmarkJar;
use crate::workload::jmh::scores::JmhError;
use crate::workload::load_plan::{LoadPlanError, load_plan};
use observed::{Observed, observed};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use threadcount_load::outcome::{LoadOutcome, Second};
use threadcount_load::plan::{LoadPlan, Stop};
use threadcount_load::run::{Control, LoadError};
use watch::{Event, Watch};

/// How often the server is looked at while it is loaded.
const EXIT_LOOK: Duration = Duration::from_millis(100);

/// When the threads of a load are dumped that ends after so many requests.
const DUMP_AFTER: Duration = Duration::from_millis(500);

/// Everything the runs of one experiment share.
pub struct Runner<'a> {
    /// What is run.
    pub experiment: &'a Experiment,
    /// Starts the servers.
    pub launcher: &'a Launcher,
    /// Where logs go.
    pub folder: &'a ResultFolder,
    /// Set when the user wants to stop.
    pub interrupted: &'a AtomicBool,
}

/// One load, and all that was seen while it went on.
struct Measurement {
    outcome: LoadOutcome,
    plan: LoadPlan,
    seen: Observed,
}

/// Why a run ended early. What was measured until then is in its record.
#[derive(Debug, thiserror::Error)]
enum RunError {
    #[error(transparent)]
    Launch(#[from] LaunchError),
    #[error(transparent)]
    AnotherThread(#[from] AnotherThread),
    #[error("the JVM does not report the flag {0}, which it was to have; its flags: {1}")]
    FlagMissing(String, String),
    #[error(transparent)]
    LoadPlan(#[from] LoadPlanError),
    #[error("the load could not be run: {0}")]
    Load(#[from] LoadError),
    #[error("the load could not be run: {0}")]
    Foreign(#[from] ForeignError),
    #[error("the server's processes cannot be read: {0}")]
    Observe(std::io::Error),
    #[error("the server ended while it was {doing} ({status})")]
    ServerEnded { doing: &'static str, status: std::process::ExitStatus, log_tail: Vec<String> },
    #[error("it sustained no rate: {why}; lower `from:`, or raise the limit")]
    NothingSustained { why: String },
    #[error("the backend ended while the server was {doing} ({status})")]
    BackendEnded { doing: &'static str, status: std::process::ExitStatus, log_tail: Vec<String> },
    #[error("the benchmark ended ({status}) before it had a result")]
    BenchmarkEnded { status: std::process::ExitStatus, log_tail: Vec<String> },
    #[error(transparent)]
    Jmh(#[from] JmhError),
    #[error("interrupted by the user")]
    Interrupted,
}

impl RunError {
    fn into_failure(self) -> RunFailure {
        let log_tail = match &self {
            Self::Launch(error) => error.log_tail().to_vec(),
            Self::ServerEnded { log_tail, .. }
            | Self::BackendEnded { log_tail, .. }
            | Self::BenchmarkEnded { log_tail, .. } => log_tail.clone(),
            _ => Vec::new(),
        };
        RunFailure { why: self.to_string(), log_tail }
    }
}

impl Runner<'_> {
    /// Does one run. A run that fails gives a record too: with the reason, and with what was measured before it.
    pub fn run(&self, planned: PlannedRun, watch: &mut dyn Watch) -> Record {
        let variant = &self.experiment.variants[planned.variant];
        let load = &self.experiment.loads[planned.load];
        let mut record = Record {
            variant: variant.name.clone(),
            load: load.name.clone(),
            round: planned.round,
            position: planned.position,
            dropped: planned.round <= load.dropped_rounds(),
            started_at: jiff::Timestamp::now().to_string(),
            ..Record::default()
        };
        if let Err(error) = self.fill(&mut record, variant, load, watch) {
            record.failure = Some(error.into_failure());
        }
        record
    }

    fn fill(
        &self,
        record: &mut Record,
        variant: &Variant,
        load: &LoadSpec,
        watch: &mut dyn Watch,
    ) -> Result<(), RunError> {
        if let (Subject::Benchmark { benchmark }, LoadKind::Benchmark(size)) = (&variant.subject, load.kind) {
            return self.benchmark(record, variant, load, (benchmark, size), watch);
        }
        let folder = self.folder.run_folder(record.position, &variant.name, &load.name);
        watch.event(Event::Starting { variant: &variant.name, load: &load.name });
        let mut server = self.launcher.launch(variant, load.clients(), &folder, self.interrupted)?;
        record.server = server.facts.clone();
        record.server.log = self.folder.relative(record.server.log.as_deref());
        if let Some(backend) = &mut record.server.backend {
            backend.log = self.folder.relative(backend.log.as_deref());
        }
        record.probe_refused.clone_from(&server.probe_refused);
        is_what_it_claims(variant, &record.server)?;
        watch.event(Event::Ready { after_ms: record.server.ready_after_ms });
        let memory_before = server.native_memory();

        let plan = load_plan(load, &server.url)?;
        let plan = LoadPlan { seed: plan.seed + u64::from(record.round.saturating_sub(1)), ..plan };
        self.warm_up(record, load, &plan, &mut server, watch)?;

        let window = match load.tool {
            Some(tool) => self.foreign(record, load, tool, &mut server, &folder)?,
            None => self.own(record, load, plan, &mut server, &folder, watch)?,
        };
        record.jvm = server.readings(window);
        self.check(&mut server, "measured")?;
        let memory_after = server.native_memory();
        record.native_memory =
            memory_before.zip(memory_after).map(|(before, after)| BeforeAfter { before, after });
        server.stop();
        Ok(())
    }

    /// The load as our own generator sends it.
    fn own(
        &self,
        record: &mut Record,
        load: &LoadSpec,
        plan: LoadPlan,
        server: &mut RunningServer,
        folder: &Path,
        watch: &mut dyn Watch,
    ) -> Result<Window, RunError> {
        let measurement = match load.kind {
            LoadKind::Capacity(spec) => self.search(record, load, spec, server, watch)?,
            _ => {
                let dump = load.thread_dump.then(|| folder.join("threads.json"));
                let measured = self.measure(plan, server, dump.as_deref(), watch)?;
                let dumped = dump.filter(|file| file.is_file()).map(|file| file.display().to_string());
                record.thread_dump = self.folder.relative(dumped.as_deref());
                measured
            }
        };
        let outcome = &measurement.outcome;
        let window = Window { started_ns: outcome.started_ns, ended_ns: outcome.ended_ns };
        figures::measured(record, outcome, &measurement.plan, &measurement.seen.samples);
        measurement.seen.beside(record, window);
        record.network = measurement.seen.network;
        Ok(window)
    }

    /// Runs a load and looks at the server's processes and at the machine meanwhile.
    fn measure(
        &self,
        plan: LoadPlan,
        server: &mut RunningServer,
        dump: Option<&Path>,
        watch: &mut dyn Watch,
    ) -> Result<Measurement, RunError> {
        let on_second = &mut |second: &Second| watch.event(Event::Measuring(second));
        let (outcome, seen) = observed(server, |server| self.load(&plan, server, dump, on_second))?;
        Ok(Measurement { outcome: outcome?, plan, seen })
    }

    /// Runs a load to its end, or until the server ends or the user stops us. Its threads are dumped halfway.
    fn load(
        &self,
        plan: &LoadPlan,
        server: &mut RunningServer,
        dump: Option<&Path>,
        on_second: &mut dyn FnMut(&Second),
    ) -> Result<LoadOutcome, RunError> {
        self.load_until(plan, server, dump, &mut |second, _| on_second(second))
    }

    /// The same where `on_second` may end it as well, by setting what it is given.
    fn load_until(
        &self,
        plan: &LoadPlan,
        server: &mut RunningServer,
        dump: Option<&Path>,
        on_second: &mut dyn FnMut(&Second, &AtomicBool),
    ) -> Result<LoadOutcome, RunError> {
        let stop = AtomicBool::new(false);
        let done = AtomicBool::new(false);
        let outcome = thread::scope(|scope| {
            scope.spawn(|| {
                let dump_at = Instant::now() + halfway(plan);
                let mut dump = dump;
                while !done.load(Ordering::Relaxed) {
                    if self.is_over(server) {
                        stop.store(true, Ordering::Relaxed);
                    }
                    if let Some(file) = dump.filter(|_| Instant::now() >= dump_at) {
                        // Without it the run is as good: whether it is there is seen by the file.
                        let _ = server.dump_threads(file);
                        dump = None;
                    }
                    thread::park_timeout(EXIT_LOOK);
                }
            });
            let on_second = &mut |second: &Second| on_second(second, &stop);
            let outcome = threadcount_load::run::run(plan, Control { stop: &stop, on_second });
            done.store(true, Ordering::Relaxed);
            outcome
        });
        Ok(outcome?)
    }

    /// Has the user stopped us, or the server ended, or the one behind it?
    fn is_over(&self, server: &mut RunningServer) -> bool {
        self.interrupted.load(Ordering::Relaxed)
            || server.has_exited().is_some()
            || server.backend_has_exited().is_some()
    }

    fn check(&self, server: &mut RunningServer, doing: &'static str) -> Result<(), RunError> {
        if self.interrupted.load(Ordering::Relaxed) {
            return Err(RunError::Interrupted);
        }
        if let Some((status, log_tail)) = server.backend_has_exited() {
            return Err(RunError::BackendEnded { doing, status, log_tail });
        }
        match server.has_exited() {
            None => Ok(()),
            Some(status) => Err(RunError::ServerEnded { doing, status, log_tail: server.log_tail() }),
        }
    }
}

/// Finds or fetches everything a variant needs and starts nothing.
///
/// # Errors
/// What is missing, and how to get it.
pub fn prepare(launcher: &Launcher, variant: &Variant) -> Result<(), LaunchError> {
    match &variant.subject {
        Subject::Server(_) => launcher.prepare(variant),
        Subject::Benchmark { benchmark } => BenchmarkJar::find(&launcher.jdks, variant, benchmark).map(drop),
    }
}

/// Does the server run on the threads and with the flags that its variant says? By its own word.
fn is_what_it_claims(variant: &Variant, server: &ServerFacts) -> Result<(), RunError> {
    let Some(kind) = variant.server().map(kind) else { return Ok(()) };
    thread_seen::check(variant, kind.thread_kind(), server.thread_seen.as_ref())?;
    if !kind.passes_jvm_flags() {
        return Ok(());
    }
    match jvm_flags::missing(&variant.jvm, &server.jvm_flags) {
        Some(flag) => Err(RunError::FlagMissing(flag.to_owned(), server.jvm_flags.join(" "))),
        None => Ok(()),
    }
}

/// Half of a load that has a length in time, soon where only its requests are counted.
fn halfway(plan: &LoadPlan) -> Duration {
    match plan.stop {
        Stop::Duration(whole) | Stop::Either(_, whole) => whole / 2,
        Stop::Requests(_) => DUMP_AFTER,
    }
}
