//! The terminal summary of a real result: one screen, whatever went wrong.
//!
//! `tests/data/tomcat-blocking` was made by `threadcount run tomcat-blocking --quick` on a machine that was busy with other
//! things, so it has every kind of remark.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

mod common;

use std::path::Path;
use threadcount::findings::explain;
use threadcount::model::result::ResultDocument;
use threadcount::model::result_folder::ResultFolder;
use threadcount::report::terminal::details::details;
use threadcount::report::terminal::{TerminalStyle, terminal};
use threadcount::stats::trust::trust;

const MOST_LINES: usize = 40;
const STYLE: TerminalStyle = TerminalStyle { width: 100, colour: false };
const REPORT: Option<&str> = Some("out/tomcat-blocking/report.html");

fn real() -> ResultDocument {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/tomcat-blocking");
    let document = ResultFolder::read(&folder).unwrap();
    // The sentences of findings and doubts are stored; those of today are meant.
    let (experiment, records) = (&document.experiment, &document.records);
    let (findings, (trusted, why_not)) = (explain(experiment, records), trust(experiment, records));
    ResultDocument { findings, trusted, why_not, ..document }
}

#[test]
fn the_summary_of_a_real_result_has_at_most_40_lines_of_100_columns() {
    for document in [real(), common::demo()] {
        let text = terminal(&document, REPORT, STYLE);
        assert!(text.lines().count() <= MOST_LINES, "{} lines\n{text}", text.lines().count());
        assert!(text.lines().all(|line| line.chars().count() <= STYLE.width), "{text}");
    }
}

#[test]
fn the_table_comes_first_then_the_answer_limits_trust_study_and_report() {
    let text = terminal(&common::demo(), REPORT, STYLE);
    let order = [
        "tomcat-blocking:",
        "400 clients ",
        "1,000 clients ",
        "With 400 clients, virtual has 1.98x the throughput",
        "  platform",
        "trust ",
        "study ",
        "skipped ",
        "report ",
    ];
    let places: Vec<usize> =
        order.iter().map(|part| text.find(&format!("\n{part}")).or(text.find(part)).expect(part)).collect();
    assert!(places.is_sorted(), "{places:?}\n{text}");
}

#[test]
fn a_remark_about_several_runs_is_said_once() {
    let text = terminal(&real(), REPORT, STYLE);
    for remark in ["other processes used", "still warming up", "one valid run: no interval"] {
        assert_eq!(text.matches(remark).count(), 1, "{remark}\n{text}");
    }
    let details = details(&real(), STYLE);
    assert_eq!(details.matches("still warming up").count(), 4, "{details}");
}

#[test]
fn without_trust_the_verdict_is_withheld_above_the_table() {
    let text = terminal(&real(), REPORT, STYLE);
    let head = text.find("No verdict, the figures are not trusted").expect("a warning");
    assert!(head < text.find("400 clients ").unwrap(), "{text}");
    assert!(!text.contains("has 0.41x the throughput"), "{text}");
}

#[test]
fn details_have_each_ratio_and_each_claim_of_the_result() {
    let document = common::demo();
    let (short, long) = (terminal(&document, None, STYLE), details(&document, STYLE));
    for claim in &document.claims {
        assert!(long.contains(&claim.claim), "{long}");
    }
    assert!(
        long.contains("0.50x the median response time") && !short.contains("0.80x the CPU per request  [")
    );
    assert!(long.lines().count() > short.lines().count());
}
