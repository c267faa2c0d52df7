//! Does one run: starts a server, warms it up, loads and observes it, and stops it. The result is a [`Record`].

pub mod attached;
mod backends;
mod capacity;
mod context;
mod explain;
mod external;
pub(crate) mod few_clients;
mod figures;
mod http;
mod interleaving;
mod jmh;
mod lasting;
mod memory;
mod observed;
mod on_server;
#[cfg(feature = "kubernetes")]
pub mod pods;
pub mod probe_lines;
mod recompiling;
pub mod sender;
pub(crate) mod server_seconds;
pub mod session;
mod settle;
pub mod silence;
pub(crate) mod steady;
pub(crate) mod warm_up;
pub mod watch;
mod workload;

use context::{MeasuredTail, MeasuredWindow, RunContext};
use interleaving::{Interleaving, Seat};
use observed::{Observed, observed};
use sender::{LoadSender, PlannedLoad, SendError};
use silence::{Hang, Silence};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};
use threadcount_judge::result_folder::{FolderError, ResultFolder};
use threadcount_load::limits;
use threadcount_load::outcome::{LoadOutcome, Second};
use threadcount_load::plan::LoadPlan;
use threadcount_load::run::{Control, LoadError, panic_text};
use threadcount_machine::log_cause;
use threadcount_model::experiment::plan::PlannedRun;
use threadcount_model::experiment::{Experiment, LoadSpec, Subject, Variant};
use threadcount_model::record::{Record, RunFailure};
use threadcount_model::window::Window;
use threadcount_servers::BackendEnd;
use threadcount_servers::error::LaunchError;
use threadcount_servers::request_thread::AnotherThread;
use threadcount_servers::server_process::advice_on_end;
use threadcount_servers::workload::external::ExternalError;
use threadcount_servers::workload::jmh::jar::BenchmarkJar;
use threadcount_servers::workload::jmh::scores::JmhError;
use threadcount_servers::workload::load_plan::LoadPlanError;
use threadcount_servers::{Launcher, RunningServer};
use threadcount_stats::observed_causes::of_samples;
use threadcount_stats::pause_ledger::SlowTail;

use watch::{Event, SharedWatch, Watch};

/// How often it is checked whether a process has ended.
const EXIT_POLL_INTERVAL: Duration = Duration::from_millis(100);

/// How long a load that ends after a number of requests runs before the server is asked.
const ASK_AFTER: Duration = Duration::from_millis(500);

/// Everything the runs of one experiment share.
pub struct Runner<'a> {
    /// The experiment to run.
    pub experiment: &'a Experiment,
    /// Starts the servers.
    pub launcher: &'a Launcher,
    /// Sends the loads.
    pub sender: &'a dyn LoadSender,
    /// Whether the session goes on without a variant that does not work, as long as two others do.
    pub goes_on_without: bool,
    /// Whether the user allows all requests to fail (`--fail-above 100%`).
    pub may_all_fail: bool,
    /// The command line that began the session.
    pub command: &'a [String],
    /// The folder for logs.
    pub folder: &'a ResultFolder,
    /// Set when the user wants to stop.
    pub interrupted: &'a Arc<AtomicBool>,
}

/// Actions that accompany a load.
#[derive(Default)]
struct DuringLoad<'b, 'q> {
    /// Called when counting begins, at the end of the lead-in.
    on_begin: Option<&'b mut dyn FnMut()>,
    question: Option<Question<'q>>,
}

/// A question to the server, asked once while a load goes on.
struct Question<'a> {
    /// The time between the start of counting and the question.
    after: Duration,
    ask: &'a mut (dyn FnMut(&RunningServer) + Send),
    /// The load ends with the answer because it serves no other purpose.
    ends_load: bool,
}

/// One load, and everything observed while it went on.
struct Measurement {
    outcome: LoadOutcome,
    plan: LoadPlan,
    observed: Observed,
    /// The load was sent in several windows that are counted as one.
    is_interleaved: bool,
}

