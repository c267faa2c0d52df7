//! What `run` and `compare` share: options, and an experiment from the first launch to the written report.

use super::crossover;
use super::progress::Progress;
use super::resume::Earlier;
use super::{DISK_FULL, FAILED, NOT_JUDGED, interrupt};
#[cfg(feature = "kubernetes")]
use super::{kubernetes_options::KubernetesOptions, kubernetes_sender};
use crate::run;
use crate::run::Runner;
use crate::run::sender::{LoadSender, ThisProcess};
use crate::run::session::resume;
use crate::run::silence::hang_diagnosis;
use clap::Args;
use miette::{IntoDiagnostic, WrapErr};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use threadcount_judge::result::ResultDocument;
use threadcount_judge::result_folder::{FolderError, IfTaken, ResultFolder, latest};
use threadcount_judge::words::reasons;
use threadcount_machine::probe::{Instruments, ProbeChoice};
use threadcount_machine::{machine, own_cores};
use threadcount_model::claim_result::{ClaimResult, ClaimVerdict};
use threadcount_model::experiment::claim::Names;
use threadcount_model::experiment::{Experiment, LoadSpec, Variant, open_files};
use threadcount_model::figures;
use threadcount_model::masked::{Masked, masked};
use threadcount_model::parse::claim::parse;
use threadcount_model::rounds::RoundsEnd;
use threadcount_report as report;
use threadcount_report::terminal::terminal;
use threadcount_report::{Format, ReportError};
use threadcount_servers::LaunchError;
use threadcount_servers::launcher::Launcher;
use threadcount_servers::workload::external;
use threadcount_stats::claim::judge;
use threadcount_stats::runs::is_complete;

/// Where the result goes and what it decides.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Result")]
pub struct ExperimentArgs {
    /// The result folder [default: out/EXPERIMENT/DATE-N, and out/EXPERIMENT/latest names it]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Delete the result that is in the folder of --out
    #[arg(long, requires = "out")]
    replace: bool,
    /// Do the missing runs of the result in this folder, whose session was broken off
    #[arg(long, value_name = "DIR", conflicts_with = "out")]
    pub(super) resume: Option<PathBuf>,
    /// Exit with 1 if this holds (3: it could not be judged), e.g. 'virtual.p99 > 1.1 * platform.p99'; repeatable
    #[arg(long, value_name = "CLAIM")]
    fail_if: Vec<String>,
    /// What the probe records inside each JVM; `full` adds a cost per request
    #[arg(long, value_name = "LEVEL", default_value = "light")]
    probe: ProbeChoice,
    /// No probe in the JVMs; the report then cannot explain differences
    #[arg(long, conflicts_with = "probe")]
    no_probe: bool,
    /// Keep the JFR recording of each run (run.jfr), for JDK Mission Control
    #[arg(long)]
    jfr: bool,
    /// No log of collections and safepoints (jvm.log in each run's folder); the report then lacks GC pauses
    #[arg(long)]
    no_jvm_log: bool,
    /// Open the report in the browser
    #[arg(long)]
    open: bool,
    #[cfg(feature = "kubernetes")]
    #[command(flatten)]
    kubernetes: KubernetesOptions,
}

/// An experiment's outcome, and what became of each `--fail-if`.
pub struct ExperimentOutcome {
    document: ResultDocument,
    conditions: Vec<ClaimResult>,
    /// The user stopped it.
    cut_short: bool,
    /// There was no room for the rest of it.
    disk_full: bool,
}

impl ExperimentOutcome {
    /// The result.
    pub const fn document(&self) -> &ResultDocument {
        &self.document
    }
}

impl ExperimentArgs {
    /// The folder of one experiment; of several, each has one of its own below `--out`.
    pub fn out_folder(&self, experiment: &str, many: bool) -> PathBuf {
        match &self.out {
            Some(out) if many => out.join(experiment),
            Some(out) => out.clone(),
            None => Path::new("out").join(experiment),
        }
    }

    /// Before the first of several experiments runs: the folder of the last one must be free, too.
    ///
    /// # Errors
    /// It has a result.
    pub fn check_folder(&self, experiment: &str, many: bool) -> miette::Result<()> {
        let path = self.out_folder(experiment, many);
        let is_refused = self.out.is_some() && !self.replace && ResultFolder::is_taken(&path);
        if is_refused { Err(FolderError::Taken { path }).into_diagnostic() } else { Ok(()) }
    }

