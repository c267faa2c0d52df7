//! The figures as files: `runs.csv`, one row for each run, and `series.csv`, one row for each reading over time.
//!
//! Column names carry the units; an empty cell was not measured.

use crate::compare::metric::Metric;
use crate::record::{LoadSample, ProcessSample, Record};
use crate::report::ReportError;
use crate::result::ResultDocument;

const RUN_COLUMNS: [&str; 6] = ["position", "load", "variant", "round", "started_at", "failure"];
const COUNT_COLUMNS: [&str; 5] = ["sent", "ok", "failed", "unfinished", "not_sent"];
const GENERATOR_COLUMNS: [&str; 2] = ["generator_cpu_share", "generator_send_lag_p99_ms"];

/// `runs.csv`: every run with every metric.
///
/// # Errors
/// When a row cannot be written: a mistake of ours.
pub fn runs(document: &ResultDocument) -> Result<String, ReportError> {
    let metrics = Metric::ALL.map(Metric::name);
    let head = RUN_COLUMNS.iter().chain(&metrics).chain(&COUNT_COLUMNS).chain(&GENERATOR_COLUMNS);
    let head: Vec<String> = head.map(|&column| column.to_owned()).collect();
    table(&head, document.records.iter().map(run_row))
}

fn run_row(record: &Record) -> Vec<String> {
    let mut row = vec![
        record.position.to_string(),
        record.load.clone(),
        record.variant.clone(),
        record.round.to_string(),
        record.started_at.clone(),
        record.failure.as_ref().map_or_else(String::new, |failure| failure.why.clone()),
    ];
    row.extend(Metric::ALL.map(|metric| cell(metric.of(record))));
    let load = record.measured.as_ref();
    let requests = load.map(|load| load.requests);
    let counts =
        requests.map(|r| [r.sent, r.ok, r.failed, r.unfinished, r.not_sent].map(|count| count.to_string()));
    row.extend(counts.unwrap_or_default());
    let generator = load.map(|load| &load.generator);
    row.push(cell(generator.map(|generator| generator.cpu_share)));
    row.push(cell(generator.and_then(|generator| generator.send_lag_ms).map(|lag| lag.p99)));
    row
}

const SERIES_COLUMNS: [&str; 15] = [
    "load",
    "variant",
    "round",
    "source",
    "t_s",
    "rate_per_s",
    "failed_per_s",
    "p50_ms",
    "p99_ms",
    "max_ms",
    "cpu_cores",
    "machine_cpu_cores",
    "rss_bytes",
    "pss_bytes",
    "os_threads",
];

/// `series.csv`: every reading over time. `source` is `load` or `process`; the columns of the other are empty.
///
/// # Errors
/// When a row cannot be written: a mistake of ours.
pub fn series(document: &ResultDocument) -> Result<String, ReportError> {
    let head = SERIES_COLUMNS.map(str::to_owned);
    let rows = document.records.iter().flat_map(|record| {
        let load = record.load_series.iter().map(move |sample| load_row(record, sample));
        load.chain(record.process_series.iter().map(move |sample| process_row(record, sample)))
    });
    table(&head, rows)
}

fn series_row(record: &Record, source: &str, t_s: f64, cells: [Option<f64>; 10]) -> Vec<String> {
    let mut row = vec![
        record.load.clone(),
        record.variant.clone(),
        record.round.to_string(),
        source.to_owned(),
        t_s.to_string(),
    ];
    row.extend(cells.map(cell));
    row
}

fn load_row(record: &Record, sample: &LoadSample) -> Vec<String> {
    let (rate, failed) = (Some(sample.rate_per_s), Some(sample.failed_per_s));
    let cells = [rate, failed, sample.p50_ms, sample.p99_ms, sample.max_ms, None, None, None, None, None];
    series_row(record, "load", sample.t_s, cells)
}

fn process_row(record: &Record, sample: &ProcessSample) -> Vec<String> {
    let (cpu, machine) = (Some(sample.cpu_cores), Some(sample.machine_cpu_cores));
    let (rss, pss) = (Some(sample.rss_bytes as f64), sample.pss_bytes.map(|bytes| bytes as f64));
    let threads = Some(f64::from(sample.os_threads));
    series_row(record, "process", sample.t_s, [None, None, None, None, None, cpu, machine, rss, pss, threads])
}

fn cell(value: Option<f64>) -> String {
    value.filter(|value| value.is_finite()).map_or_else(String::new, |value| value.to_string())
}

fn table(head: &[String], rows: impl Iterator<Item = Vec<String>>) -> Result<String, ReportError> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(head).map_err(ReportError::Table)?;
    for row in rows {
        writer.write_record(&row).map_err(ReportError::Table)?;
    }
    let bytes = writer.into_inner().map_err(|error| ReportError::Table(error.into_error().into()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
