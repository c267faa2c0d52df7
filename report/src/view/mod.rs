//! A result before formatting: the one view from which terminal, HTML and Markdown are made.

pub mod answer;
mod headline;
pub mod label;
mod load;
mod open;
pub mod ratios;
mod remarks;
mod setting;
pub mod study;
pub mod table;
pub(crate) mod trust;
mod why;

use crate::crossover as words;
use crate::sentences::distinct;
use crate::settings::{Setting, settings};
use load::{finding_lines, load_view};
use serde::Serialize;
use study::StudyView;
use table::LoadTable;
use threadcount_judge::result::ResultDocument;
use threadcount_judge::words::reasons;
use threadcount_model::doubt::{Doubt, DoubtReason};
use threadcount_model::figures;
use threadcount_model::record::Record;
use threadcount_model::rounds::Skipped;

pub use load::{FindingLine, LoadView};
pub use remarks::Remark;
pub use trust::Trust;
pub use why::{Reason, WhyLine};

/// A result in words and figures.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct View {
    pub name: String,
    pub question: String,
    /// Java, server, cores, runs.
    pub setting: Vec<String>,
    /// The reason for no verdict; `None` if there is one.
    pub no_verdict: Option<NoVerdict>,
    /// The first word of the answer: `Yes`. `None`: it has none.
    pub decision: Option<&'static str>,
    /// The answer in sentences, the most important first; empty without a verdict.
    pub answer: Vec<String>,
    /// Whether the result is a crossover, which has no runs beside it.
    pub is_crossover: bool,
    /// A table per load; loads of one kind have the same columns.
    pub tables: Vec<LoadTable>,
    /// The reasons for the figures.
    pub why: Vec<Reason>,
    /// The reasons in brief for the first screen, with the limits of a capacity and the parts of a request's time.
    pub why_in_brief: Vec<WhyLine>,
    /// Lines to paste into the configuration.
    pub settings: Vec<Setting>,
    /// Advice on what to try or to measure next.
    pub next: Vec<String>,
    /// Open questions.
    pub open: Vec<String>,
    pub trust: Trust,
    pub study: StudyView,
    /// More about each load.
    pub loads: Vec<LoadView>,
    /// Findings that concern no load in particular.
    pub findings: Vec<FindingLine>,
    /// Variants that could not run on this machine, with the reason.
    pub skipped: Vec<Skipped>,
}

/// The reason why the runs have no verdict.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NoVerdict {
    /// `No verdict, the figures are not trusted`; without a full stop.
    pub head: String,
    pub why: String,
    /// Whether the reason itself is the answer, because a variant does not work; it is then shown in full.
    pub is_answer: bool,
}

#[must_use]
pub fn view(document: &ResultDocument) -> View {
    let trust = trust::trust(document);
    let crossover = document.crossover.as_ref();
    let not_trusted = || (!document.trusted && !answers(document)).then(|| no_verdict(document, &trust));
    let no_verdict = does_not_work(document).or_else(not_trusted);
    let loads = &document.experiment.loads;
    let why = why::reasons(document);
    let open_ratios = open::open(document);
    let load_views: Vec<LoadView> = loads.iter().map(|load| load_view(document, load)).collect();
    View {
        name: document.experiment.name.clone(),
        question: document.experiment.question.clone(),
        setting: setting::setting(document),
        no_verdict,
        decision: decision(document),
        answer: answer(document),
        tables: table::tables(document, table::first_columns),
        why_in_brief: match crossover {
            Some(it) => why::as_lines(&words::why(it)),
            None => why::in_brief(&load_views, &why).into_iter().chain(why::expected(document)).collect(),
        },
        settings: settings(document),
        next: why::next(&why, &open_ratios),
        why,
        open: open_ratios
            .into_iter()
            .chain(crossover.into_iter().flat_map(words::all_cautions))
            .chain(trust::unseen(&document.experiment))
            .chain(study::skipped(document))
            .collect(),
        trust,
        is_crossover: crossover.is_some(),
        study: study::study(document),
        loads: load_views,
        findings: finding_lines(document, |finding| finding.load.is_none()),
        skipped: document.skipped.clone(),
    }
}

/// Whether there is an answer: a serious doubt takes it from the comparisons that it is about, and from no other.
fn answers(document: &ResultDocument) -> bool {
    let has_headline = |load| headline::headline(document, load).is_some();
    document.crossover.is_some() || document.experiment.loads.iter().any(has_headline)
}

/// The answer of the crossover, or that of the runs that are not in doubt.
fn answer(document: &ResultDocument) -> Vec<String> {
    match &document.crossover {
        Some(it) => words::answer::answers(it),
        None if document.trusted => answer::answer(document),
        None if answers(document) => {
            answer::answer(document).into_iter().chain(answer::in_doubt(document)).collect()
        }
        None => Vec::new(),
    }
}

fn decision(document: &ResultDocument) -> Option<&'static str> {
    match &document.crossover {
        Some(it) => words::answer::word(it),
        None if answers(document) => answer::word(document),
        None => None,
    }
}

fn no_verdict(document: &ResultDocument, trust: &Trust) -> NoVerdict {
    let first =
        || document.why_not.first().map(reasons::doubt).unwrap_or_else(|| "nothing was measured".to_owned());
    let why = trust.remarks.first().map_or_else(first, |remark| format!("{}: {}", remark.runs, remark.text));
    NoVerdict { head: "No verdict, the figures are not trusted".to_owned(), why, is_answer: false }
}

/// The variants whose failure ended the session, and the root cause of the first.
fn does_not_work(document: &ResultDocument) -> Option<NoVerdict> {
    let records = document.ended_by();
    let first = *records.first()?;
    let cause = |record: &Record| record.failure.as_ref().and_then(|failure| failure.cause.clone());
    let end = |record: &Record| match &record.measured {
        Some(_) => "did not work",
        None if record.was_never_ready() => "never became ready",
        None => "failed before it was measured",
    };
    let is_alike = |it: &&&Record| (cause(it), end(it)) == (cause(first), end(first));
    let alike = records.iter().filter(is_alike).map(|it| it.variant.clone());
    let head = format!("{} {}", figures::listed(&distinct(alike)), end(first));
    let root = cause(first).map(|cause| format!("{}. ", cause.trim_end_matches('.'))).unwrap_or_default();
    let is_about = |doubt: &&Doubt| {
        (&doubt.variant, &doubt.load) == (&first.variant, &first.load)
            && matches!(doubt.reason, DoubtReason::RequestsFailed { .. })
    };
    let requests_failed = || document.why_not.iter().find(is_about).map(reasons::reason);
    let failure = first.failure.as_ref().map(|failure| failure.why.trim_end_matches('.').to_owned());
    let reason = failure.or_else(requests_failed)?;
    Some(NoVerdict { head, why: root + &reason, is_answer: true })
}