    /// The folder of the result, locked.
    fn folder(&self, experiment: &str, many: bool) -> Result<ResultFolder, FolderError> {
        if let Some(earlier) = &self.resume {
            return ResultFolder::create(&latest(earlier), IfTaken::Keep);
        }
        let path = self.out_folder(experiment, many);
        match &self.out {
            Some(_) => {
                let if_taken = if self.replace { IfTaken::Replace } else { IfTaken::Refuse };
                ResultFolder::create(&path, if_taken)
            }
            None => ResultFolder::next(&path, &jiff::Zoned::now().date().to_string()),
        }
    }

    /// What of this command line holds for one that is run again to be resumed.
    pub(super) fn resuming(&self, stored: Self) -> Self {
        Self {
            out: None,
            replace: false,
            resume: self.resume.clone(),
            fail_if: [stored.fail_if.as_slice(), self.fail_if.as_slice()].concat(),
            open: self.open || stored.open,
            ..stored
        }
    }

    /// With `--dry-run` the Job that would send the loads is printed, and nothing runs. False: it was not asked for.
    ///
    /// # Errors
    /// Loads that pods cannot send.
    #[cfg(feature = "kubernetes")]
    pub fn is_dry_run(&self, experiments: &[&Experiment]) -> miette::Result<bool> {
        if self.kubernetes.is_asked_for() {
            experiments.iter().try_for_each(|it| kubernetes_sender::check(&self.kubernetes, it))?;
        }
        if self.kubernetes.dry_run {
            kubernetes_sender::print(&self.kubernetes)?;
        }
        Ok(self.kubernetes.dry_run)
    }

    #[cfg(not(feature = "kubernetes"))]
    pub fn is_dry_run(&self, _: &[&Experiment]) -> miette::Result<bool> {
        Ok(false)
    }

    const fn sends_elsewhere(&self) -> bool {
        #[cfg(feature = "kubernetes")]
        return self.kubernetes.is_asked_for();
        #[cfg(not(feature = "kubernetes"))]
        return false;
    }

    /// Who sends the loads; `None`: this process.
    #[cfg(feature = "kubernetes")]
    fn pods(&self, interrupted: &AtomicBool) -> miette::Result<Option<Box<dyn LoadSender>>> {
        if !self.kubernetes.is_asked_for() {
            return Ok(None);
        }
        Ok(Some(Box::new(kubernetes_sender::start(&self.kubernetes, interrupted)?)))
    }

    #[cfg(not(feature = "kubernetes"))]
    fn pods(&self, _: &AtomicBool) -> miette::Result<Option<Box<dyn LoadSender>>> {
        Ok(None)
    }

