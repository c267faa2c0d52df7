//! The flags that say where the results of a load go, and the files behind them.

use super::heading;
use super::unwritten::Unwritten;
use clap::Args;
use miette::miette;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use threadcount_load::export::{self, HistogramLog};
use threadcount_load::outcome::{LoadOutcome, Second};
use threadcount_load::whole_file::WholeFile;
use threadcount_model::parse;

/// The places for the results of a load.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = heading::OUTPUT)]
pub struct Output {
    /// Print the result as JSON (threadcount/load/1) instead of the summary
    #[arg(long)]
    pub json: bool,
    /// Also write the JSON to a file
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Write the response times as a percentile distribution of HdrHistogram, in milliseconds
    #[arg(long, value_name = "FILE")]
    hgrm: Option<PathBuf>,
    /// Write an interval log of HdrHistogram: the response times of each second, and all times of the whole run
    #[arg(long, value_name = "FILE")]
    hlog: Option<PathBuf>,
    /// Write one line per second: sent, completed, failed, p50, p99, max
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// Exit with 1 only if more than this share of the requests failed, e.g. 1%
    #[arg(long, value_name = "SHARE", default_value = "0%", value_parser = parse::share)]
    pub fail_above: f64,
    /// Print no progress on stderr
    #[arg(long)]
    pub quiet: bool,
}

/// The output files. They are opened before the load starts, so that a bad path does not cost a measurement.
pub struct Files {
    at_the_end: Vec<(Kind, OutputFile)>,
    log: Option<LogFile>,
}

/// The kinds of file that are written when the load is over.
#[derive(Clone, Copy)]
enum Kind {
    Json,
    Percentiles,
    Seconds,
}

/// The file that grows while the load runs. Its errors are reported at the end.
struct LogFile {
    name: Name,
    log: io::Result<HistogramLog<BufWriter<WholeFile>>>,
}

struct OutputFile {
    name: Name,
    file: WholeFile,
}

/// The name of a file in messages.
struct Name {
    flag: &'static str,
    path: PathBuf,
}

impl Output {
    /// Opens every output file. An old file stays until there is a result.
    ///
    /// # Errors
    /// The flag and the path that cannot be written.
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
        let log = self.hlog.as_deref().map(|path| ("--hlog", path));
        refuse_shared(&named.iter().map(|&(_, flag, path)| (flag, path)).chain(log).collect::<Vec<_>>())?;
        let at_the_end =
            named.into_iter().map(|(kind, flag, path)| Ok((kind, OutputFile::open(flag, path)?)));
        let log = self.hlog.as_deref().map(|path| OutputFile::open("--hlog", path));
        Ok(Files {
            at_the_end: at_the_end.collect::<miette::Result<_>>()?,
            log: log.transpose()?.map(LogFile::begin),
        })
    }
}

/// Refuses two flags that name the same file, because the second one would replace the first.
fn refuse_shared(named: &[(&'static str, &Path)]) -> miette::Result<()> {
    let place = |path: &Path| {
        let folder = path.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new("."));
        Some((folder.canonicalize().ok()?, path.file_name()?.to_owned()))
    };
    // Devices and pipes can take the output of several flags.
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
    /// Adds a second of the load to the log and the CSV file.
    pub fn second(&mut self, second: &Second) {
        if let Some(file) = &mut self.log
            && let Ok(log) = &mut file.log
            && let Err(error) = log.second(second)
        {
            file.log = Err(error);
        }
    }

    /// Writes the results into the files.
    ///
    /// # Errors
    /// The flag and the path of the first file that failed. The other files are written nevertheless.
    pub fn write(self, outcome: &LoadOutcome, json: &str) -> miette::Result<()> {
        let write = |(kind, file): (Kind, OutputFile)| {
            file.write(|out| match kind {
                Kind::Json => out.write_all(json.as_bytes()),
                Kind::Percentiles => export::write_percentiles(&outcome.response_time, out),
                Kind::Seconds => export::write_seconds(&outcome.seconds, out),
            })
        };
        let mut results: Vec<miette::Result<()>> = self.at_the_end.into_iter().map(write).collect();
        results.extend(self.log.map(|file| file.finish(outcome)));
        results.into_iter().collect()
    }
}

impl LogFile {
    fn begin(OutputFile { name, file }: OutputFile) -> Self {
        Self { name, log: HistogramLog::begin(BufWriter::new(file), SystemTime::now()) }
    }

    fn finish(self, outcome: &LoadOutcome) -> miette::Result<()> {
        let Self { name, log } = self;
        let finished = log.and_then(|log| log.finish(outcome)?.into_inner()?.finish());
        finished.map_err(|error| name.not_written(error))
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
        Ok(Self { name: Name { flag, path: path.to_owned() }, file })
    }

    fn write(self, content: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> miette::Result<()> {
        let Self { name, file } = self;
        let filled = || {
            let mut out = BufWriter::new(file);
            content(&mut out)?;
            out.into_inner()?.finish()
        };
        filled().map_err(|error| name.not_written(error))
    }
}

impl Name {
    fn not_written(&self, error: io::Error) -> miette::Report {
        let Self { flag, path } = self;
        let message =
            format!("{flag} {}: could not be written; the figures shown are complete", path.display());
        Unwritten::new(message, error).into()
    }
}
