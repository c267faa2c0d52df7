//! `threadcount merge`: merges what several processes measured of one load into one result.

use super::output::{Files, Output};
use super::plan_flags::flag;
use super::{FAILED, load, stdout, summary};
use clap::Args;
use miette::{IntoDiagnostic, WrapErr, miette};
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use threadcount_load::merge::{Merge, MergeNote, Merged};
use threadcount_load::report::LoadReport;
use threadcount_load::whole_file::Readable;
use threadcount_machine::freed_memory;
use threadcount_machine::read_limit::ReadLimit;

/// Merge the results of processes that shared a load into one, as if a single process had sent it
///
/// Exit code 0: all shares are there and all responses as expected. 1: failures, interrupted, or shares missing. 2: bad usage or
/// input.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct MergeCommand {
    /// The outputs of `threadcount load --share`, one or several per file, in any order; - reads standard input
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    #[command(flatten)]
    output: Output,
}

const EXAMPLES: &str = "Examples:
  threadcount merge share-*.txt
  threadcount merge - --json < all.txt
  Each share is sent by:
    threadcount load http://10.0.0.7:8080/ -r 20000/s -d 1m --share 0/4 \\
      --start-at 2026-11-22T21:00:00Z > share-0.txt";

impl MergeCommand {
    /// Merges the files and shows the result.
    ///
    /// # Errors
    /// Files that cannot be read, or that are not about one load.
    pub fn run(&self) -> miette::Result<ExitCode> {
        let files = self.output.open()?;
        let mut merge = gathering();
        for file in &self.files {
            read(file, &mut merge).wrap_err_with(|| file.display().to_string())?;
        }
        show(merge, &self.output, files)
    }
}

/// An empty merge. Freed memory is kept, because histograms come and go.
pub(super) fn gathering() -> Merge {
    freed_memory::keep();
    Merge::default()
}

/// Shows the merged result on stdout and writes the files.
///
/// # Errors
/// Nothing to show, a file that cannot be written.
pub(super) fn show(merge: Merge, output: &Output, mut files: Files) -> miette::Result<ExitCode> {
    let merged = merge.finish(&mut |second| files.second(second)).map_err(|error| miette!("{error}"))?;
    let report = report(&merged);
    let json = serde_json::to_string_pretty(&report).into_diagnostic()? + "\n";
    let shown = if output.json { json.clone() } else { summary::summary(&report, &merged.outcome) };
    let written = files.write(&merged.outcome, &json);
    stdout::show(&shown, output.json)?;
    written?;
    Ok(exit_code(&merged, output.fail_above))
}

fn exit_code(merged: &Merged, fail_above: f64) -> ExitCode {
    let is_missing = merged.outcome.pods.iter().any(|pod| !pod.complete)
        || merged.notes.iter().any(|note| matches!(note, MergeNote::Missing { .. }));
    let is_bad = is_missing || load::has_failed(&merged.outcome, fail_above);
    if is_bad { ExitCode::from(FAILED) } else { ExitCode::SUCCESS }
}

/// The report as if one process had sent the load, with the processes listed in it.
fn report(merged: &Merged) -> LoadReport {
    let mut report = LoadReport::naming(flag, &merged.outcome, &merged.plan);
    report.add_notes(&merged.notes, flag);
    report
}

fn read(file: &Path, merge: &mut Merge) -> miette::Result<()> {
    if file == Path::new("-") {
        return read_lines(io::stdin().lock(), merge);
    }
    let opened = Readable::open_patiently(file).into_diagnostic().wrap_err("it cannot be read")?;
    read_lines(BufReader::new(opened), merge)
}

fn read_lines(mut lines: impl BufRead, merge: &mut Merge) -> miette::Result<()> {
    for number in 1_u64.. {
        let line = ReadLimit::SHARE_LINE.read_line(&mut lines);
        let line = line.map_err(|error| miette!("line {number} cannot be read: {error}"))?;
        if line.is_empty() {
            break;
        }
        merge.line(&line).map_err(|error| miette!("line {number}: {error}"))?;
    }
    Ok(())
}