    /// Prepares, runs, reports and judges.
    ///
    /// # Errors
    /// A claim that cannot be read, a server that cannot be had, a result that cannot be written.
    pub fn run(&self, mut experiment: Experiment, many: bool) -> miette::Result<ExperimentOutcome> {
        let names = Names::of(&experiment);
        let mut conditions = Vec::new();
        for written in &self.fail_if {
            let claim =
                parse(written, &names).map_err(|diagnostic| diagnostic.within("--fail-if", written))?;
            conditions.push((written, claim));
        }
        let probe = if self.no_probe { ProbeChoice::Off } else { self.probe };
        let instruments = Instruments { probe, jfr: self.jfr, jvm_log: !self.no_jvm_log };
        let health_paths = experiment.health_paths();
        let launcher = Launcher {
            instruments,
            health_paths,
            hang_check: Some(hang_diagnosis),
            ..Launcher::of_this_machine()
        };
        for variant in &mut experiment.variants {
            if let Some(why) = &variant.skipped {
                anstream::eprintln!("{} is skipped: {why}", variant.name);
                continue;
            }
            if probe == ProbeChoice::Off && !self.jfr && variant.target().is_none() {
                // So that the estimate and the result know.
                variant.probe.get_or_insert(probe);
            }
            prepare(&launcher, variant)?;
        }
        // What pods can do, this machine does not know.
        if !self.sends_elsewhere() {
            pin_roles(&mut experiment);
            experiment.loads.iter_mut().for_each(look_for_tool);
            experiment.loads.iter_mut().for_each(look_for_cores);
            leave_out_too_large(&mut experiment);
        }
        let folder = self.folder(&experiment.name, many).into_diagnostic()?;
        let earlier = self.resume.as_deref().map(Earlier::read).transpose()?;
        if let Some(earlier) = &earlier {
            earlier.check(&experiment)?;
        }
        let command: Vec<String> = match &earlier {
            Some(earlier) => earlier.document.command.clone(),
            None => std::env::args().collect(),
        };
        tell_masked(&experiment, &command);
        let interrupted = interrupt::stop_flag().into_diagnostic().wrap_err("Ctrl-C cannot be caught")?;
        let has_crossover = experiment.crossover && earlier.is_none() && !self.sends_elsewhere();
        let crossover = match has_crossover {
            true => crossover::before_fresh_jvms(&experiment, folder.path(), &interrupted)?,
            false => None,
        };
        let pods = self.pods(&interrupted)?;
        let mut progress = Progress::new(&experiment);
        let runner = Runner {
            experiment: &experiment,
            command: &command,
            launcher: &launcher,
            sender: pods.as_deref().unwrap_or(&ThisProcess),
            folder: &folder,
            interrupted: &interrupted,
        };
        let done = earlier.map(|earlier| earlier.document.records).unwrap_or_default();
        let document = resume(&runner, done, &mut progress).into_diagnostic()?;
        progress.finish();
        // Nothing stays in the cluster while somebody reads.
        drop(pods);
        folder.give_room();
        let page = report::write(&document, Format::Html, folder.path());
        // Before an error about the page: the figures are there.
        show(&document, page.as_deref().ok());
        if let Some(crossover) = &crossover {
            crossover::print_confirmation(crossover, &document)?;
        }
        let disk_full = document.rounds.iter().any(|done| done.why == RoundsEnd::DiskFull)
            || page.as_ref().is_err_and(ReportError::is_disk_full);
        match page {
            Ok(page) if self.open => open(&page),
            Err(error) if disk_full => anstream::eprintln!("{error}"),
            page => drop(page.into_diagnostic()?),
        }
        let conditions = conditions
            .iter()
            .map(|(written, claim)| judge(written, claim, &experiment, &document.records))
            .collect();
        let cut_short = interrupted.load(Ordering::Relaxed);
        Ok(ExperimentOutcome { document, conditions, cut_short, disk_full })
    }
}

/// Finds everything a variant needs. A variant whose requirements are not installed is skipped, with a message.
fn prepare(launcher: &Launcher, variant: &mut Variant) -> miette::Result<()> {
    if let Some(archive) = launcher.missing_download(variant) {
        anstream::eprintln!("fetching {archive} from Maven Central into the cache");
    }
    let Err(error) = run::prepare(launcher, variant) else { return Ok(()) };
    match error.cannot_here() {
        Some(why) => {
            anstream::eprintln!("{} is skipped: {why}", variant.name);
            variant.skipped = Some(why.to_owned());
            Ok(())
        }
        None => Err(launch_error_report(error)),
    }
}

/// A load whose external tool is not installed is skipped, with a message.
fn look_for_tool(load: &mut LoadSpec) {
    if let Some(Err(missing)) = load.workload.tool().map(external::program) {
        anstream::eprintln!("{} is skipped: {missing}", load.name);
        load.skipped = Some(missing.to_string());
    }
}

/// Where the machine lacks one of the cores, no role is pinned, with a message: the variants are compared all the same.
fn pin_roles(experiment: &mut Experiment) {
    let refused = experiment.cores.as_ref().and_then(|cores| own_cores::cannot_be_had(&cores.all()));
    if let Some(why) = &refused {
        anstream::eprintln!("no role is pinned to cores: {why}");
    }
    experiment.pin_roles(refused);
}

/// A load whose generator is pinned to cores that do not exist is skipped.
fn look_for_cores(load: &mut LoadSpec) {
    if let Some(why) = own_cores::cannot_be_had(&load.sending.cores) {
        anstream::eprintln!("{} is skipped: `cores`: {why}", load.name);
        load.skipped = Some(format!("`cores`: {why}"));
    }
}

