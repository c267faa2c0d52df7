//! Where the results of a load go: which flags there are, and the files behind them.

use super::heading;
use super::unwritten::Unwritten;
use clap::Args;
use miette::miette;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use threadcount_load::export;
use threadcount_load::outcome::LoadOutcome;
use threadcount_load::whole_file::WholeFile;
use threadcount_model::parse;

/// Where the results go.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = heading::OUTPUT)]
pub struct Output {
    /// Print the result as JSON (threadcount/load/1) instead of the summary
    #[arg(long)]
    pub json: bool,
    /// Write the JSON to a file too
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Write the response times as a percentile distribution of HdrHistogram, in milliseconds
    #[arg(long, value_name = "FILE")]
    hgrm: Option<PathBuf>,
    /// Write one line per second: sent, completed, failed, p50, p99, max
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// Exit code 1 only if more than this share of the requests failed, e.g. 1%
    #[arg(long, value_name = "SHARE", default_value = "0%", value_parser = parse::share)]
    pub fail_above: f64,
    /// No progress on stderr
    #[arg(long)]
    pub quiet: bool,
}

/// The files, open before the load starts, so that a bad path does not cost a measurement.
pub struct Files(Vec<(Kind, OutputFile)>);

/// The content of a file, which is written when the load is over.
#[derive(Clone, Copy)]
enum Kind {
    Json,
    Percentiles,
    Seconds,
}

/// A file, and the flag that named it.
struct OutputFile {
    flag: &'static str,
    path: PathBuf,
    file: WholeFile,
}

impl Output {
    /// Begins every output file. An old one stays until there is a result.
    ///
    /// # Errors
    /// Names the flag and the path.
    pub fn open(&self) -> miette::Result<Files> {
        let wanted = [
            (Kind::Json, "--out", &self.out),
            (Kind::Percentiles, "--hgrm", &self.hgrm),
            (Kind::Seconds, "--csv", &self.csv),
        ];
        let named: Vec<(Kind, &'static str, &Path)> = wanted
            .into_iter()
            .filter_map(|(kind, flag, path)| Some((kind, flag, path.as_deref()?)))
            .collect();
        refuse_shared(&named.iter().map(|&(_, flag, path)| (flag, path)).collect::<Vec<_>>())?;
        let opened = named.into_iter().map(|(kind, flag, path)| Ok((kind, OutputFile::open(flag, path)?)));
        opened.collect::<miette::Result<_>>().map(Files)
    }
}

/// Refuses two flags that name the same file: the one that is written last would replace the other.
fn refuse_shared(named: &[(&'static str, &Path)]) -> miette::Result<()> {
    let place = |path: &Path| {
        let folder = path.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new("."));
        Some((folder.canonicalize().ok()?, path.file_name()?.to_owned()))
    };
    // Devices and pipes take the lines of both.
    let is_replaced = |path: &Path| path.metadata().map_or(true, |found| found.is_file());
    for (number, (flag, path)) in named.iter().enumerate().filter(|(_, (_, path))| is_replaced(path)) {
        let is_same = |(_, other): &&(&str, &Path)| place(path).is_some_and(|it| Some(it) == place(other));
        if let Some((other, _)) = named[..number].iter().find(is_same) {
            return Err(miette!(
                help = "write a file of its own for each flag",
                "{other} and {flag} name the same file: {}",
                path.display()
            ));
        }
    }
    Ok(())
}

impl Files {
    /// Fills the files.
    ///
    /// # Errors
    /// Names the flag and the path of the first file that failed; the others are written all the same.
    pub fn write(self, outcome: &LoadOutcome, json: &str) -> miette::Result<()> {
        let write = |(kind, file): (Kind, OutputFile)| {
            file.write(|out| match kind {
                Kind::Json => out.write_all(json.as_bytes()),
                Kind::Percentiles => export::write_percentiles(&outcome.response_time, out),
                Kind::Seconds => export::write_seconds(&outcome.seconds, out),
            })
        };
        let results: Vec<miette::Result<()>> = self.0.into_iter().map(write).collect();
        results.into_iter().collect()
    }
}

impl OutputFile {
    fn open(flag: &'static str, path: &Path) -> miette::Result<Self> {
        let file = WholeFile::create(path).map_err(|error| {
            let help = match error.kind() {
                io::ErrorKind::NotFound => "make its folder first, or name another",
                io::ErrorKind::PermissionDenied => "name a file that you may write",
                _ => "name a file in a folder that you may write to",
            };
            Unwritten::with_help(format!("{flag} {}: cannot be written", path.display()), help, error)
        })?;
        Ok(Self { flag, path: path.to_owned(), file })
    }

    fn write(self, content: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> miette::Result<()> {
        let Self { flag, path, file } = self;
        let filled = || {
            let mut out = BufWriter::new(file);
            content(&mut out)?;
            out.into_inner()?.finish()
        };
        filled().map_err(|error| {
            let message =
                format!("{flag} {}: could not be written; the figures shown are complete", path.display());
            Unwritten::new(message, error).into()
        })
    }
}
