//! `threadcount compare --crossover`: kinds of thread compared inside one JVM, which runs already or is started for it.

use super::attached_load::{self, Attachment};
use super::experiment_args::{ExperimentArgs, print_masked};
use super::load_options::LoadOptions;
use super::resume::begun::remember;
use super::resume::command_of;
use super::{interrupt, plan_flags, stdout};
use crate::crossover::{self, CrossoverEvent, CrossoverFailure, CrossoverOrder};
use crate::run::silence::hang_diagnosis;
use crate::run::{attached, launch_failure, session};
use clap::Args;
use miette::{IntoDiagnostic, WrapErr, miette};
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};
use threadcount_judge::result::ResultDocument;
use threadcount_judge::result_folder::ResultFolder;
use threadcount_machine::probe::jar;
use threadcount_machine::process_tree::ProcessTree;
use threadcount_model::crossover::{Crossover, Treatment};
use threadcount_model::experiment::{Experiment, Variant};
use threadcount_model::figures;
use threadcount_model::printable::printable;
use threadcount_model::record::Record;
use threadcount_report as report;
use threadcount_report::Format;
use threadcount_report::crossover as words;
use threadcount_report::terminal::crossover::crossover as summary;
use threadcount_servers::LaunchError;
use threadcount_servers::launcher::Launcher;
use threadcount_stats::crossover::comparison::CrossoverDocument;

/// Two minutes after it is ready there is an answer: 37 s of warm-up at most, this, and some ten seconds for the reasons.
const BUDGET: Duration = Duration::from_secs(66);
/// So much longer where the JVM still warms up, or too little is known: three minutes after it is ready there is an answer.
const ANOTHER_MINUTE: Duration = Duration::from_secs(60);
/// So often the ratios so far are printed.
const PRINTED_EVERY: Duration = Duration::from_secs(10);
/// So often a line of the warm-up is printed.
const WARMING_LINE_EVERY: Duration = Duration::from_secs(5);

/// Flags about fresh JVMs, and about a result of several runs.
const FRESH_JVMS_ONLY: [&str; 8] =
    ["no_crossover", "fail_if", "save", "open", "runs", "jfr", "probe", "no_probe"];

/// `--crossover` and what belongs to it.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Crossover")]
pub struct CrossoverOptions {
    /// Compare kinds of thread inside one JVM. They are switched about once per second under one load, and reset at the end.
    /// Tomcat 10.1 and 11, Jetty 12, the JDK's HttpServer. With --attach, --spring-boot or --war
    #[arg(long, conflicts_with_all = FRESH_JVMS_ONLY)]
    pub crossover: bool,
    /// With --spring-boot or --war: compare fresh JVMs alone. Otherwise a crossover comes first, and fresh JVMs confirm it
    #[arg(long)]
    pub no_crossover: bool,
    /// The kinds of thread, the baseline first: own, virtual, virtual-N (N requests at once), platform-N. Without it: own,
    /// virtual, and, where the own pool is smaller, platform-N with a thread per client
    #[arg(long, value_name = "KIND,...", value_delimiter = ',', requires = "crossover")]
    treatments: Vec<Treatment>,
    /// With --attach: others may send requests meanwhile. They are on the switched threads too, and their load is in the figures
    #[arg(long, requires = "crossover")]
    beside_others: bool,
    /// With --crossover: print the figures of each period and the ratios as JSON (threadcount/crossover/1)
    #[arg(long, requires = "crossover")]
    json: bool,
}

/// When a crossover ends, and what it may end with.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CrossoverEnds {
    /// For its periods; `None`: [`BUDGET`].
    pub budget: Option<Duration>,
    /// The share of failed requests that is no failure, from 0 to 1.
    pub fail_above: f64,
}

/// How long periods may take, and how long where the JVM still warms up, or too little is known.
fn budgets(asked: Option<Duration>) -> (Duration, Duration) {
    asked.map_or((BUDGET, BUDGET + ANOTHER_MINUTE), |it| (it, it))
}