/// Skips the loads that need more open files than allowed, with a message.
fn leave_out_too_large(experiment: &mut Experiment) {
    for (load, why) in open_files::leave_out_too_large(experiment, machine::read().max_open_files) {
        anstream::eprintln!("{load} is skipped: {why}");
    }
}

/// A launch error with the last lines of what it is about.
fn launch_error_report(error: LaunchError) -> miette::Report {
    match error.log_tail() {
        [] => miette::Report::from_err(error),
        lines => miette::miette!(help = lines.join("\n"), "{error}"),
    }
}

/// A warning of what the result does not show.
fn tell_masked(experiment: &Experiment, command: &[String]) {
    let mut names = Masked::new();
    let _ = experiment.without_secrets(&mut names);
    let _ = masked(&command.to_vec(), &mut names);
    if !names.is_empty() {
        let names = names.into_iter().collect::<Vec<_>>().join(", ");
        anstream::eprintln!(
            "masked as *** in the result: {names}; ${{NAME}} stands for a variable of the environment"
        );
    }
}

fn show(document: &ResultDocument, page: Option<&Path>) {
    let page = page.map(|page| page.display().to_string());
    let text = terminal(document, page.as_deref(), super::stdout::style());
    anstream::println!("\n{text}");
}

/// The desktop's own way to open a file; where there is none, the path has been printed anyway.
fn open(page: &Path) {
    let opener = Command::new("xdg-open").arg(page).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    if let Err(error) = opener {
        anstream::eprintln!("--open: xdg-open cannot be started ({error}); open {} yourself", page.display());
    }
}

/// What a claim or a `--fail-if` does to the exit code, the gravest last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Outcome {
    Passed,
    NotJudged,
    Failed,
    DiskFull,
}

/// 1 where nothing was measured, a run failed or is missing, a claim of the user's own does not hold or a `--fail-if` does; 3 where one of them
/// could not be judged, or a variant has no successful request. Each is printed. What the intervals leave open is printed too, and fails nothing.
pub fn exit_code(outcomes: &[ExperimentOutcome]) -> ExitCode {
    let mut gravest = Outcome::Passed;
    let is_any_measured = outcomes.iter().any(|outcome| outcome.document.is_any_complete());
    for ExperimentOutcome { document, conditions, cut_short, disk_full } in outcomes {
        let name = &document.experiment.name;
        for record in document.records.iter().filter(|record| record.failure.is_some()) {
            gravest = Outcome::Failed;
            tell_failure(record);
        }
        let claims = document.claims.iter().map(|claim| tell_claim(document, claim));
        let conditions = conditions.iter().map(|condition| tell_condition(document, condition));
        gravest = claims.chain(conditions).fold(gravest, Outcome::max);
        gravest = gravest.max(tell_missing(document, is_any_measured));
        if *cut_short {
            gravest = Outcome::Failed;
            let runs = document.records.iter().filter(|record| is_complete(record)).count();
            let runs = figures::plural(runs, "complete run");
            anstream::eprintln!("{name}: interrupted after {runs}; they are kept");
        }
        if *disk_full {
            gravest = Outcome::DiskFull;
            anstream::eprintln!(
                "{name}: the disk is full; what was measured is kept. Make room, and go on with --resume"
            );
        }
    }
    match gravest {
        Outcome::Passed => ExitCode::SUCCESS,
        Outcome::NotJudged => ExitCode::from(NOT_JUDGED),
        Outcome::Failed => ExitCode::from(FAILED),
        Outcome::DiskFull => ExitCode::from(DISK_FULL),
    }
}

/// Prints what has no figures. Of several experiments one may be of no use here; a call that measures nothing has failed.
fn tell_missing(document: &ResultDocument, is_any_measured: bool) -> Outcome {
    let name = &document.experiment.name;
    if !document.is_any_complete() {
        let is_skipped = document.experiment.variants.iter().all(|variant| variant.skipped.is_some());
        let why = if is_skipped { "no variant can run on this machine" } else { "no run is complete" };
        anstream::eprintln!("{name}: nothing was measured: {why}");
        return if is_skipped && is_any_measured { Outcome::Passed } else { Outcome::Failed };
    }
    let failing = document.runs_without_success();
    for (variant, load) in &failing {
        anstream::eprintln!("{name}: no request to {variant} under {load} had an expected response");
    }
    if failing.is_empty() { Outcome::Passed } else { Outcome::NotJudged }
}

