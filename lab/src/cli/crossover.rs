//! `threadcount compare`: compares kinds of thread inside one JVM that runs already, or inside two that are started for it.

use super::attached_load::{self, Attachment};
use super::experiment_args::{ExperimentArgs, print_masked};
use super::load_options::LoadOptions;
use super::resume::begun::remember;
use super::resume::{Earlier, command_of};
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
use threadcount_report::settings::{Setting, crossover_settings, settings};
use threadcount_report::terminal::crossover::crossover as summary;
use threadcount_servers::LaunchError;
use threadcount_servers::launcher::Launcher;
use threadcount_stats::crossover::comparison::CrossoverDocument;

/// How long all periods take in one JVM. With at most 37 s of warm-up and some ten seconds for the reasons, the answer comes two minutes
/// after the JVM is ready.
const BUDGET: Duration = Duration::from_secs(66);
/// The time added if the JVM still warms up or the intervals are too wide. The answer then comes three minutes after the JVM is ready.
const ANOTHER_MINUTE: Duration = Duration::from_secs(60);
/// How long two JVMs with periods of [`BUDGET`] take with their start and warm-up, in seconds.
const WHOLE_S: f64 = 300.0;
/// The time between two lines with the ratios so far.
const PRINTED_EVERY: Duration = Duration::from_secs(10);
/// The number of JVMs that are started, one after the other.
const JVMS: u32 = 2;
/// The time between two lines during the warm-up.
const WARMING_LINE_EVERY: Duration = Duration::from_secs(5);

/// The flags that need fresh JVMs or a result of several runs.
const FRESH_JVMS_ONLY: [&str; 7] = ["fresh", "fail_if", "save", "open", "runs", "jfr", "no_probe"];

/// `--crossover` and the flags that belong to it.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Crossover")]
pub struct CrossoverOptions {
    /// Compare kinds of thread inside one JVM: switch them about once per second under one load, and reset them at the end. Works on Tomcat
    /// 10.1 and 11, Jetty 12 and the JDK's HttpServer. --spring-boot and --war do so by default, in two JVMs; --attach in the JVM that runs
    #[arg(long, conflicts_with_all = FRESH_JVMS_ONLY)]
    pub crossover: bool,
    /// With --spring-boot or --war: start a fresh JVM for each kind of thread in each round. --limit, --runs, -d, -n, --warmup, --fail-if,
    /// --jfr, --no-probe and several --jdk do the same
    #[arg(long, alias = "no-crossover")]
    pub fresh: bool,
    /// The kinds of thread to compare, the baseline first: own, virtual, virtual-N (N requests at once), platform-N
    /// [default: own, virtual, and platform-N with a thread per client if the own pool is smaller]
    #[arg(long, value_name = "KIND,...", value_delimiter = ',', requires = "crossover")]
    treatments: Vec<Treatment>,
    /// With --attach: allow others to send requests meanwhile. Their requests run on the switched threads too, and count in the figures
    #[arg(long, requires = "crossover")]
    beside_others: bool,
    /// With --crossover: print the figures of each period and the ratios as JSON (threadcount/crossover/1)
    #[arg(long, requires = "crossover")]
    json: bool,
}

/// How long the periods of one JVM may take together.
#[derive(Clone, Copy, Debug)]
struct PeriodsBudget {
    usual: Duration,
    /// The time if the JVM still warms up or too little is known.
    longest: Duration,
}

impl PeriodsBudget {
    /// The budget in a JVM that runs already.
    fn of_attached(asked: Option<Duration>) -> Self {
        asked.map_or(Self { usual: BUDGET, longest: BUDGET + ANOTHER_MINUTE }, |it| Self {
            usual: it,
            longest: it,
        })
    }