impl CrossoverOptions {
    fn treatments(&self) -> miette::Result<Vec<Treatment>> {
        let mut known = self.treatments.clone();
        known.sort_unstable();
        known.dedup();
        if known.len() != self.treatments.len() || self.treatments.len() == 1 {
            return Err(miette!(
                help = "for example --treatments own,virtual,platform-400",
                "--treatments: two or more kinds of thread are compared, each of them once"
            ));
        }
        Ok(self.treatments.clone())
    }

    /// The experiment, whose own question is about virtual threads, with the question of these treatments.
    pub(super) fn asking(&self, mut experiment: Experiment) -> Experiment {
        if let Some(question) = words::question_of_number(&self.treatments) {
            experiment.question = question;
        }
        experiment
    }
}

/// Of a JVM that runs already.
///
/// # Errors
/// Input that cannot be used, a process that does not let the agent in, a server that cannot be switched.
pub(super) fn attached(
    target: &Attachment,
    urls: &[String],
    load: &LoadOptions,
    options: &CrossoverOptions,
    ends: CrossoverEnds,
) -> miette::Result<ExitCode> {
    let (spec, plan, origin) = attached_load::planned(target, urls, load)?;
    let port = plan.requests.origin().port;
    let pid = target.pid()?;
    let stop = interrupt::stop_flag().into_diagnostic().wrap_err("Ctrl-C cannot be caught")?;
    let (budget, longest_budget) = budgets(ends.budget);
    let order = CrossoverOrder {
        pid,
        port,
        plan: &plan,
        jar: jar::find().into_diagnostic()?,
        treatments: options.treatments()?,
        budget,
        longest_budget,
        beside_others: options.beside_others,
    };
    let document = without_secrets(measured(&order, &stop)?, &attached::experiment(&spec, &origin));
    let question =
        words::question_of_number(&options.treatments).unwrap_or_else(|| words::question_of_port(port));
    finish(&document, &question, options, ends.fail_above)
}

/// Its records, as a result has them.
fn without_secrets(mut document: CrossoverDocument, experiment: &Experiment) -> CrossoverDocument {
    let records = std::mem::take(&mut document.crossover.explaining);
    let kept = records.into_iter().map(|record| session::without_secrets(record, experiment));
    document.crossover.explaining = kept.collect();
    document
}

/// Of a JVM that is started for it, and nothing else. It is a result, in a folder of its own.
///
/// # Errors
/// A folder that cannot be written, a server that cannot be started or switched.
pub(super) fn started(
    experiment: &Experiment,
    options: &CrossoverOptions,
    ends: CrossoverEnds,
    args: &ExperimentArgs,
) -> miette::Result<ExitCode> {
    let (earlier, its_folder) = args.earlier()?.unzip();
    let folder = its_folder.map_or_else(|| args.folder(&experiment.name, false), Ok).into_diagnostic()?;
    if let Some(earlier) = &earlier {
        earlier.announce(experiment, args.instruments())?;
        if let Some(document) = &earlier.document.crossover {
            return finish_result(&earlier.document, document, &folder, options, ends.fail_above);
        }
    }
    let stop = interrupt::stop_flag().into_diagnostic().wrap_err("Ctrl-C cannot be caught")?;
    let command = command_of(earlier.as_ref());
    print_masked(experiment, &command)?;
    if earlier.is_none() {
        remember(&command);
    }
    session::begin(experiment, None, &command, &folder).into_diagnostic()?;
    let document = of_first_variant(experiment, options, ends.budget, &folder, &stop);
    folder.give_room();
    let document = document?;
    let result = session::begin(experiment, Some(&document), &command, &folder).into_diagnostic()?;
    finish_result(&result, &document, &folder, options, ends.fail_above)
}

/// The answer of a result that is this crossover, and its page.
fn finish_result(
    result: &ResultDocument,
    document: &CrossoverDocument,
    folder: &ResultFolder,
    options: &CrossoverOptions,
    fail_above: f64,
) -> miette::Result<ExitCode> {
    let page = report::write(result, Format::Html, folder.path());
    let code = finish(document, &result.experiment.question, options, fail_above)?;
    note!("Report  {}", page.into_diagnostic()?.display());
    Ok(code)
}