/// Why a claim cannot be judged; `None`: it can.
fn cannot_be_judged(claim: &ClaimResult) -> Option<String> {
    match (claim.verdict(), &claim.why) {
        (ClaimVerdict::NotTried, Some(why)) => Some(reasons::not_tried(why)),
        (ClaimVerdict::NotTried, None) => Some("its figures were not measured".to_owned()),
        _ => claim.doubt.as_ref().map(reasons::doubt),
    }
}

/// Whether it is about variants and loads of this session, which `--variant` and `--quick` may leave out.
fn is_asked(document: &ResultDocument, claim: &ClaimResult) -> bool {
    let experiment = &document.experiment;
    parse(&claim.claim, &Names::of(experiment)).is_ok_and(|parsed| {
        parsed.figures().iter().all(|figure| {
            let load = experiment.loads.iter().find(|load| load.name == figure.load);
            load.is_some_and(|load| load.includes(&figure.variant))
        })
    })
}

/// Prints the verdict on a claim.
fn tell_claim(document: &ResultDocument, claim: &ClaimResult) -> Outcome {
    let (name, written) = (&document.experiment.name, &claim.claim);
    if claim.holds.is_none() && !is_asked(document, claim) {
        return Outcome::Passed;
    }
    match (claim.is_denied(), &claim.says, cannot_be_judged(claim)) {
        // What a study states is reported, and decides nothing.
        (_, Some(_), _) => Outcome::Passed,
        (_, None, Some(why)) => {
            anstream::eprintln!("{name}: the claim could not be judged: {written}: {why}");
            Outcome::NotJudged
        }
        (true, None, None) => {
            anstream::eprintln!("{name}: the claim does not hold{}: {written}", of_one_run(claim));
            Outcome::Failed
        }
        (false, None, None) if claim.verdict() == ClaimVerdict::NotDecided => {
            anstream::eprintln!("{name}: the claim is inconclusive: {written}");
            Outcome::Passed
        }
        _ => Outcome::Passed,
    }
}

/// A gate of one run closes all the same; it says what it rests on.
fn of_one_run(claim: &ClaimResult) -> &'static str {
    if claim.verdict() == ClaimVerdict::Indicative { " (one run: indicative only)" } else { "" }
}

/// The same of a `--fail-if`.
fn tell_condition(document: &ResultDocument, condition: &ClaimResult) -> Outcome {
    let (name, written) = (&document.experiment.name, &condition.claim);
    if let Some(why) = cannot_be_judged(condition) {
        anstream::eprintln!("{name}: --fail-if could not be judged: {written}: {why}");
        return Outcome::NotJudged;
    }
    match condition.verdict() {
        ClaimVerdict::Holds | ClaimVerdict::Indicative if !condition.is_denied() => {
            anstream::eprintln!("{name}: --fail-if holds{}: {written}", of_one_run(condition));
            Outcome::Failed
        }
        ClaimVerdict::NotDecided => {
            anstream::eprintln!("{name}: --fail-if is inconclusive: {written}; use more rounds (--runs)");
            Outcome::Passed
        }
        _ => Outcome::Passed,
    }
}

