//! `threadcount report`: shows stored results in another format, or several in one table.

use clap::Args;
use miette::{IntoDiagnostic, miette};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use threadcount_judge::result::ResultDocument;
use threadcount_judge::result_folder::{ResultFolder, file_name, latest};
use threadcount_report as report;
use threadcount_report::terminal::details::details;
use threadcount_report::terminal::terminal;
use threadcount_report::{Format, claims_table, studies};

/// Print or write a report of a stored result
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct ReportCommand {
    /// Result folders of `run` or `compare`; in a folder of results, e.g. out/tomcat-blocking, the latest one counts
    #[arg(value_name = "DIR", required = true)]
    results: Vec<PathBuf>,
    /// Format of the report
    #[arg(long, value_enum, default_value_t = Format::Html)]
    format: Format,
    /// Output folder [default: DIR for HTML, stdout for everything else]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Print everything in words: each ratio, finding, remark and claim
    #[arg(long, conflicts_with_all = ["format", "out", "summary"])]
    details: bool,
    /// Print all results in one table: study, claim, published, measured, verdict (as text, or with --format md).
    /// With --out, write a page and a picture for each study instead
    #[arg(long)]
    summary: bool,
}

const EXAMPLES: &str = "Examples:
  The summary, and the HTML report again, into the result folder:
    threadcount report out/tomcat-blocking
  Everything that is known of it, in words:
    threadcount report out/tomcat-blocking --details
  Both tables, runs.csv and series.csv, into a folder:
    threadcount report out/tomcat-blocking --format csv --out tables
  A page for each study, with its claims drawn:
    threadcount report out/*/latest --summary --out studies
  For a pull request:
    threadcount report out/tomcat-blocking --format md >> \"$GITHUB_STEP_SUMMARY\"";

impl ReportCommand {
    /// Makes the report.
    ///
    /// # Errors
    /// A result that cannot be read, or a report that cannot be written.
    pub fn run(&self) -> miette::Result<ExitCode> {
        let results: Vec<PathBuf> = self.results.iter().map(|path| latest(path)).collect();
        let read = |path: &PathBuf| ResultFolder::read(path).into_diagnostic();
        let documents: Vec<ResultDocument> = results.iter().map(read).collect::<miette::Result<_>>()?;
        match (self.summary, &self.out) {
            (false, _) => {}
            (true, None) => return self.print_claims_table(&documents).map(|()| ExitCode::SUCCESS),
            (true, Some(folder)) => {
                let index = studies::write(&documents, folder).into_diagnostic()?;
                return super::stdout::show(&format!("{}\n", index.display()), false)
                    .map(|()| ExitCode::SUCCESS);
            }
        }
        if self.details {
            let style = super::stdout::style();
            let texts = documents.iter().map(|document| details(document, style));
            return super::stdout::show(&texts.collect::<Vec<_>>().join("\n"), false)
                .map(|()| ExitCode::SUCCESS);
        }
        let mut names = HashMap::<String, u32>::new();
        for (document, result) in documents.iter().zip(&results) {
            let name = file_name(&document.experiment.name);
            let number = names.entry(name.clone()).and_modify(|number| *number += 1).or_insert(1);
            let name = if *number == 1 { name } else { format!("{name}-{number}") };
            self.write_or_print(document, result, &name)?;
        }
        Ok(ExitCode::SUCCESS)
    }

    fn print_claims_table(&self, documents: &[ResultDocument]) -> miette::Result<()> {
        let documents: Vec<&ResultDocument> = documents.iter().collect();
        let text = match self.format {
            Format::Markdown => claims_table::markdown(&documents),
            Format::Text | Format::Html => claims_table::text(&documents),
            other => {
                let name = other.file_name();
                return Err(miette!(help = "write --format text or --format md", "--summary has no {name}"));
            }
        };
        super::stdout::print(&text)
    }

    fn write_or_print(&self, document: &ResultDocument, result: &Path, name: &str) -> miette::Result<()> {
        let beside = (self.format == Format::Html && result.is_dir()).then(|| result.to_owned());
        match self.out.as_ref().map(|out| self.own(out, name)).or(beside) {
            Some(folder) => {
                let path = report::write(document, self.format, &folder).into_diagnostic()?;
                let path = path.display().to_string();
                let text = match self.format {
                    Format::Html => terminal(document, Some(&path), super::stdout::style()),
                    _ => path + "\n",
                };
                super::stdout::show(&text, false)
            }
            None => {
                let text = report::render(document, self.format).into_diagnostic()?;
                let is_for_people = matches!(self.format, Format::Text | Format::Terminal);
                super::stdout::show(&text, !is_for_people)?;
                if self.format == Format::Csv {
                    note!("this is the table of runs; --out DIR writes the readings over time too");
                }
                Ok(())
            }
        }
    }

    /// The folder for one result. Each of several results gets a folder below the one that was named. Its name comes from the result, which
    /// somebody else may have written.
    fn own(&self, folder: &Path, name: &str) -> PathBuf {
        if self.results.len() > 1 { folder.join(name) } else { folder.to_owned() }
    }
}
