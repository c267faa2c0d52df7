//! Where the results of a load go: which flags there are, and the files behind them.

use clap::Args;
use miette::miette;
use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use threadcount_load::export;
use threadcount_load::outcome::LoadOutcome;

/// What comes out.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "What comes out")]
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
    /// Write response, service and failed times as an interval log of HdrHistogram, in nanoseconds
    #[arg(long, value_name = "FILE")]
    hlog: Option<PathBuf>,
    /// Write one line per second: requests, answers, failures, p50, p99, max
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// No progress on stderr
    #[arg(long)]
    pub quiet: bool,
}

/// The files, open before the load starts, so that a bad path does not cost a measurement.
#[derive(Debug)]
pub struct Files(Vec<(Kind, OutputFile)>);

#[derive(Clone, Copy, Debug)]
enum Kind {
    Json,
    Percentiles,
    Log,
    Seconds,
}

#[derive(Debug)]
struct OutputFile {
    flag: &'static str,
    path: PathBuf,
    file: File,
}

impl Output {
    /// Opens every file that was asked for. What is in it stays until there is something to put in its place.
    ///
    /// # Errors
    /// Names the flag and the path.
    pub fn open(&self) -> miette::Result<Files> {
        let wanted = [
            (Kind::Json, "--out", &self.out),
            (Kind::Percentiles, "--hgrm", &self.hgrm),
            (Kind::Log, "--hlog", &self.hlog),
            (Kind::Seconds, "--csv", &self.csv),
        ];
        let given = wanted.into_iter().filter_map(|(kind, flag, path)| Some((kind, flag, path.as_deref()?)));
        given
            .map(|(kind, flag, path)| Ok((kind, OutputFile::open(flag, path)?)))
            .collect::<Result<_, _>>()
            .map(Files)
    }
}

impl Files {
    /// Fills them.
    ///
    /// # Errors
    /// Names the flag and the path, of the first that failed; the others are written all the same.
    pub fn write(self, outcome: &LoadOutcome, json: &str) -> miette::Result<()> {
        let write = |(kind, file): (Kind, OutputFile)| {
            file.write(|out| match kind {
                Kind::Json => out.write_all(json.as_bytes()),
                Kind::Percentiles => export::write_percentiles(&outcome.response_time, out),
                Kind::Log => export::write_log(outcome, out),
                Kind::Seconds => export::write_seconds(&outcome.seconds, out),
            })
        };
        let results: Vec<miette::Result<()>> = self.0.into_iter().map(write).collect();
        results.into_iter().collect()
    }
}

impl OutputFile {
    fn open(flag: &'static str, path: &Path) -> miette::Result<Self> {
        let file =
            OpenOptions::new().write(true).create(true).truncate(false).open(path).map_err(|error| {
                let help = match error.kind() {
                    io::ErrorKind::NotFound => "make its folder first, or name another",
                    io::ErrorKind::PermissionDenied => "name a file that you may write",
                    _ => "name a file in a folder that you may write to",
                };
                miette!(help = help, "{flag} {}: cannot be written: {error}", path.display())
            })?;
        Ok(Self { flag, path: path.to_owned(), file })
    }

    fn write(self, content: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> miette::Result<()> {
        let Self { flag, path, file } = self;
        let filled = || {
            // Pipes and devices (/dev/stderr) have no length to cut.
            if file.metadata()?.is_file() {
                file.set_len(0)?;
            }
            let mut out = BufWriter::new(file);
            content(&mut out)?;
            out.flush()
        };
        filled()
            .map_err(|error| miette!("{flag} {}: {error}; the figures above are complete", path.display()))
    }
}