fn tell_failure(record: &threadcount_model::record::Record) {
    let Some(failure) = &record.failure else { return };
    anstream::eprintln!(
        "run {} ({} under {}, round {}) failed: {}",
        record.position,
        record.variant,
        record.load,
        record.round,
        failure.why
    );
    for line in &failure.log_tail {
        anstream::eprintln!("    {line}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::session;
    use threadcount_config::parse;
    use threadcount_load::report::LoadReport;
    use threadcount_model::doubt::{Doubt, DoubtReason};
    use threadcount_model::record::Record;

    fn document() -> ResultDocument {
        let text = "question: q\nserver: {tomcat: 11.0}\nrequest: /\nvariants: {a: {}, b: {}}\n\
            loads: [{clients: 4, duration: 1s}]\n";
        let experiment = parse("x", "x.yaml", text, false).expect("an experiment");
        let mut load = LoadReport::default();
        load.requests.ok = 1;
        let run = Record {
            variant: "a".to_owned(),
            load: "c4".to_owned(),
            measured: Some(load),
            ..Record::default()
        };
        session::document(&experiment, vec![run], Vec::new(), &[])
    }

    fn claim(holds: Option<bool>, reason: Option<DoubtReason>) -> ClaimResult {
        let doubt =
            reason.map(|reason| Doubt { variant: "b".to_owned(), load: "c4".to_owned(), runs: 1, reason });
        let claim = "b.rate / a.rate >= 2".to_owned();
        ClaimResult { claim, holds, doubt, decided: true, ..ClaimResult::default() }
    }

    #[test]
    fn a_claim_about_a_variant_that_was_not_asked_for_is_no_failure_and_a_fail_if_about_it_is() {
        let mut document = document();
        assert_eq!(tell_claim(&document, &claim(None, None)), Outcome::NotJudged);
        assert!(document.experiment.loads[0].keep_only(&["a".to_owned()]));
        assert_eq!(tell_claim(&document, &claim(None, None)), Outcome::Passed);
        assert_eq!(tell_condition(&document, &claim(None, None)), Outcome::NotJudged);
    }

    #[test]
    fn a_claim_of_ones_own_passes_fails_or_cannot_be_judged() {
        let document = document();
        for (holds, reason, outcome) in [
            (Some(true), None, Outcome::Passed),
            (Some(false), None, Outcome::Failed),
            (Some(true), Some(DoubtReason::GeneratorBottleneck { why: None }), Outcome::NotJudged),
            (Some(false), Some(DoubtReason::GeneratorBottleneck { why: None }), Outcome::NotJudged),
            (None, None, Outcome::NotJudged),
        ] {
            let own = claim(holds, reason);
            assert_eq!(tell_claim(&document, &own), outcome, "{own:?}");
            let studys = ClaimResult { says: Some("it is so".to_owned()), ..own };
            assert_eq!(tell_claim(&document, &studys), Outcome::Passed, "{studys:?}");
        }
        let open = ClaimResult { undecided: true, ..claim(Some(false), None) };
        assert_eq!(tell_claim(&document, &open), Outcome::Passed);
    }

    #[test]
    fn a_fail_if_fails_where_it_holds_and_cannot_be_judged_on_figures_that_are_not_trusted() {
        let document = document();
        for (holds, reason, outcome) in [
            (Some(true), None, Outcome::Failed),
            (Some(false), None, Outcome::Passed),
            (Some(true), Some(DoubtReason::AcceptQueueOverflow { overflows: 3 }), Outcome::NotJudged),
            (Some(false), Some(DoubtReason::AcceptQueueOverflow { overflows: 3 }), Outcome::NotJudged),
            (None, None, Outcome::NotJudged),
        ] {
            let condition = claim(holds, reason);
            assert_eq!(tell_condition(&document, &condition), outcome, "{condition:?}");
        }
    }

    #[test]
    fn what_failed_is_graver_than_what_could_not_be_judged() {
        let both = |claims: Vec<ClaimResult>, conditions: Vec<ClaimResult>| {
            let document = ResultDocument { claims, ..document() };
            let outcomes = ExperimentOutcome { document, conditions, cut_short: false, disk_full: false };
            format!("{:?}", exit_code(&[outcomes]))
        };
        let code = |code: u8| format!("{:?}", ExitCode::from(code));
        let holds = || claim(Some(true), None);
        let fails = || claim(Some(false), None);
        let unjudged = || claim(None, None);
        assert_eq!(both(vec![unjudged()], vec![]), code(NOT_JUDGED));
        assert_eq!(both(vec![fails(), unjudged()], vec![]), code(FAILED));
        assert_eq!(both(vec![holds()], vec![]), code(0));
        assert_eq!(both(vec![], vec![holds()]), code(FAILED));
        assert_eq!(both(vec![], vec![fails()]), code(0));
        assert_eq!(both(vec![], vec![unjudged()]), code(NOT_JUDGED));
        assert_eq!(both(vec![], vec![unjudged(), holds()]), code(FAILED));
    }
}
