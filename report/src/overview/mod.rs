//! A result in one screen: a table for each load, the answer in a sentence, what limits each variant, trust, study.

pub mod answer;
mod headline;
mod limits;
mod remarks;
mod request_lines;
mod study;
pub mod table;

use crate::{capacity, summary};
use jiff::Timestamp;
use serde::Serialize;
use threadcount_judge::result::ResultDocument;
use threadcount_judge::words::reasons;
use threadcount_model::doubt::TrustGrade;
use threadcount_model::figures;
use threadcount_stats::grade::{grade, limiting};
use threadcount_stats::trust::doubts;

pub use limits::{Limit, limits};
pub use remarks::Remark;
pub use request_lines::RequestLine;
pub use table::LoadTable;

/// The first screen of every report, before formatting.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Overview {
    pub name: String,
    pub question: String,
    /// Java, server, cores, rounds.
    pub context: Vec<String>,
    /// Why there is no verdict; empty: there is one.
    pub no_verdict: Option<String>,
    /// One for each load.
    pub tables: Vec<LoadTable>,
    /// The answer; `None`: no verdict.
    pub answer: Option<String>,
    /// The capacity of each variant, and what limits it.
    pub capacity: Vec<String>,
    pub limits: Vec<Limit>,
    /// Where the time of a request goes, under the first load whose threads were sampled, for each variant.
    pub request_times: Vec<RequestLine>,
    /// How far the figures may be trusted.
    pub grade: TrustGrade,
    /// What they allow to conclude, where they are fair.
    pub allows: Option<&'static str>,
    /// The generator's health, the requests and the rounds, a sentence each.
    pub trust: Vec<String>,
    /// Problems of runs, each kind once.
    pub remarks: Vec<Remark>,
    /// Published beside measured.
    pub study: Vec<String>,
    /// The verdicts of the claims, and each of the user's own that does not hold.
    pub claims: Vec<String>,
    /// Variants that did not run, those with the same reason together.
    pub skipped: Vec<String>,
}

/// Puts a result into one screen.
#[must_use]
pub fn overview(document: &ResultDocument) -> Overview {
    let remarks = remarks::remarks(document);
    let first =
        || document.why_not.first().map(reasons::doubt).unwrap_or_else(|| "runs are missing".to_owned());
    let no_verdict = (!document.trusted)
        .then(|| remarks.first().map_or_else(first, |remark| format!("{}: {}", remark.runs, remark.text)));
    let loads = &document.experiment.loads;
    let doubts = doubts(&document.experiment, &document.records);
    let grade = if document.trusted { grade(&doubts) } else { TrustGrade::Poor };
    let limiting = limiting(&doubts).filter(|_| grade == TrustGrade::Fair);
    Overview {
        grade,
        allows: limiting.map(reasons::allows),
        name: document.experiment.name.clone(),
        question: document.experiment.question.clone(),
        context: context(document),
        no_verdict,
        tables: loads.iter().map(|load| table::table(document, load)).collect(),
        answer: document.trusted.then(|| answer::answer(document)),
        capacity: loads.iter().flat_map(|load| capacity::sentences(document, load)).collect(),
        limits: limits(document),
        request_times: request_lines::request_lines(document),
        trust: remarks::trust(document),
        remarks,
        study: study::published(document),
        claims: study::claims(document),
        skipped: study::skipped(document),
    }
}

/// `Java 25.0.3+9`, `Tomcat 11.0.24`, `2 cores`, `9 runs in 3 min 20 s`.
fn context(document: &ResultDocument) -> Vec<String> {
    let mut context = summary::context(document);
    if document.machine.cores > 0 && document.experiment.starts_any() {
        context.push(figures::plural(document.machine.cores as usize, "core"));
    }
    let runs = figures::plural(document.records.len(), "run");
    context.push(elapsed(document).map_or_else(|| runs.clone(), |time| format!("{runs} in {time}")));
    context
}

/// From the start of the first run to the end of the last.
fn elapsed(document: &ResultDocument) -> Option<String> {
    let began: Timestamp = document.records.first()?.started_at.parse().ok()?;
    let ended: Timestamp = document.created_at.parse().ok()?;
    let seconds = ended.as_second() - began.as_second();
    match (seconds / 60, seconds % 60) {
        (0, 1..) => Some(format!("{seconds} s")),
        (1.., 0) => Some(format!("{} min", seconds / 60)),
        (minutes @ 1.., seconds) => Some(format!("{minutes} min {seconds} s")),
        _ => None,
    }
}
