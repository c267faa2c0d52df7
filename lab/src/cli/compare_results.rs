//! `threadcount compare-results`: two results, for instance of another JDK or another commit.

use super::FAILED;
use crate::history::{Change, change, text, worse_by};
use crate::model::result_folder::ResultFolder;
use crate::parse;
use clap::Args;
use miette::{IntoDiagnostic, miette};
use std::path::PathBuf;
use std::process::ExitCode;

/// Compare two results: what changed
///
/// Figures of variants and loads that both have, B divided by A, with intervals. Results of another machine or of other
/// loads are not compared unless you say --anyway.
///
/// Exit code: 0 done, 1 something got worse by more than --worse-by, 2 bad usage or input, or not comparable.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct CompareResultsCommand {
    /// The folder of the result before
    #[arg(value_name = "A")]
    a: PathBuf,
    /// The folder of the result after
    #[arg(value_name = "B")]
    b: PathBuf,
    /// Compare although the machine or the loads differ; the differences are printed first
    #[arg(long)]
    anyway: bool,
    /// Exit with 1 if the rate (or the capacity) is lower or the 99th percentile higher by more than this, e.g. 5%, the
    /// whole interval included
    #[arg(long, value_name = "SHARE", value_parser = parse::share)]
    worse_by: Option<f64>,
    /// Print it as JSON (threadcount/compare-results/1)
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "Examples:
  What changed with another commit:
    threadcount compare-results out/before out/after
  A build that fails when the rate or the 99th percentile got worse:
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
        self.check(&change)?;
        let shown = if self.json {
            serde_json::to_string_pretty(&change).into_diagnostic()? + "\n"
        } else {
            text::change(&change)
        };
        super::stdout::print(&shown).into_diagnostic()?;
        Ok(self.judge(&change))
    }

    fn check(&self, change: &Change) -> miette::Result<()> {
        let unfair: Vec<String> =
            change.differs.unfair().map(|difference| format!("  {difference}")).collect();
        if !unfair.is_empty() && !self.anyway {
            return Err(miette!(
                help = "--anyway compares them all the same and prints the differences first",
                "the two results differ in their machine or their loads, so their figures do not compare:\n{}",
                unfair.join("\n")
            ));
        }
        if change.changed.is_empty() {
            return Err(miette!(
                help = "name two results of the same experiment",
                "the two results have no variant with complete runs under the same load in common"
            ));
        }
        Ok(())
    }

    fn judge(&self, change: &Change) -> ExitCode {
        let Some(share) = self.worse_by else { return ExitCode::SUCCESS };
        let mut failed = false;
        for worse in worse_by(change, share) {
            failed |= worse.is_certain;
            anstream::eprintln!("{}", worse.sentence);
        }
        if failed {
            anstream::eprintln!("worse by more than {} %", share * 100.0);
            return ExitCode::from(FAILED);
        }
        ExitCode::SUCCESS
    }
}
