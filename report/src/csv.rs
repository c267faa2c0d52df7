//! The figures as files: `runs.csv`, one row per run, and `series.csv`, one row per reading over time.
//!
//! Column names carry the units; an empty cell was not measured.

use crate::ReportError;
use crate::series;
use crate::series::{COLUMNS, Reading};
use std::borrow::Cow;
use threadcount_judge::result::ResultDocument;
use threadcount_load::outcome::Counts;
use threadcount_model::metric::Metric;
use threadcount_model::record::Record;

const RUN_COLUMNS: [&str; 6] = ["position", "load", "variant", "round", "started_at", "failure"];
const COUNT_COLUMNS: [&str; 7] =
    ["in_flight_at_start", "waiting_at_start", "sent", "ok", "failed", "unfinished", "not_sent"];
const GENERATOR_COLUMNS: [&str; 2] = ["generator_cpu_share", "generator_send_lag_p99_ms"];

/// `runs.csv`: every run with every metric.
///
/// # Errors
/// When a row cannot be written, which is a bug.
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
    let counts = requests.map(|requests| {
        let Counts { in_flight_at_start, waiting_at_start, sent, ok, failed, unfinished, not_sent, .. } =
            requests;
        [in_flight_at_start, waiting_at_start, sent, ok, failed, unfinished, not_sent]
            .map(|count| count.to_string())
    });
    row.extend(counts.unwrap_or_default());
    let generator = load.map(|load| &load.generator);
    row.push(cell(generator.map(|generator| generator.cpu_share)));
    row.push(cell(generator.and_then(|generator| generator.send_lag_ms).map(|lag| lag.p99)));
    row
}

/// `series.csv`: every reading of every run over time, see [`mod@series`].
///
/// # Errors
/// When a row cannot be written, which is a bug.
pub fn series(document: &ResultDocument) -> Result<String, ReportError> {
    let head = ["load", "variant", "round", "source", "what", "t_s"].into_iter();
    let head: Vec<String> = head.chain(COLUMNS.iter().map(|column| column.name)).map(str::to_owned).collect();
    let rows = document.records.iter().flat_map(|record| {
        series::readings(record).into_iter().map(move |reading| series_row(record, &reading))
    });
    table(&head, rows)
}

fn series_row(record: &Record, reading: &Reading) -> Vec<String> {
    let mut row = vec![
        record.load.clone(),
        record.variant.clone(),
        record.round.to_string(),
        reading.source.to_owned(),
        reading.what.clone(),
        reading.t_s.to_string(),
    ];
    row.extend(COLUMNS.iter().map(|column| cell(reading.cell(column.name))));
    row
}

fn cell(value: Option<f64>) -> String {
    value.filter(|value| value.is_finite()).map_or_else(String::new, |value| value.to_string())
}

fn table(head: &[String], rows: impl Iterator<Item = Vec<String>>) -> Result<String, ReportError> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(head).map_err(ReportError::Table)?;
    for row in rows {
        let cells: Vec<Cow<'_, str>> = row.iter().map(|cell| no_formula(cell)).collect();
        writer.write_record(cells.iter().map(|cell| cell.as_bytes())).map_err(ReportError::Table)?;
    }
    let bytes = writer.into_inner().map_err(|error| ReportError::Table(error.into_error().into()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Marks text that a spreadsheet would take for a formula with an apostrophe (OWASP, CSV injection). Numbers stay numbers.
fn no_formula(cell: &str) -> Cow<'_, str> {
    let begins_formula = cell.trim_start().starts_with(['=', '+', '-', '@', '＝', '＋', '－', '＠']);
    if begins_formula && !cell.parse::<f64>().is_ok_and(f64::is_finite) {
        Cow::Owned(format!("'{cell}"))
    } else {
        Cow::Borrowed(cell)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::document;
    use threadcount_model::sample::{run, with_load};

    #[test]
    fn the_counts_of_a_run_with_a_lead_in_add_up() {
        let record = with_load(run("a", "c4", 1_000.0, 5.0), |load| {
            let requests = &mut load.requests;
            (requests.in_flight_at_start, requests.waiting_at_start, requests.sent) = (3, 2, 100);
            (requests.ok, requests.failed, requests.unfinished, requests.not_sent) = (90, 9, 4, 1);
        });
        let table = runs(&document("{a: {}}", "[{clients: 4, duration: 1s}]", &[record])).unwrap();
        let mut reader = csv::Reader::from_reader(table.as_bytes());
        let head = reader.headers().unwrap().clone();
        let row = reader.records().next().unwrap().unwrap();
        let count = |name| {
            let column = head.iter().position(|column| column == name);
            row[column.unwrap_or_else(|| panic!("{name}"))].parse::<u64>().unwrap()
        };
        assert_eq!(
            count("in_flight_at_start") + count("sent"),
            count("ok") + count("failed") + count("unfinished")
        );
        assert_eq!((count("waiting_at_start"), count("not_sent")), (2, 1));
    }

    #[test]
    fn a_name_that_begins_like_a_formula_stays_text_and_a_number_a_number() {
        for (cell, written) in [
            ("=HYPERLINK(\"http://x\")", "'=HYPERLINK(\"http://x\")"),
            ("+1+cmd", "'+1+cmd"),
            ("-2+3", "'-2+3"),
            ("@SUM(1)", "'@SUM(1)"),
            ("\t=1", "'\t=1"),
            ("\r=1", "'\r=1"),
            ("＝1+1", "'＝1+1"),
            ("-inf", "'-inf"),
            ("-2.5", "-2.5"),
            ("+3e-4", "+3e-4"),
            ("virtual=1", "virtual=1"),
            ("a-b", "a-b"),
            ("", ""),
        ] {
            assert_eq!(no_formula(cell), written);
        }
        let record = run("=1+1", "c4", 1_000.0, 5.0);
        let table = runs(&document("{a: {}}", "[{clients: 4, duration: 1s}]", &[record])).unwrap();
        assert!(table.lines().nth(1).unwrap().contains(",'=1+1,"), "{table}");
    }
}