impl Measurement {
    /// The first of several windows, without the samples outside it.
    fn alone(self) -> Self {
        let window = Window::of_load(&self.outcome);
        Self { observed: self.observed.only_in(window), is_interleaved: true, ..self }
    }

    /// Appends the measurement of a later window.
    fn followed_by(mut self, later: Self) -> Self {
        let Self { outcome, observed, .. } = later.alone();
        self.outcome.append(outcome);
        Self { observed: self.observed.followed_by(observed), ..self }
    }

    /// Fills in all measurements; returns when they were taken, and the plan.
    fn fill_in(self, record: &mut Record) -> MeasuredWindow {
        let silence = Silence::of(&self.outcome);
        let of_load = Window::of_load(&self.outcome);
        // The samples of several windows have a clock of their own.
        let sampled = self.observed.samples.window().filter(|_| self.is_interleaved);
        let window = sampled.unwrap_or(of_load);
        figures::measured(record, &self.outcome, &self.plan, window, &self.observed.samples);
        self.observed.beside(record, window);
        if let Some(limits) = &mut record.resource_limits {
            limits.generator.pinned_to(&self.plan.cores);
        }
        // If other machines sent the load, the counters of this machine do not concern it.
        record.network = self.observed.network.filter(|_| self.outcome.pods.is_empty());
        let throttling = record.resource_limits.as_ref().and_then(|limits| limits.throttling);
        let tail = (!self.is_interleaved).then(|| MeasuredTail {
            slow: SlowTail::of(&self.outcome),
            sampled_causes: of_samples(&self.observed.samples, throttling),
        });
        MeasuredWindow { window: (!self.is_interleaved).then_some(window), plan: self.plan, tail, silence }
    }
}

