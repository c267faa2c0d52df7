//! `threadcount compare-results`: compares two results, for instance of two JDKs or two commits.

use super::{FAILED, NOT_JUDGED};
use crate::history::{Change, GateOutcome, GateRemark, change, gate, text};
use clap::Args;
use miette::{IntoDiagnostic, miette};
use std::path::PathBuf;
use std::process::ExitCode;
use threadcount_judge::result_folder::ResultFolder;
use threadcount_model::parse;

/// Compare two results: what changed
///
/// Prints B divided by A, with intervals, for the variants and loads that both results contain. Results from different machines or loads are
/// compared only with --anyway.
///
/// Each side is one session. The intervals do not contain what changes from session to session, such as the hour or a restart of the machine.
///
/// Exit code 0: done. 1: a figure is worse by more than --worse-by. 2: bad usage or input, or not comparable. 3: a figure of
/// --worse-by is undecided or could not be judged.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct CompareResultsCommand {
    /// The folder of the result before; in a folder of results the latest one counts
    #[arg(value_name = "A")]
    a: PathBuf,
    /// The folder of the result after; in a folder of results the latest one counts
    #[arg(value_name = "B")]
    b: PathBuf,
    /// Compare although the machine or the loads differ; the differences are printed first
    #[arg(long)]
    anyway: bool,
    /// Exit with 1 if the throughput (or capacity) is lower, or p99 (or a benchmark's time) higher, by more than this beyond chance, e.g. 5%.
    /// Exit with 3 if that is undecided, because the interval reaches to both sides, or cannot be judged: a failed run, no trust, too few runs
    #[arg(long, value_name = "SHARE", value_parser = parse::share)]
    worse_by: Option<f64>,
    /// Print the comparison as JSON (threadcount/compare-results/1)
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "Examples:
  The changes of another commit:
    threadcount compare-results out/before out/after
  A build that fails when the throughput or the 99th percentile got worse:
    threadcount compare-results out/before out/after --worse-by 5%";

impl CompareResultsCommand {
    /// Compares them.
    ///
    /// # Errors
    /// A result that cannot be read; results that differ in machine or load.
    pub fn run(&self) -> miette::Result<ExitCode> {
        let read = |path: &PathBuf| ResultFolder::read(path).into_diagnostic();
        let (a, b) = (read(&self.a)?, read(&self.b)?);
        let change = change((&self.a, &a), (&self.b, &b));
        let remarks = self.worse_by.map(|share| gate(&a, &b, share)).unwrap_or_default();
        self.check(&change, remarks.is_empty())?;
        let shown = if self.json {
            serde_json::to_string_pretty(&change).into_diagnostic()? + "\n"
        } else {
            text::change(&change)
        };
        super::stdout::show(&shown, self.json)?;
        Ok(self.judge(&remarks))
    }

    fn check(&self, change: &Change, nothing_to_say: bool) -> miette::Result<()> {
        let unfair: Vec<String> =
            change.differs.unfair().map(|difference| format!("  {difference}")).collect();
        if !unfair.is_empty() && !self.anyway {
            return Err(miette!(
                help = "--anyway compares them all the same and prints the differences first",
                "the two results differ in their machine or their loads, so their figures do not compare:\n{}",
                unfair.join("\n")
            ));
        }
        if change.changed.is_empty() && nothing_to_say {
            return Err(miette!(
                help = "name two results of the same experiment",
                "the two results have no variant with complete runs under the same load in common"
            ));
        }
        Ok(())
    }

    /// The gravest remark decides the exit code.
    fn judge(&self, remarks: &[GateRemark]) -> ExitCode {
        remarks.iter().for_each(|remark| note!("{}", remark.sentence));
        match remarks.iter().map(|remark| remark.outcome).max() {
            Some(GateOutcome::Worse) => {
                let share = self.worse_by.unwrap_or_default() * 100.0;
                note!("worse by more than {share} %");
                ExitCode::from(FAILED)
            }
            Some(GateOutcome::CannotBeJudged) => ExitCode::from(NOT_JUDGED),
            Some(GateOutcome::Undecided) => {
                note!("undecided: measure more rounds on both sides (--runs), or allow more with --worse-by");
                ExitCode::from(NOT_JUDGED)
            }
            None => ExitCode::SUCCESS,
        }
    }
}
