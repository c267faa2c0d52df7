//! What `run` and `compare` share: options, and an experiment from the first launch to the written report.

use super::progress::Progress;
use super::{FAILED, interrupt};
use crate::host::{machine, own_cores};
use crate::model::experiment::claim::Names;
use crate::model::experiment::{Experiment, LoadSpec, Variant, open_files};
use crate::model::result::{ClaimResult, ClaimVerdict, ResultDocument};
use crate::model::result_folder::ResultFolder;
use crate::parse::claim::parse;
use crate::probe::{Instruments, ProbeChoice};
use crate::report::terminal::terminal;
use crate::report::{self, Format};
use crate::run::Runner;
use crate::run::session::session;
use crate::server::LaunchError;
use crate::server::launcher::Launcher;
use crate::stats::claim::judge;
use crate::workload::external;
use clap::Args;
use miette::{IntoDiagnostic, WrapErr};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::atomic::Ordering;

/// Where the result goes and what it decides.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Result")]
pub struct ExperimentArgs {
    /// The result folder [default: out/EXPERIMENT]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Exit with 1 if this holds, e.g. 'virtual.p99 > 1.1 * platform.p99'; repeatable
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
    /// Open the report in the browser
    #[arg(long)]
    open: bool,
}

/// An experiment's outcome, and what became of each `--fail-if`.
pub struct ExperimentOutcome {
    document: ResultDocument,
    conditions: Vec<ClaimResult>,
    /// The user stopped it.
    cut_short: bool,
}

impl ExperimentOutcome {
    /// What came out.
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

    /// Prepares, runs, reports and judges.
    ///
    /// # Errors
    /// A claim that cannot be read, a server that cannot be had, a result that cannot be written.
    pub fn run(&self, mut experiment: Experiment, out: &Path) -> miette::Result<ExperimentOutcome> {
        let names = Names::of(&experiment);
        let mut conditions = Vec::new();
        for written in &self.fail_if {
            let claim =
                parse(written, &names).map_err(|diagnostic| diagnostic.within("--fail-if", written))?;
            conditions.push((written, claim));
        }
        let probe = if self.no_probe { ProbeChoice::Off } else { self.probe };
        let instruments = Instruments { probe, jfr: self.jfr };
        let launcher = Launcher { instruments, ..Launcher::of_this_machine() };
        for variant in &mut experiment.variants {
            prepare(&launcher, variant)?;
        }
        experiment.loads.iter_mut().for_each(look_for_tool);
        experiment.loads.iter_mut().for_each(look_for_cores);
        leave_out_too_large(&mut experiment);
        let folder = ResultFolder::create(out).into_diagnostic()?;
        let interrupted = interrupt::stop_flag().into_diagnostic().wrap_err("Ctrl-C cannot be caught")?;
        let mut progress = Progress::new(&experiment);
        let runner = Runner {
            experiment: &experiment,
            launcher: &launcher,
            folder: &folder,
            interrupted: &interrupted,
        };
        let document = session(&runner, &mut progress).into_diagnostic()?;
        progress.finish();
        let page = report::write(&document, Format::Html, folder.path()).into_diagnostic()?;
        show(&document, &page);
        if self.open {
            open(&page);
        }
        let conditions = conditions
            .iter()
            .map(|(written, claim)| judge(written, claim, &experiment, &document.records))
            .collect();
        let cut_short = interrupted.load(Ordering::Relaxed);
        Ok(ExperimentOutcome { document, conditions, cut_short })
    }
}

/// Finds everything a variant needs. What is not installed and no mistake leaves it out, and is said.
fn prepare(launcher: &Launcher, variant: &mut Variant) -> miette::Result<()> {
    if let Some(version) = launcher.missing_tomcat(variant) {
        anstream::eprintln!("fetching Tomcat {version} from Maven Central into the cache");
    }
    let Err(error) = launcher.prepare(variant) else { return Ok(()) };
    match error.cannot_here() {
        Some(why) => {
            anstream::eprintln!("{} is skipped: {why}", variant.name);
            variant.skipped = Some(why.to_owned());
            Ok(())
        }
        None => Err(told(error)),
    }
}