    /// The budget in one of two started JVMs, which may take `whole_s` seconds together. Only the first JVM may take longer: then it is
    /// known whether the figures are hard to measure.
    fn of_started(whole_s: Option<f64>, jvm: u32) -> Self {
        let usual = whole_s.map_or(BUDGET, |it| BUDGET.mul_f64(it / WHOLE_S));
        let may_be_longer = jvm == 0 && usual >= BUDGET;
        Self { usual, longest: if may_be_longer { usual + ANOTHER_MINUTE } else { usual } }
    }
}

impl CrossoverOptions {
    fn treatments(&self) -> miette::Result<Vec<Treatment>> {
        let mut known = self.treatments.clone();
        known.sort_unstable();
        known.dedup();
        if known.len() != self.treatments.len() || self.treatments.len() == 1 {
            return Err(miette!(
                help = "for example --treatments own,virtual,platform-400",
                "--treatments: write two or more kinds of thread, each of them once"
            ));
        }
        Ok(self.treatments.clone())
    }

    /// Replaces the experiment's question about virtual threads by one about these treatments.
    pub(super) fn asking(&self, mut experiment: Experiment) -> Experiment {
        if let Some(question) = words::question_of_number(&self.treatments) {
            experiment.question = question;
        }
        experiment
    }
}

/// Runs a crossover inside a JVM that runs already, and prints its answer.
///
/// # Errors
/// Input that cannot be used, a process that does not let the agent in, a server that cannot be switched.
pub(super) fn attached(
    target: &Attachment,
    urls: &[String],
    load: &LoadOptions,
    options: &CrossoverOptions,
    budget: Option<Duration>,
    fail_above: f64,
) -> miette::Result<ExitCode> {
    let (spec, plan, origin) = attached_load::planned(target, urls, load)?;
    let port = plan.requests.origin().port;
    let pid = target.pid()?;
    let stop = interrupt::stop_flag().into_diagnostic().wrap_err("Ctrl-C cannot be caught")?;
    let PeriodsBudget { usual, longest } = PeriodsBudget::of_attached(budget);
    let order = CrossoverOrder {
        pid,
        port,
        plan: &plan,
        jar: jar::find().into_diagnostic()?,
        treatments: options.treatments()?,
        budget: usual,
        longest_budget: longest,
        beside_others: options.beside_others,
        alone: None,
    };
    let measured = measured(&order, &stop)?;
    let document = without_secrets(measured, &attached::experiment(&spec, &origin)).into();
    let question =
        words::question_of_number(&options.treatments).unwrap_or_else(|| words::question_of_port(port));
    let settings = crossover_settings(&document, &[]);
    finish(&document, &question, &settings, None, options, fail_above)
}

/// The crossover with its records as a result stores them, without secrets.
fn without_secrets(mut crossover: Crossover, experiment: &Experiment) -> Crossover {
    for records in [&mut crossover.explaining, &mut crossover.alone] {
        let kept = std::mem::take(records).into_iter();
        *records = kept.map(|record| session::without_secrets(record, experiment)).collect();
    }
    crossover
}

/// Runs a crossover inside two JVMs that it starts. It becomes a result in a folder.
///
/// # Errors
/// A folder that cannot be written, or a server that cannot be started or switched.
pub(super) fn started(
    experiment: &Experiment,
    options: &CrossoverOptions,
    args: &ExperimentArgs,
) -> miette::Result<ExitCode> {
    let (earlier, its_folder) = args.earlier()?.unzip();
    let folder = its_folder.map_or_else(|| args.folder(&experiment.name, false), Ok).into_diagnostic()?;
    if let Some(earlier) = &earlier {
        earlier.announce(experiment, args.instruments())?;
    }
    let stop = interrupt::stop_flag().into_diagnostic().wrap_err("Ctrl-C cannot be caught")?;
    let command = command_of(earlier.as_ref());
    print_masked(experiment, &command)?;
    if earlier.is_none() {
        remember(&command);
        session::begin(experiment, None, &command, &folder).into_diagnostic()?;
    }
    let result = inside_two_jvms(experiment, options, (earlier.as_ref(), &command), &folder, &stop)?;
    let Some(document) = &result.crossover else { return Ok(ExitCode::from(super::FAILED)) };
    let page = report::write(&result, Format::Html, folder.path());
    let path = page.as_ref().ok().map(|page| page.display().to_string());
    let question = &result.experiment.question;
    let code = finish(document, question, &settings(&result), path.as_deref(), options, args.fail_above)?;
    page.into_diagnostic()?;
    Ok(code)
}

