//! Reads the log of a load back.

use super::outcome_of;
use super::transport::Transport;
use std::path::PathBuf;
use threadcount_load::outcome::LoadOutcome;
use threadcount_load::plan::LoadPlan;

/// A path for each transport of a test.
pub fn own_path(test: &str, way: Transport) -> PathBuf {
    let name = format!("threadcount-{}-{test}-{way:?}", std::process::id());
    std::env::temp_dir().join(name)
}

/// Runs a load, and returns the rows of its log.
pub fn rows(test: &str, way: Transport, plan: LoadPlan) -> Vec<Row> {
    logged(test, way, plan).1
}

/// Runs a load, and returns its outcome and the rows of its log.
pub fn logged(test: &str, way: Transport, plan: LoadPlan) -> (LoadOutcome, Vec<Row>) {
    let file = own_path(test, way);
    let outcome = outcome_of(&plan.with(|plan| plan.log = Some(file.clone())));
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::remove_file(&file).unwrap();
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("due_s,sent_s,ended_s,status,outcome,failure,connection,target,bytes"));
    let rows: Vec<Row> = lines.map(Row::parse).collect();
    let log = outcome.log.unwrap();
    assert_eq!((log.written, log.dropped), (rows.len() as u64, 0));
    assert_eq!(rows.len() as u64, outcome.counts.sent + outcome.counts.not_sent, "one row per request");
    for row in &rows {
        let is_in_order = row.sent_s.is_none_or(|sent_s| row.due_s <= sent_s)
            && row.ended_s.is_none_or(|ended_s| row.sent_s.is_some_and(|sent_s| sent_s <= ended_s));
        assert!(is_in_order, "due, sent, ended: {} {:?} {:?}", row.due_s, row.sent_s, row.ended_s);
    }
    (outcome, rows)
}

pub struct Row {
    pub due_s: f64,
    pub sent_s: Option<f64>,
    pub ended_s: Option<f64>,
    pub status: String,
    pub outcome: String,
    pub failure: String,
    pub connection: Option<u32>,
    pub bytes: u64,
}

impl Row {
    fn parse(line: &str) -> Self {
        let columns: Vec<&str> = line.split(',').collect();
        let [due, sent, ended, status, outcome, failure, connection, target, bytes] = columns[..] else {
            panic!("nine columns: {line}")
        };
        assert_eq!(target, "0");
        Self {
            due_s: due.parse().unwrap(),
            sent_s: sent.parse().ok(),
            ended_s: ended.parse().ok(),
            status: status.to_owned(),
            outcome: outcome.to_owned(),
            failure: failure.to_owned(),
            connection: connection.parse().ok(),
            bytes: bytes.parse().unwrap(),
        }
    }
}
