//! `threadcount history`: shows all results below a folder.

use crate::history::{find, text, timeline};
use clap::Args;
use miette::{IntoDiagnostic, miette};
use std::path::PathBuf;
use std::process::ExitCode;

/// Show all results below a folder, by experiment and date, and what changed from one to the next
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct HistoryCommand {
    /// The folder that contains the results
    #[arg(value_name = "DIR", default_value = "out")]
    folder: PathBuf,
    /// Print the history as JSON (threadcount/history/1)
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "Examples:
  All results below out/:
    threadcount history
  The results that a build server keeps, for a program:
    threadcount history /var/results --json | jq '.experiments[].experiment'";

impl HistoryCommand {
    /// Prints it.
    ///
    /// # Errors
    /// No such folder.
    pub fn run(&self) -> miette::Result<ExitCode> {
        if !self.folder.is_dir() {
            return Err(miette!(
                help = "name the folder that holds the result folders, e.g. the one given to `run --out`",
                "{} is not a folder",
                self.folder.display()
            ));
        }
        let (found, unreadable) = find(&self.folder);
        let timeline = timeline(&self.folder, &found, unreadable);
        let shown = if self.json {
            serde_json::to_string_pretty(&timeline).into_diagnostic()? + "\n"
        } else {
            text::history(&timeline)
        };
        super::stdout::show(&shown, self.json)?;
        Ok(ExitCode::SUCCESS)
    }
}
