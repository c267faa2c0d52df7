//! A result in one screen: a table for each load, the answer in a sentence, what limits each variant, trust, study.

mod answer;
mod limits;
mod remarks;
mod study;
pub mod table;

use crate::model::result::ResultDocument;
use crate::report::{capacity, figures, reasons, summary};
use jiff::Timestamp;
use serde::Serialize;

pub use limits::Limit;
pub use remarks::Remark;
pub use table::LoadTable;

/// The first screen of every report, as text without a form.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[expect(missing_docs, reason = "the names are the definition")]
pub struct Overview {
    pub name: String,
    pub question: String,
    /// Java, server, cores, rounds.
    pub context: Vec<String>,
    /// Why no verdict may be drawn; empty: it may.
    pub no_verdict: Option<String>,
    /// One for each load.
    pub tables: Vec<LoadTable>,
    /// The answer; `None` where no verdict may be drawn.
    pub answer: Option<String>,
    /// What a capacity search found of each variant, and why it is not more.
    pub capacity: Vec<String>,
    pub limits: Vec<Limit>,
    /// The generator's health, the requests and the rounds, a sentence each.
    pub trust: Vec<String>,
    /// What is wrong with runs, each kind once.
    pub remarks: Vec<Remark>,
    /// Published beside measured.
    pub study: Vec<String>,
    /// How the claims fared, and each of the user's own that does not hold.
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
    Overview {
        name: document.experiment.name.clone(),
        question: document.experiment.question.clone(),
        context: context(document),
        no_verdict,
        tables: loads.iter().map(|load| table::table(document, load)).collect(),
        answer: document.trusted.then(|| answer::answer(document)),
        capacity: loads.iter().flat_map(|load| capacity::sentences(document, load)).collect(),
        limits: limits::limits(document),
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
    if document.machine.cores > 0 {
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
