//! `series.json`: the readings of `series.csv` for programs, with the meaning of each figure.

use crate::ReportError;
use crate::series::{COLUMNS, Column, Reading, readings};
use serde::Serialize;
use serde_json::{Map, Value, json};
use threadcount_judge::result::ResultDocument;

/// The name and version of the document's format.
pub const SCHEMA: &str = "threadcount/series/1";

#[derive(Serialize)]
struct Series<'a> {
    schema: &'static str,
    clock: &'static str,
    columns: &'static [Column],
    runs: Vec<Run<'a>>,
}

#[derive(Serialize)]
struct Run<'a> {
    position: u32,
    load: &'a str,
    variant: &'a str,
    round: u32,
    started_at: &'a str,
    readings: Vec<Value>,
}

/// The document as text.
///
/// # Errors
/// When it cannot be written as JSON, which is a bug.
pub fn json(document: &ResultDocument) -> Result<String, ReportError> {
    let runs = document.records.iter().map(|record| Run {
        position: record.position,
        load: &record.load,
        variant: &record.variant,
        round: record.round,
        started_at: &record.started_at,
        readings: readings(record).iter().map(value).collect(),
    });
    let series = Series {
        schema: SCHEMA,
        clock: "t_s: seconds since the measured window of the run began; all sources share this clock",
        columns: COLUMNS,
        runs: runs.collect(),
    };
    serde_json::to_string(&series).map(|text| text + "\n").map_err(ReportError::Data)
}

fn value(reading: &Reading) -> Value {
    let mut fields = Map::new();
    fields.insert("t_s".to_owned(), json!(reading.t_s));
    fields.insert("source".to_owned(), json!(reading.source));
    if !reading.what.is_empty() {
        fields.insert("what".to_owned(), json!(reading.what));
    }
    fields.extend(reading.cells.iter().map(|(name, figure)| ((*name).to_owned(), json!(figure))));
    Value::Object(fields)
}