/// Of a JVM that is started for it, before fresh JVMs are compared: its answer is printed. `None`: there is none, and the reason is
/// printed.
///
/// # Errors
/// Its server never became ready, or stdout cannot be written.
pub(super) fn before_fresh_jvms(
    experiment: &Experiment,
    folder: &ResultFolder,
    stop: &AtomicBool,
) -> miette::Result<Option<CrossoverDocument>> {
    let options = CrossoverOptions::default();
    let document = match of_first_variant(experiment, &options, None, folder, stop) {
        Ok(document) => document,
        // Fresh JVMs would not become ready either.
        Err(why) if matches!(why.downcast_ref(), Some(CrossoverFailure::NotReady { .. })) => return Err(why),
        Err(why) => {
            note!("No crossover inside one JVM: {why}");
            return Ok(None);
        }
    };
    finish(&document, &experiment.question, &options, 0.0)?;
    note!("Fresh JVMs follow, for memory, start-up and OS threads.");
    Ok(Some(document))
}

/// Of the experiment's first variant.
fn of_first_variant(
    experiment: &Experiment,
    options: &CrossoverOptions,
    budget: Option<Duration>,
    folder: &ResultFolder,
    stop: &AtomicBool,
) -> miette::Result<CrossoverDocument> {
    let (Some(variant), Some(load)) = (experiment.variants.first(), experiment.loads.first()) else {
        return Err(miette!("nothing is to be started"));
    };
    let launcher = Launcher {
        health_paths: experiment.health_paths(),
        hang_check: Some(hang_diagnosis),
        ..Launcher::of_this_machine()
    };
    launcher.prepare(variant).into_diagnostic()?;
    note!("starting {}", variant.name);
    let run_folder = folder.run_folder(0, "crossover", &load.name);
    folder.empty_run_folder(&run_folder).into_diagnostic()?;
    let mut server = launcher
        .launch(variant, load.clients(), &run_folder, stop)
        .map_err(|error| not_ready(error, experiment, variant))?;
    note!("ready after {}", figures::milliseconds(server.facts.ready_after_ms));
    let document = of_server(&mut server, load, options, budget, stop);
    let stopped = server.tear_down();
    let document = document?;
    stopped.into_diagnostic()?;
    Ok(without_secrets(document, experiment))
}

/// The root cause first, as the answer.
fn not_ready(error: LaunchError, experiment: &Experiment, variant: &Variant) -> CrossoverFailure {
    if error.is_interrupt() {
        return CrossoverFailure::Interrupted;
    }
    let record = Record { failure: Some(launch_failure(error, variant)), ..Record::default() };
    let failure = session::without_secrets(record, experiment).failure.unwrap_or_default();
    let cause = failure.cause.map(|cause| format!("{}. ", cause.trim_end_matches('.'))).unwrap_or_default();
    let why = printable(&(cause + &failure.why)).into_owned();
    CrossoverFailure::NotReady { variant: variant.name.clone(), why }
}

fn of_server(
    server: &mut threadcount_servers::RunningServer,
    load: &threadcount_model::experiment::LoadSpec,
    options: &CrossoverOptions,
    budget: Option<Duration>,
    stop: &AtomicBool,
) -> miette::Result<CrossoverDocument> {
    let plan = plan_flags::planned(load, &server.url)?;
    let pid = server.pid().map(|pid| ProcessTree::rooted_at(pid).java_pid().unwrap_or(pid));
    let pid = pid
        .ok_or_else(|| miette!("the server runs elsewhere, and its threads cannot be switched from here"))?;
    let (budget, longest_budget) = budgets(budget);
    let order = CrossoverOrder {
        pid,
        port: plan.requests.origin().port,
        plan: &plan,
        jar: jar::find().into_diagnostic()?,
        treatments: options.treatments()?,
        budget,
        longest_budget,
        // Nobody else knows its port.
        beside_others: true,
    };
    measured(&order, stop)
}

fn measured(order: &CrossoverOrder<'_>, stop: &AtomicBool) -> miette::Result<CrossoverDocument> {
    let mut progress = CrossoverProgress::default();
    let crossover = crossover::run(order, stop, &mut |event| progress.event(&event));
    Ok(crossover?.into())
}