/// Whether a result has the crossover of both JVMs.
fn is_whole(result: &ResultDocument) -> bool {
    result
        .crossover
        .as_ref()
        .is_some_and(|it| it.crossover.jvms() == JVMS && it.crossover.ended_early.is_none())
}

/// Runs a crossover inside two JVMs of the experiment's first variant, one after the other, unless an earlier session has done all of it.
/// The result is saved after each JVM. `command` is the command line that began the session.
///
/// # Errors
/// The first JVM has no crossover, or the result cannot be saved.
pub(super) fn inside_two_jvms(
    experiment: &Experiment,
    options: &CrossoverOptions,
    (earlier, command): (Option<&Earlier>, &[String]),
    folder: &ResultFolder,
    stop: &AtomicBool,
) -> miette::Result<ResultDocument> {
    if let Some(whole) = earlier.map(|it| &it.document).filter(|it| is_whole(it)) {
        return Ok(whole.clone());
    }
    let save = |crossover: &Crossover| {
        folder.give_room();
        let document = CrossoverDocument::from(crossover.clone());
        let result = session::begin(experiment, Some(&document), command, folder).into_diagnostic()?;
        Ok::<_, miette::Report>((result, document))
    };
    let first = inside_a_jvm(experiment, options, folder, stop, 0)?;
    let (result, document) = save(&first)?;
    if first.ended_early.is_some() {
        return Ok(result);
    }
    if let Some(sentence) = words::first_answer(&document) {
        note!("first answer, of one JVM: {sentence}");
    }
    note!("a second JVM follows, which may compile the same code differently");
    match inside_a_jvm(experiment, options, folder, stop, 1) {
        Ok(second) => Ok(save(&first.followed_by(second))?.0),
        Err(why) => {
            note!("The second JVM has no crossover: {why}");
            let ended_early = Some(format!("the second JVM has no crossover: {why}"));
            Ok(save(&Crossover { ended_early, ..first })?.0)
        }
    }
}

/// Runs the crossover inside one of the JVMs. The first JVM begins with the baseline alone, the second with virtual threads alone.
fn inside_a_jvm(
    experiment: &Experiment,
    options: &CrossoverOptions,
    folder: &ResultFolder,
    stop: &AtomicBool,
    jvm: u32,
) -> miette::Result<Crossover> {
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
    let run_folder = folder.run_folder(jvm, "crossover", &load.name);
    folder.empty_run_folder(&run_folder).into_diagnostic()?;
    let server = launcher
        .launch(variant, load.clients(), &run_folder, stop)
        .map_err(|error| not_ready(error, experiment, variant))?;
    let ready_after_ms = server.facts.ready_after_ms;
    note!("ready after {}", figures::milliseconds(ready_after_ms));
    let treatments = options.treatments()?;
    let alone = match jvm {
        0 => treatments.first().copied().unwrap_or(Treatment::Own),
        _ => treatments.get(1).copied().unwrap_or(Treatment::Virtual { limit: None }),
    };
    let found = of_server(
        &server,
        load,
        treatments,
        PeriodsBudget::of_started(experiment.budget_s, jvm),
        alone,
        stop,
    );
    let stopped = server.tear_down();
    let mut found = without_secrets(found?, experiment);
    found.alone.iter_mut().for_each(|it| it.server.ready_after_ms = ready_after_ms);
    stopped.into_diagnostic()?;
    Ok(found)
}

/// Whether the service or the user ended the crossover, so that fresh JVMs would end in the same way.
pub(super) fn is_of_service(why: &miette::Report) -> bool {
    matches!(
        why.downcast_ref(),
        Some(CrossoverFailure::Hangs(_) | CrossoverFailure::NotReady { .. } | CrossoverFailure::Interrupted)
    )
}

