//! The options that `run` and `compare` share, and the way of an experiment from preparation to the written report.

use super::crossover::{self, CrossoverOptions};
use super::experiment_outcome::ExperimentOutcome;
use super::interrupt;
use super::preparation::{leave_out_too_large, prepare_loads, prepare_variants};
use super::progress::Progress;
use super::resume::begun::remember;
use super::resume::{Earlier, command_of, folder_parser};
use super::{BAD_INPUT, code_of};
#[cfg(feature = "kubernetes")]
use super::{kubernetes_options::KubernetesOptions, kubernetes_sender};
use crate::run::Runner;
use crate::run::sender::{LoadSender, ThisProcess};
use crate::run::session::{self, SessionEnd};
use crate::run::silence::hang_diagnosis;
use clap::Args;
use miette::{IntoDiagnostic, WrapErr};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use threadcount_judge::result::ResultDocument;
use threadcount_judge::result_folder::{FolderError, IfTaken, ResultFolder};
use threadcount_machine::probe::{Instruments, ProbeChoice};
use threadcount_model::experiment::Experiment;
use threadcount_model::experiment::claim::{Claim, Names};
use threadcount_model::masked::{Secrets, masked};
use threadcount_model::parse::claim::parse;
use threadcount_model::parse::share;
use threadcount_model::rounds::RoundsEnd;
use threadcount_report as report;
use threadcount_report::terminal::terminal;
use threadcount_report::{Format, ReportError};
use threadcount_servers::launcher::Launcher;
use threadcount_stats::claim::judge;

/// Where the experiment of a session comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionKind {
    /// An experiment file. One of its variants alone may be worth a result.
    Experiment,
    /// The flags of `compare`. The user wants the difference between the variants.
    Comparison,
}

/// Flags for the result's folder, the exit code and the instruments.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Result")]
pub struct ExperimentArgs {
    /// The result folder [default: out/EXPERIMENT/DATE-N, and out/EXPERIMENT/latest names it]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Delete the result that is in the folder of --out
    #[arg(long, requires = "out")]
    replace: bool,
    /// Continue an interrupted session: do the runs that are missing from the result in this folder
    #[arg(long, value_name = "DIR", conflicts_with = "out", value_parser = folder_parser())]
    pub(super) resume: Option<PathBuf>,
    /// Exit with 1 if this claim holds, and with 3 if it cannot be judged, e.g. 'virtual.p99 > 1.1 * platform.p99'; repeatable
    #[arg(long, value_name = "CLAIM")]
    fail_if: Vec<String>,
    /// Exit with 1 only if more than this share of a variant's requests failed, e.g. 1%. Loads with expected losses are left out
    #[arg(long, value_name = "SHARE", default_value = "0%", value_parser = share)]
    pub(super) fail_above: f64,
    /// Load no probe into the JVMs; then the report cannot explain differences
    #[arg(long)]
    no_probe: bool,
    /// Keep the JFR recording of each run (run.jfr), for JDK Mission Control
    #[arg(long)]
    jfr: bool,
    /// Let the JVM write no log of collections and safepoints (jvm.log in each run's folder); then the report lacks GC pauses
    #[arg(long)]
    no_jvm_log: bool,
    /// Open the report in the browser
    #[arg(long)]
    open: bool,
    #[cfg(feature = "kubernetes")]
    #[command(flatten)]
    kubernetes: KubernetesOptions,
}

impl ExperimentArgs {
    /// The folder of one experiment's result. If there are several experiments, each has a folder below `--out`.
    pub fn out_folder(&self, experiment: &str, many: bool) -> PathBuf {
        // An experiment is named after its file, which may have any name.
        let experiment = if [".", ".."].contains(&experiment) { "_" } else { experiment };
        match &self.out {
            Some(out) if many => out.join(experiment),
            Some(out) => out.clone(),
            None => Path::new("out").join(experiment),
        }
    }

    /// Checks the folder of each experiment before the first one runs.
    ///
    /// # Errors
    /// The folder contains a result.
    pub fn check_folder(&self, experiment: &str, many: bool) -> miette::Result<()> {
        let path = self.out_folder(experiment, many);
        let is_refused = self.out.is_some() && !self.replace && ResultFolder::is_taken(&path);
        if is_refused { Err(FolderError::Taken { path }).into_diagnostic() } else { Ok(()) }
    }