/// A load that a tool sends which is not installed is left out, and that is said.
fn look_for_tool(load: &mut LoadSpec) {
    if let Some(Err(missing)) = load.tool.map(external::program) {
        anstream::eprintln!("{} is skipped: {missing}", load.name);
        load.skipped = Some(missing.to_string());
    }
}

/// A load whose generator is to be pinned to cores that are not here is left out.
fn look_for_cores(load: &mut LoadSpec) {
    if let Some(why) = own_cores::cannot_be_had(&load.sending.cores) {
        anstream::eprintln!("{} is skipped: `cores`: {why}", load.name);
        load.skipped = Some(format!("`cores`: {why}"));
    }
}

/// Leaves out and tells the loads that this machine has too few open files for.
fn leave_out_too_large(experiment: &mut Experiment) {
    for (load, why) in open_files::leave_out_too_large(experiment, machine::read().max_open_files) {
        anstream::eprintln!("{load} is skipped: {why}");
    }
}

/// A launch error with the last lines of what it is about.
fn told(error: LaunchError) -> miette::Report {
    match error.log_tail() {
        [] => miette::Report::from_err(error),
        lines => miette::miette!(help = lines.join("\n"), "{error}"),
    }
}

fn show(document: &ResultDocument, page: &Path) {
    let text = terminal(document, Some(&page.display().to_string()), super::stdout::style());
    anstream::println!("\n{text}");
}

/// The desktop's own way to open a file; where there is none, the path has been printed anyway.
fn open(page: &Path) {
    let opener = Command::new("xdg-open").arg(page).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    if let Err(error) = opener {
        anstream::eprintln!("--open: xdg-open cannot be started ({error}); open {} yourself", page.display());
    }
}

/// 1 where a run failed or is missing, a claim of ours does not hold or a `--fail-if` does; each is said. What the
/// intervals do not decide is said too, and fails nothing.
pub fn exit_code(outcomes: &[ExperimentOutcome]) -> ExitCode {
    let mut failed = false;
    for ExperimentOutcome { document, conditions, cut_short } in outcomes {
        let name = &document.experiment.name;
        for record in document.records.iter().filter(|record| record.failure.is_some()) {
            failed = true;
            tell_failure(record);
        }
        for claim in &document.claims {
            failed |= tell_claim(name, claim);
        }
        for condition in conditions {
            failed |= tell_condition(name, condition);
        }
        if document.experiment.variants.iter().all(|variant| variant.skipped.is_some()) {
            anstream::eprintln!("{name}: no runs, because no variant can run on this machine");
        }
        if *cut_short {
            failed = true;
            anstream::eprintln!("{name}: interrupted after {} runs; they are kept", document.records.len());
        }
    }
    if failed { ExitCode::from(FAILED) } else { ExitCode::SUCCESS }
}

/// Says what is to be said of a claim; true: it fails the command.
fn tell_claim(name: &str, claim: &ClaimResult) -> bool {
    match (claim.verdict(), &claim.says) {
        // That a study's statement does not hold on this machine is a result like any other.
        (ClaimVerdict::DoesNotHold, Some(says)) => {
            anstream::eprintln!("{name}: not reproduced: {says} ({})", claim.claim);
            false
        }
        (ClaimVerdict::DoesNotHold, None) => {
            anstream::eprintln!("{name}: the claim does not hold: {}", claim.claim);
            true
        }
        (ClaimVerdict::NotDecided, None) => {
            anstream::eprintln!("{name}: the claim is inconclusive: {}", claim.claim);
            false
        }
        _ => false,
    }
}

/// The same of a `--fail-if`.
fn tell_condition(name: &str, condition: &ClaimResult) -> bool {
    let claim = &condition.claim;
    match condition.verdict() {
        ClaimVerdict::Holds => {
            anstream::eprintln!("{name}: --fail-if holds: {claim}");
            true
        }
        ClaimVerdict::NotDecided => {
            anstream::eprintln!("{name}: --fail-if is inconclusive: {claim}; use more rounds (--runs)");
            false
        }
        ClaimVerdict::NotTried => {
            let why = condition.why.as_deref().unwrap_or("it could not be tested");
            anstream::eprintln!("{name}: --fail-if was not tested: {claim} ({why})");
            false
        }
        ClaimVerdict::DoesNotHold => false,
    }
}

fn tell_failure(record: &crate::model::record::Record) {
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