fn finish(
    document: &CrossoverDocument,
    question: &str,
    options: &CrossoverOptions,
    fail_above: f64,
) -> miette::Result<ExitCode> {
    if options.json {
        stdout::show(&(serde_json::to_string_pretty(document).into_diagnostic()? + "\n"), true)?;
    } else {
        stdout::print(&summary(document, question, stdout::style()))?;
    }
    Ok(exit_code(document, fail_above))
}

/// 1: it was broken off, nothing was measured, or more requests failed than are allowed.
fn exit_code(document: &CrossoverDocument, fail_above: f64) -> ExitCode {
    let crossover = &document.crossover;
    let is_whole = crossover.ended_early.is_none() && !document.comparisons.is_empty();
    let (ok, failed) = (crossover.requests.ok as f64, crossover.requests.failed as f64);
    match is_whole && failed <= fail_above * (ok + failed) {
        true => ExitCode::SUCCESS,
        false => ExitCode::from(super::FAILED),
    }
}

/// What goes on, on stderr: the state, and the ratios so far every few seconds.
#[derive(Debug, Default)]
struct CrossoverProgress {
    warming: Option<WarmingUp>,
    printed: Option<Instant>,
}

/// The warm-up so far: when it began, when its last line was printed, and the responses since.
#[derive(Debug)]
struct WarmingUp {
    began: Instant,
    printed: Instant,
    ok: u64,
}

impl WarmingUp {
    const fn new(now: Instant) -> Self {
        Self { began: now, printed: now, ok: 0 }
    }

    /// More responses. Every five seconds: for how long the server has been warmed up, and the responses per second since the last time.
    fn answered(&mut self, ok: u64, now: Instant) -> Option<(Duration, f64)> {
        self.ok += ok;
        let since = now - self.printed;
        if since < WARMING_LINE_EVERY {
            return None;
        }
        let rate_per_s = self.ok as f64 / since.as_secs_f64();
        (self.printed, self.ok) = (now, 0);
        Some((now - self.began, rate_per_s))
    }
}

impl CrossoverProgress {
    fn event(&mut self, event: &CrossoverEvent<'_>) {
        match event {
            CrossoverEvent::Found(server) => {
                note!("{} on port {}: its threads can be switched", server.server, server.port);
                if let Some(not_switched) = &server.not_switched {
                    note!("{not_switched}");
                }
            }
            CrossoverEvent::WarmingUp(second) => {
                let now = Instant::now();
                let begun = || WarmingUp::new(now - Duration::from_secs_f64(second.length_s));
                let warming = self.warming.get_or_insert_with(begun);
                if let Some((lasted, rate_per_s)) = warming.answered(second.counts.ok, now) {
                    note!("warming up: {:.0} s, {}", lasted.as_secs_f64(), figures::rate(rate_per_s));
                }
            }
            CrossoverEvent::Warm(warm_up) => {
                let words = match warm_up.steady {
                    Some(true) => "warm",
                    Some(false) => "still warming up",
                    None => "perhaps warm",
                };
                note!("{words} after {:.0} s; the periods begin", warm_up.few_clients_s);
            }
            CrossoverEvent::Block(crossover) => self.block(crossover),
            CrossoverEvent::Observing(crossover) => {
                self.printed = None;
                self.block(crossover);
                note!("each kind of thread is observed for some seconds, for the reasons");
            }
        }
    }

    fn block(&mut self, crossover: &Crossover) {
        // The machine that computes it is the one that is measured.
        if self.printed.is_some_and(|at| at.elapsed() < PRINTED_EVERY) {
            return;
        }
        let document = CrossoverDocument::from(crossover.clone());
        if !document.comparisons.is_empty() {
            self.printed = Some(Instant::now());
            note!("{}", words::so_far(&document));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_of_a_warm_up_is_that_since_its_last_line_whatever_rounds_ended_meanwhile() {
        let began = Instant::now();
        let at = |seconds: f64| began + Duration::from_secs_f64(seconds);
        let mut warming = WarmingUp::new(began);
        assert_eq!(warming.answered(40, at(1.0)), None);
        assert_eq!(warming.answered(1, at(1.1)), None, "the rest of a round");
        assert_eq!(warming.answered(459, at(5.0)), Some((Duration::from_secs(5), 100.0)));
        assert_eq!(warming.answered(1_000, at(10.0)), Some((Duration::from_secs(10), 200.0)));
    }
}