    /// Creates and locks the folder of a new result.
    pub(super) fn folder(&self, experiment: &str, many: bool) -> Result<ResultFolder, FolderError> {
        let path = self.out_folder(experiment, many);
        match &self.out {
            Some(_) => {
                let if_taken = if self.replace { IfTaken::Replace } else { IfTaken::Refuse };
                ResultFolder::create(&path, if_taken)
            }
            None => ResultFolder::next(&path, &jiff::Zoned::now().date().to_string()),
        }
    }

    /// The result that `--resume` names, and its locked folder.
    ///
    /// # Errors
    /// A result that cannot be read, that others could have written, or that another session writes.
    pub(super) fn earlier(&self) -> miette::Result<Option<(Earlier, ResultFolder)>> {
        self.resume.as_deref().map(Earlier::locked).transpose()
    }

    /// The stored flags, with those of this command line that apply to a resumed session.
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

    /// Prints the Job that would send the loads if `--dry-run` asks for it. Returns false if it was not asked for.
    ///
    /// # Errors
    /// The loads cannot be sent by pods.
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

    /// The pods that send the loads, or `None` if this process sends them.
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

    /// Prepares, runs, reports and judges an experiment.
    ///
    /// # Errors
    /// A claim that cannot be read, a server that cannot be had, or a result that cannot be written.
    pub fn run(
        &self,
        mut experiment: Experiment,
        many: bool,
        kind: SessionKind,
    ) -> miette::Result<ExperimentOutcome> {
        let conditions = self.conditions(&experiment)?;
        let launcher = self.launcher(&experiment);
        self.mark_without_probe(&mut experiment);
        // This machine does not know what pods can do.
        let sends_here = !self.sends_elsewhere();
        if sends_here {
            prepare_loads(&mut experiment);
        }
        let (earlier, its_folder) = self.earlier()?.unzip();
        if let Some(earlier) = &earlier {
            earlier.announce(&experiment, self.instruments())?;
        }
        prepare_variants(&launcher, &mut experiment)?;
        if sends_here {
            leave_out_too_large(&mut experiment);
        }
        let folder = its_folder.map_or_else(|| self.folder(&experiment.name, many), Ok).into_diagnostic()?;
        if let Some(earlier) = &earlier {
            earlier.check(&experiment, self.instruments())?;
        }
        let command = command_of(earlier.as_ref());
        print_masked(&experiment, &command)?;
        let interrupted = interrupt::stop_flag().into_diagnostic().wrap_err("Ctrl-C cannot be caught")?;
        if earlier.is_none() {
            remember(&command);
            session::begin(&experiment, None, &command, &folder).into_diagnostic()?;
        }
        let is_begun = earlier.as_ref().is_some_and(|it| !it.document.records.is_empty());
        let is_one_load = experiment.loads.len() == 1 && experiment.claims.is_empty();
        if experiment.crossover && is_one_load && !self.needs_runs() && !is_begun {
            let options = CrossoverOptions::default();
            let begun = (earlier.as_ref(), &*command);
            let found = crossover::inside_two_jvms(&experiment, &options, begun, &folder, &interrupted);
            match found {
                Ok(document) => return self.end_of_crossover(document, &folder, &interrupted),
                Err(why) if code_of(&why) != BAD_INPUT => return Err(why),
                Err(why) => note!("{why}; fresh JVMs are compared instead"),
            }
        }
        let pods = self.pods(&interrupted)?;
        let mut progress = Progress::new(&experiment);
        let runner = Runner {
            experiment: &experiment,
            command: &command,
            launcher: &launcher,
            sender: pods.as_deref().unwrap_or(&ThisProcess),
            goes_on_without: kind == SessionKind::Experiment,
            may_all_fail: self.fail_above >= 1.0,
            folder: &folder,
            interrupted: &interrupted,
        };
        let done = earlier.map(|earlier| earlier.done()).unwrap_or_default();
        let SessionEnd { document, unsaved } =
            session::resume(&runner, done, &mut progress).into_diagnostic()?;
        progress.finish();
        // The pods are removed before anybody reads the report.
        drop(pods);
        let disk_full = match &unsaved {
            Some(_) => show(&document, None).map(|()| false)?,
            None => self.report(&document, &folder)?,
        };
        let conditions = conditions
            .iter()
            .map(|(written, claim)| judge(written, claim, &experiment, &document.records))
            .collect();
        let cut_short = interrupted.load(Ordering::Relaxed);
        Ok(ExperimentOutcome {
            document,
            conditions,
            cut_short,
            disk_full,
            unsaved,
            fail_above: self.fail_above,
        })
    }