/// Puts the root cause of a failed start first.
fn not_ready(error: LaunchError, experiment: &Experiment, variant: &Variant) -> CrossoverFailure {
    if error.is_interrupt() {
        return CrossoverFailure::Interrupted;
    }
    let record = Record { failure: Some(launch_failure(error)), ..Record::default() };
    let failure = session::without_secrets(record, experiment).failure.unwrap_or_default();
    let cause = failure.cause.map(|cause| format!("{}. ", cause.trim_end_matches('.'))).unwrap_or_default();
    let why = printable(&(cause + &failure.why)).into_owned();
    CrossoverFailure::NotReady { variant: variant.name.clone(), why }
}

fn of_server(
    server: &threadcount_servers::RunningServer,
    load: &threadcount_model::experiment::LoadSpec,
    treatments: Vec<Treatment>,
    budget: PeriodsBudget,
    alone: Treatment,
    stop: &AtomicBool,
) -> miette::Result<Crossover> {
    let plan = plan_flags::planned(load, &server.url)?;
    let pid = server.pid().map(|pid| ProcessTree::rooted_at(pid).java_pid().unwrap_or(pid));
    let pid = pid
        .ok_or_else(|| miette!("the server runs elsewhere, and its threads cannot be switched from here"))?;
    let order = CrossoverOrder {
        pid,
        port: plan.requests.origin().port,
        plan: &plan,
        jar: jar::find().into_diagnostic()?,
        treatments,
        budget: budget.usual,
        longest_budget: budget.longest,
        // The port was chosen just now, so that nobody else knows it.
        beside_others: true,
        alone: Some(alone),
    };
    measured(&order, stop)
}

fn measured(order: &CrossoverOrder<'_>, stop: &AtomicBool) -> miette::Result<Crossover> {
    let mut progress = CrossoverProgress::default();
    Ok(crossover::run(order, stop, &mut |event| progress.event(&event))?)
}

fn finish(
    document: &CrossoverDocument,
    question: &str,
    settings: &[Setting],
    report: Option<&str>,
    options: &CrossoverOptions,
    fail_above: f64,
) -> miette::Result<ExitCode> {
    if options.json {
        stdout::show(&(serde_json::to_string_pretty(document).into_diagnostic()? + "\n"), true)?;
    } else {
        stdout::print(&summary(document, question, settings, report, stdout::style()))?;
    }
    Ok(exit_code(document, fail_above))
}

/// 1 if the crossover has failed.
fn exit_code(document: &CrossoverDocument, fail_above: f64) -> ExitCode {
    if has_failed(document, fail_above) { ExitCode::from(super::FAILED) } else { ExitCode::SUCCESS }
}

/// Whether the crossover was broken off, measured nothing, or had more failed requests than are allowed. The last one is printed.
pub(super) fn has_failed(document: &CrossoverDocument, fail_above: f64) -> bool {
    let crossover = &document.crossover;
    let is_whole = crossover.ended_early.is_none() && !document.comparisons.is_empty();
    let (ok, failed) = (crossover.requests.ok as f64, crossover.requests.failed as f64);
    let are_too_many = failed > fail_above * (ok + failed);
    if are_too_many {
        note!(
            "{} requests failed; --fail-above allows a share of them",
            figures::count(crossover.requests.failed)
        );
    }
    !is_whole || are_too_many
}

/// Prints progress on stderr: the state, and the ratios so far every few seconds.
#[derive(Debug, Default)]
struct CrossoverProgress {
    warming: Option<WarmingUp>,
    printed: Option<Instant>,
}

/// The warm-up so far: its begin, the time of its last line, and the responses since that line.
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

    /// Counts more responses. Every five seconds it returns how long the server has been warmed up, and the responses per second since the
    /// last line.
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
        // Ratios are computed on the machine that is being measured, so they are computed rarely.
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