/// The reason why a run ended early. Its record keeps what was measured until then.
#[derive(Debug, thiserror::Error)]
enum RunError {
    #[error(transparent)]
    Launch(#[from] LaunchError),
    #[error(transparent)]
    Folder(#[from] FolderError),
    #[error(transparent)]
    AnotherThread(#[from] AnotherThread),
    #[error("the JVM does not report the flag {0}, which it was to have; its flags: {1}")]
    FlagMissing(String, String),
    #[error(transparent)]
    LoadPlan(#[from] LoadPlanError),
    #[error("the load could not be run: {0}")]
    Load(#[from] SendError),
    #[error("the load could not be run: {error}{}", hang.as_ref().map(|it| format!("; {it}")).unwrap_or_default())]
    External {
        error: ExternalError,
        /// The server's hang, if it explains why the tool failed.
        hang: Option<Box<Hang>>,
        log_tail: Vec<String>,
    },
    #[error("the server's processes cannot be read: {0}")]
    Observe(std::io::Error),
    #[error("the server ended while it was {doing} ({status}){}", advice_on_end(*status))]
    ServerEnded { doing: &'static str, status: std::process::ExitStatus, log_tail: Vec<String> },
    #[error(
        "{url} answered none of the {sent} requests of the warm-up{}",
        why.as_ref().map(|why| format!(": {why}")).unwrap_or_default()
    )]
    Silent { url: String, sent: u64, why: Option<String> },
    #[error("{0}")]
    Hangs(Hang, Vec<String>),
    #[error("no rate was sustained; lower `from:`, or raise the limit")]
    NothingSustained,
    #[error("`{0}` is a server, and JMH needs a benchmark")]
    NoBenchmark(String),
    #[error("the backend `{}` ended while the server was {doing} ({})", .end.name, .end.status)]
    BackendEnded { doing: &'static str, end: BackendEnd },
    #[error(
        "another JMH benchmark runs on this machine, and JMH lets only one run (its lock is jmh.lock). Run this one afterwards"
    )]
    BenchmarkLocked,
    #[error("the benchmark ended ({status}) before it had a result")]
    BenchmarkEnded { status: std::process::ExitStatus, log_tail: Vec<String> },
    #[error(transparent)]
    Jmh(#[from] JmhError),
    #[error("interrupted by the user")]
    Interrupted,
}

impl RunError {
    fn is_interrupt(&self) -> bool {
        match self {
            Self::Launch(error) => error.is_interrupt(),
            error => matches!(error, Self::Interrupted),
        }
    }

    /// The failure for the record. The end of a log may contain secrets that the server was given.
    fn into_failure(self) -> RunFailure {
        let log_tail = match &self {
            Self::Launch(error) => error.log_tail().to_vec(),
            Self::ServerEnded { log_tail, .. } | Self::BenchmarkEnded { log_tail, .. } => log_tail.clone(),
            Self::BackendEnded { end, .. } => end.log_tail.clone(),
            Self::External { hang: Some(hang), log_tail, .. } => {
                hang.details().chain(log_tail).cloned().collect()
            }
            Self::Hangs(hang, log_tail) => hang.details().chain(log_tail).cloned().collect(),
            _ => Vec::new(),
        };
        let cause = match &self {
            Self::Launch(error) => error.cause(),
            // The diagnosis itself explains the failure.
            Self::Hangs(..) | Self::External { .. } => None,
            _ => log_cause::cause(&log_tail),
        };
        RunFailure { why: self.to_string(), cause, log_tail }
    }
}

/// The failure of a run, or of a crossover, whose server could not be launched.
pub(crate) fn launch_failure(error: LaunchError) -> RunFailure {
    RunError::from(error).into_failure()
}

impl Runner<'_> {
    /// Does one run. A failed run returns a record too: with the reason, and with whatever was measured before.
    pub fn run(&self, planned: PlannedRun, watch: &mut dyn Watch) -> Record {
        self.run_beside(planned, None, watch)
    }

    /// Runs a round side by side, with one run active at a time.
    fn interleaved(&self, round: &[PlannedRun], watch: &mut dyn Watch) -> Vec<Record> {
        let (interleaving, watch) = (Interleaving::of(round.len()), Mutex::new(watch));
        thread::scope(|scope| {
            let runs = round.iter().enumerate().map(|(place, &planned)| {
                let (seat, watch) = (interleaving.seat(place), &watch);
                scope.spawn(move || {
                    seat.wait();
                    self.run_beside(planned, Some(&seat), &mut SharedWatch(watch))
                })
            });
            // All runs must have begun before we wait for one.
            let runs: Vec<_> = runs.collect();
            let ended = runs.into_iter().map(thread::ScopedJoinHandle::join);
            ended.map(|run| run.unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
        })
    }

    fn run_beside(&self, planned: PlannedRun, seat: Option<&Seat<'_>>, watch: &mut dyn Watch) -> Record {
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
        let began = Instant::now();
        let folder = self.folder.run_folder(record.position, &variant.name, &load.name);
        let emptied = self.folder.empty_run_folder(&folder);
        let mut run = RunContext { runner: self, variant, load, folder, record: &mut record, watch, seat };
        // A run that the user ended has not failed: it is incomplete, unless everything was measured before.
        let measured = emptied.map_err(RunError::from).and_then(|()| workload::measure(&mut run));
        if let Err(error) = measured
            && !error.is_interrupt()
        {
            record.failure = Some(error.into_failure());
        }
        record.lasted_s = Some(began.elapsed().as_secs_f64());
        record
    }

    /// Runs a load and samples the server's processes and the machine meanwhile.
    fn measure(
        &self,
        spec: &LoadSpec,
        plan: LoadPlan,
        server: &mut RunningServer,
        watch: &mut dyn Watch,
    ) -> Result<Measurement, RunError> {
        let on_second = &mut |second: &Second| watch.event(Event::Measuring(second));
        let (outcome, observed) = observed(server, |server, window_begins| {
            let during = DuringLoad { on_begin: Some(window_begins), question: None };
            let load = PlannedLoad { spec, plan: &plan };
            self.load_until(load, server, during, &mut |second, _| on_second(second))
        })?;
        Ok(Measurement { outcome: outcome?, plan, observed, is_interleaved: false })
    }

    /// Runs a load to its end, or until the server ends or the user stops us.
    fn load(&self, load: PlannedLoad<'_>, server: &mut RunningServer) -> Result<LoadOutcome, RunError> {
        self.load_until(load, server, DuringLoad::default(), &mut |_, _| {})
    }

    /// Runs a load with actions beside it. `on_second` can end the load by setting its flag.
    fn load_until(
        &self,
        load: PlannedLoad<'_>,
        server: &mut RunningServer,
        during: DuringLoad<'_, '_>,
        on_second: &mut dyn FnMut(&Second, &AtomicBool),
    ) -> Result<LoadOutcome, RunError> {
        let stop = AtomicBool::new(false);
        let done = AtomicBool::new(false);
        let began: OnceLock<Instant> = OnceLock::new();
        let DuringLoad { on_begin, question } = during;
        let url = server.url.clone();
        let outcome = thread::scope(|scope| {
            let asking = scope.spawn(|| {
                let mut question = question;
                while !done.load(Ordering::Relaxed) {
                    if self.is_over(server) {
                        stop.store(true, Ordering::Relaxed);
                    }
                    let lasts = began.get().map(Instant::elapsed);
                    if let Some(due) = question.take_if(|question| lasts >= Some(question.after)) {
                        (due.ask)(server);
                        if due.ends_load {
                            stop.store(true, Ordering::Relaxed);
                        }
                    }
                    thread::park_timeout(EXIT_POLL_INTERVAL);
                }
            });
            let on_second = &mut |second: &Second| on_second(second, &stop);
            limits::raise_descriptor_limit();
            let mut on_begin = on_begin;
            let has_begun = &mut || {
                let _ = began.set(Instant::now());
                if let Some(on_begin) = &mut on_begin {
                    on_begin();
                }
            };
            let control = Control::new(&stop, on_second).with_begin(has_begun);
            // Set even if sending panics, because the scope waits for the other thread.
            let _done = SetAtEnd { flag: &done, thread: asking.thread() };
            // A load that cannot be sent ends only its own run.
            let sending = AssertUnwindSafe(|| self.sender.send(load, &url, control));
            catch_unwind(sending).unwrap_or_else(|panic| Err(LoadError::Thread(panic_text(&*panic)).into()))
        });
        Ok(outcome?)
    }

    /// Whether the user stopped us, or the server or one of its backends has ended.
    fn is_over(&self, server: &mut RunningServer) -> bool {
        self.interrupted.load(Ordering::Relaxed)
            || server.has_exited().is_some()
            || server.backend_has_exited().is_some()
    }

    fn check(&self, server: &mut RunningServer, doing: &'static str) -> Result<(), RunError> {
        if self.interrupted.load(Ordering::Relaxed) {
            return Err(RunError::Interrupted);
        }
        if let Some(end) = server.backend_has_exited() {
            return Err(RunError::BackendEnded { doing, end });
        }
        match server.has_exited() {
            None => Ok(()),
            Some(status) => Err(RunError::ServerEnded { doing, status, log_tail: server.log_tail() }),
        }
    }
}

/// Sets a flag when dropped, and wakes the thread that polls it.
struct SetAtEnd<'a> {
    flag: &'a AtomicBool,
    thread: &'a Thread,
}

impl Drop for SetAtEnd<'_> {
    fn drop(&mut self) {
        self.flag.store(true, Ordering::Relaxed);
        self.thread.unpark();
    }
}

/// Finds or fetches everything a variant needs and starts nothing.
///
/// # Errors
/// The missing part, and how to get it.
pub fn prepare(launcher: &Launcher, variant: &Variant) -> Result<(), LaunchError> {
    match &variant.subject {
        Subject::Server(_) | Subject::Target(_) => launcher.prepare(variant),
        Subject::Benchmark { benchmark } => BenchmarkJar::find(&launcher.jdks, variant, benchmark).map(drop),
    }
}

/// Half the counted time of a timed load; [`ASK_AFTER`] if the load ends after a number of requests.
fn halfway(plan: &LoadPlan) -> Duration {
    plan.stop.duration().map_or(ASK_AFTER, |whole| whole / 2)
}