    /// Makes the outcome of an experiment that is a crossover.
    fn end_of_crossover(
        &self,
        document: ResultDocument,
        folder: &ResultFolder,
        interrupted: &AtomicBool,
    ) -> miette::Result<ExperimentOutcome> {
        let disk_full = self.report(&document, folder)?;
        Ok(ExperimentOutcome {
            document,
            conditions: Vec::new(),
            cut_short: interrupted.load(Ordering::Relaxed),
            disk_full,
            unsaved: None,
            fail_above: self.fail_above,
        })
    }

    /// Whether a flag asks for something that only runs in fresh JVMs have.
    pub(super) fn needs_runs(&self) -> bool {
        !self.fail_if.is_empty() || self.jfr || self.no_probe || self.sends_elsewhere()
    }

    /// Each `--fail-if`, as it is written and as it was read.
    fn conditions(&self, experiment: &Experiment) -> miette::Result<Vec<(&String, Claim)>> {
        let names = Names::of(experiment);
        let mut conditions = Vec::new();
        for written in &self.fail_if {
            let claim = parse(written, &names).map_err(|mistake| mistake.within("--fail-if", written))?;
            conditions.push((written, claim));
        }
        Ok(conditions)
    }

    const fn probe_choice(&self) -> ProbeChoice {
        if self.no_probe { ProbeChoice::Off } else { ProbeChoice::Light }
    }

    pub(super) const fn instruments(&self) -> Instruments {
        Instruments { probe: self.probe_choice(), jfr: self.jfr, jvm_log: !self.no_jvm_log }
    }

    fn launcher(&self, experiment: &Experiment) -> Launcher {
        Launcher {
            instruments: self.instruments(),
            health_paths: experiment.health_paths(),
            hang_check: Some(hang_diagnosis),
            ..Launcher::of_this_machine()
        }
    }

    /// Marks the variants that run without a probe, for the estimate and the result.
    fn mark_without_probe(&self, experiment: &mut Experiment) {
        let is_without = self.probe_choice() == ProbeChoice::Off && !self.jfr;
        let started =
            experiment.variants.iter_mut().filter(|it| it.skipped.is_none() && it.target().is_none());
        started.filter(|_| is_without).for_each(|it| _ = it.probe.get_or_insert(ProbeChoice::Off));
    }

    /// Writes the page and prints the figures. Returns true if the disk was too full.
    fn report(&self, document: &ResultDocument, folder: &ResultFolder) -> miette::Result<bool> {
        folder.give_room();
        let page = report::write(document, Format::Html, folder.path());
        // The figures are printed before an error about the page.
        let shown = show(document, page.as_deref().ok());
        let disk_full = document.rounds.iter().any(|done| done.why == RoundsEnd::DiskFull)
            || page.as_ref().is_err_and(ReportError::is_disk_full);
        match page {
            Ok(page) if self.open => open(&page),
            Err(error) if disk_full => note!("{error}"),
            page => drop(page.into_diagnostic()?),
        }
        shown.map(|()| disk_full)
    }
}

/// Warns that the result hides secrets.
///
/// # Errors
/// The experiment would not be valid without its secrets.
pub(super) fn print_masked(experiment: &Experiment, command: &[String]) -> miette::Result<()> {
    let mut secrets = Secrets::default();
    let _ = experiment.without_secrets(&mut secrets).into_diagnostic()?;
    let _ = masked(&command.to_vec(), &mut secrets).into_diagnostic()?;
    if let Some(names) = secrets.in_words() {
        note!("masked as *** in the result: {names}; ${{NAME}} stands for a variable of the environment");
    }
    Ok(())
}

fn show(document: &ResultDocument, page: Option<&Path>) -> miette::Result<()> {
    let page = page.map(|page| page.display().to_string());
    let text = terminal(document, page.as_deref(), super::stdout::style());
    super::stdout::print(&format!("\n{text}\n"))
}

/// Opens the page in the desktop's browser. If that is impossible, the path has been printed anyway.
fn open(page: &Path) {
    let opener = Command::new("xdg-open").arg(page).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    if let Err(error) = opener {
        note!("--open: xdg-open cannot be started ({error}); open {} yourself", page.display());
    }
}
