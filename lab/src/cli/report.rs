//! `threadcount report`: the same result, seen another way.

use crate::report::{self, Format};
use crate::result_folder::ResultFolder;
use clap::Args;
use miette::IntoDiagnostic;
use std::path::PathBuf;
use std::process::ExitCode;

/// Make a report of a result that was measured before
#[derive(Args, Debug)]
pub struct ReportCommand {
    /// The folder that `run` or `compare` has written
    #[arg(value_name = "DIR")]
    result: PathBuf,
    /// What kind of report
    #[arg(long, value_enum, default_value_t = Format::Html)]
    format: Format,
    /// Where it goes [default: HTML into DIR, everything else to stdout]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

impl ReportCommand {
    /// Makes it.
    ///
    /// # Errors
    /// A result that cannot be read, a report that cannot be written.
    pub fn run(&self) -> miette::Result<ExitCode> {
        let document = ResultFolder::read(&self.result).into_diagnostic()?;
        let beside = (self.format == Format::Html && self.result.is_dir()).then_some(&self.result);
        match self.out.as_ref().or(beside) {
            Some(folder) => {
                let path = report::write(&document, self.format, folder).into_diagnostic()?;
                anstream::println!("{}", path.display());
            }
            None => {
                let text = report::render(&document, self.format).into_diagnostic()?;
                super::stdout::print(&text).into_diagnostic()?;
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}
