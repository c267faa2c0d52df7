//! The report formats: terminal, HTML, Markdown, CSV, JUnit. Each is made from the result document alone.

pub mod attached;
pub mod capacity;
pub mod claims_table;
pub mod crossover;
pub mod csv;
pub mod diagnosis;
pub mod html;
pub mod junit;
pub mod layout;
pub mod live;
pub mod load_words;
pub mod markdown;
pub mod observing;
pub mod pause_ledger;
pub mod request_time;
pub mod run_delays;
#[cfg(any(test, feature = "sample"))]
pub mod sample;
pub mod sentences;
pub mod series;
pub mod settings;
pub mod shares;
pub mod so_far;
pub mod studies;
pub mod terminal;
pub mod view;

pub use threadcount_model::figures;

use std::io;
use std::path::{Path, PathBuf};
use threadcount_judge::result::ResultDocument;
use threadcount_judge::result_folder::{self, ResultFile, is_without_room};
use threadcount_model::printable::printable_text;

/// A report format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// One page with pictures, for a browser.
    Html,
    /// For a pull request or `GITHUB_STEP_SUMMARY`.
    #[value(name = "md", alias = "markdown")]
    Markdown,
    /// Two tables: of runs, and (only with --out) of readings over time.
    Csv,
    /// Claims as test cases, for a build server.
    Junit,
    /// One paragraph.
    Text,
    /// The summary that `run` prints.
    Terminal,
}

impl Format {
    /// The name of the format's file; for CSV, of the table of runs.
    #[must_use]
    pub const fn file_name(self) -> &'static str {
        self.file().name()
    }

    const fn file(self) -> ResultFile {
        match self {
            Self::Html => ResultFile::Page,
            Self::Markdown => ResultFile::Markdown,
            Self::Csv => ResultFile::Runs,
            Self::Junit => ResultFile::Claims,
            Self::Text => ResultFile::Text,
            Self::Terminal => ResultFile::Terminal,
        }
    }
}

/// The reason why a report could not be made. All but the first are bugs.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    #[error("cannot write {path}: {source}. Choose another folder with --out, or make room")]
    Write {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    /// The data block of the page.
    #[error(
        "the page's data cannot be written as JSON: {0}. This is a mistake in Threadcount; please report it"
    )]
    Data(#[source] serde_json::Error),
    #[error("the page's template failed: {0}. This is a mistake in Threadcount; please report it")]
    Template(#[source] minijinja::Error),
    #[error("the table cannot be written as CSV: {0}. This is a mistake in Threadcount; please report it")]
    Table(#[source] ::csv::Error),
    #[error("the claims cannot be written as XML: {0}. This is a mistake in Threadcount; please report it")]
    Xml(#[source] io::Error),
}

impl ReportError {
    /// Whether a full disk is the reason.
    #[must_use]
    pub fn is_disk_full(&self) -> bool {
        let Self::Write { source, .. } = self else { return false };
        is_without_room(source)
    }
}

/// The report as text, for standard output. [`Format::Csv`] is the table of runs. Characters of others that are not printable become
/// escapes here, for every format.
///
/// # Errors
/// When the text cannot be made, which is a bug and not a problem of the document.
pub fn render(document: &ResultDocument, format: Format) -> Result<String, ReportError> {
    let text = match format {
        Format::Html => html::html(document)?,
        Format::Markdown => markdown::markdown(document),
        Format::Csv => csv::runs(document)?,
        Format::Junit => junit::junit(document)?,
        Format::Text => terminal::paragraph(document),
        Format::Terminal => terminal::terminal(document, None, terminal::PLAIN),
    };
    Ok(printable_text(&text).into_owned())
}

/// Writes the report into a folder, which is created if missing, and returns the file's path. For [`Format::Csv`] that is
/// the table of runs; the table of readings is written beside it as `series.csv`.
///
/// # Errors
/// [`ReportError::Write`] when the folder or file cannot be written.
pub fn write(document: &ResultDocument, format: Format, dir: &Path) -> Result<PathBuf, ReportError> {
    let failed = |(path, source)| ReportError::Write { path, source };
    std::fs::create_dir_all(dir).map_err(|why| failed((dir.to_owned(), why)))?;
    let put = |file, text: String| result_folder::write(dir, file, &text).map_err(failed);
    if format == Format::Csv {
        put(ResultFile::SeriesTable, csv::series(document)?)?;
    }
    put(format.file(), render(document, format)?)
}
