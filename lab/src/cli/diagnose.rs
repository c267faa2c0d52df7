//! `threadcount diagnose`: finds out why a JVM hangs or crawls.

use super::interrupt;
use super::process_id::process_id;
use super::unwritten::Unwritten;
use super::{FAILED, NOT_JUDGED, stdout};
use clap::Args;
use miette::{IntoDiagnostic, WrapErr};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use threadcount_diagnose::verdict::Verdict;
use threadcount_diagnose::{Gathered, MissingSource, Options, Record, gather, judge};
use threadcount_load::whole_file::replace_private;
use threadcount_model::printable::printable_text;
use threadcount_report::diagnosis;

/// Diagnose a JVM that hangs or crawls: deadlocks, lost locks and permits, held carriers, GC
///
/// Takes three thread dumps, virtual threads included, within about three seconds, and at most twenty seconds in all. To find the owners of
/// locks it loads the probe for a moment; the JVM warns of that on its standard error (JEP 451). Needs Java 21 or newer, and the JVM's user
/// or root. Exit code 0: nothing hangs. 1: something hangs. 2: bad usage or input. 3: evidence is missing, or requests stand and the cause is
/// unknown.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct DiagnoseCommand {
    /// Process id of the JVM; `jps -l` lists them
    #[arg(value_name = "PID", value_parser = process_id, allow_negative_numbers = true)]
    pid: u32,
    /// Write verdict, evidence, all thread dumps and a profile to this file, for an issue tracker
    #[arg(long, value_name = "FILE.json")]
    out: Option<PathBuf>,
    /// Load nothing into the JVM; then the owners of permits and of virtual threads' locks stay unknown
    #[arg(long)]
    no_agent: bool,
}

const EXAMPLES: &str = "Examples:
  Why does it not respond?
    threadcount diagnose 4711
  With the thread dumps, for an issue:
    threadcount diagnose 4711 --out hang.json";

impl DiagnoseCommand {
    /// Diagnoses a JVM.
    ///
    /// # Errors
    /// A process that cannot be looked into, a file that cannot be written.
    pub fn run(&self) -> miette::Result<ExitCode> {
        let stop = interrupt::stop_flag().into_diagnostic().wrap_err("Ctrl-C cannot be caught")?;
        let gathered = gather(self.pid, Options { agent: !self.no_agent }, &stop).into_diagnostic()?;
        let verdicts = judge(&gathered.evidence);
        // The file comes first, because stdout may be closed.
        let written = self.out.as_deref().map_or(Ok(()), |file| write(file, self.pid, &verdicts, &gathered));
        stdout::show(&diagnosis::text(&verdicts, &gathered.evidence.missing_sources), false)?;
        written?;
        let is_open = verdicts.iter().any(Verdict::is_open);
        let trouble = verdicts.iter().any(Verdict::is_trouble);
        Ok(match (trouble, is_open) {
            (true, _) => ExitCode::from(FAILED),
            (false, true) => ExitCode::from(NOT_JUDGED),
            (false, false) => ExitCode::SUCCESS,
        })
    }
}

/// The JSON document that `--out` writes.
#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    pid: u32,
    seconds: f64,
    verdicts: &'a [Verdict],
    text: String,
    /// Sources of evidence that gave nothing.
    missing_sources: &'a [MissingSource],
    #[serde(flatten)]
    record: Record,
}

fn write(file: &Path, pid: u32, verdicts: &[Verdict], gathered: &Gathered) -> miette::Result<()> {
    let document = Document {
        schema: "threadcount/diagnosis/1",
        pid,
        seconds: gathered.evidence.seconds,
        verdicts,
        text: diagnosis::text(verdicts, &gathered.evidence.missing_sources),
        missing_sources: &gathered.evidence.missing_sources,
        record: gathered.record(),
    };
    let text = serde_json::to_string_pretty(&document).into_diagnostic()?;
    let written = replace_private(file, printable_text(&(text + "\n")).as_bytes());
    written
        .map_err(|error| Unwritten::new(format!("--out: {} cannot be written", file.display()), error).into())
}
