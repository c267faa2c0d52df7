//! The summary of a result, before formatting: title, answers, findings, trust, study, claims.

use crate::answer::{Answer, answer};
use crate::load_words::load_words;
use crate::pause_ledger::PauseWords;
use crate::published;
use crate::published::PublishedRow;
use crate::request_time;
use crate::request_time::RequestTimeWords;
use crate::trust;
use crate::trust::Trust;
use crate::{capacity, pause_ledger, run_delays};
use serde::Serialize;
use threadcount_judge::finding::Finding;
use threadcount_judge::result::ResultDocument;
use threadcount_judge::words::finding::FindingWords;
use threadcount_judge::words::finding::words as finding_words;
use threadcount_judge::words::reasons;
use threadcount_model::claim_result::{ClaimResult, ClaimVerdict};
use threadcount_model::comparison::Comparison;
use threadcount_model::experiment::LoadSpec;
use threadcount_model::figures;
use threadcount_model::metric::Metric;
use threadcount_model::rounds::Skipped;

/// A result in words.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    pub name: String,
    pub question: String,
    /// Java and server, e.g. `Java 25.0.3+9 · Tomcat 11.0.24`.
    pub context: Vec<String>,
    /// One part for each load.
    pub loads: Vec<LoadPart>,
    /// Findings about no load in particular.
    pub findings: Vec<Why>,
    /// Whether the figures are trusted.
    pub trust: Trust,
    /// Published beside measured, as sentences.
    pub study: Vec<String>,
    /// Claims and whether they hold.
    pub claims: Vec<ClaimLine>,
    /// Variants that could not run on this machine, and why.
    pub skipped: Vec<Skipped>,
}

/// What happened under one load.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LoadPart {
    pub name: String,
    /// In words, e.g. `400 clients`.
    pub words: String,
    /// The capacity of each variant, in sentences; of capacity loads only.
    pub capacity: Vec<String>,
    /// One for each comparison.
    pub answers: Vec<Answer>,
    /// Where the time of a request goes, a line for each variant whose threads were sampled.
    pub request_times: Vec<RequestTimeWords>,
    /// Why threads of a variant were not sampled.
    pub not_sampled: Vec<String>,
    /// How long threads that could run waited until they did, sentences without a full stop.
    pub run_delays: Vec<String>,
    /// What delayed the slowest requests, a line for each variant.
    pub pauses: Vec<PauseWords>,
    pub findings: Vec<Why>,
}

/// A finding, as a line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Why {
    /// The variant; empty: all.
    pub variant: String,
    pub sentence: String,
    pub advice: Option<String>,
    /// Its figures, e.g. `pool threads 200`.
    pub evidence: Vec<String>,
}

/// A claim, as a line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ClaimLine {
    /// As written; the statement, if it is not testable.
    pub claim: String,
    /// The statement of the study, paraphrased.
    pub says: Option<String>,
    /// `holds`, `does not hold`, `inconclusive`, `no verdict`, `not tested` or `not testable here`.
    pub verdict: &'static str,
    /// Tested, trusted, and does not hold.
    pub fails: bool,
    /// `measured 1.98, published 1.99`, with [`OPEN`] if the intervals leave it open; or why it was not tested.
    pub figures: String,
}

#[must_use]
pub fn summary(document: &ResultDocument) -> Summary {
    let rows = published::rows(document);
    Summary {
        name: document.experiment.name.clone(),
        question: document.experiment.question.clone(),
        context: context(document),
        loads: document.experiment.loads.iter().map(|load| load_part(document, load)).collect(),
        findings: whys(document, |finding| finding.load.is_none()),
        trust: trust::trust(document),
        study: study(&rows, &document.experiment.loads),
        claims: document.claims.iter().map(claim_line).chain(unavailable(document)).collect(),
        skipped: document.skipped.clone(),
    }
}

fn load_part(document: &ResultDocument, load: &LoadSpec) -> LoadPart {
    // Without a capacity on both sides there is no ratio.
    let can_be_said = |comparison: &&Comparison| {
        load.workload.capacity().is_none() || comparison.ratio(Metric::Capacity).is_some()
    };
    let comparisons = document.comparisons_under(&load.name);
    let comparisons = comparisons.filter(can_be_said);
    LoadPart {
        name: load.name.clone(),
        words: load_words(load),
        capacity: capacity::sentences(document, load),
        answers: comparisons.map(|comparison| answer(comparison, load.workload)).collect(),
        request_times: request_time::under(document, load),
        not_sampled: request_time::not_sampled(document, load),
        run_delays: run_delays::sentences(document, load),
        pauses: pause_ledger::under(document, load),
        findings: whys(document, |finding| finding.load.as_ref() == Some(&load.name)),
    }
}

pub(super) fn context(document: &ResultDocument) -> Vec<String> {
    let servers = || document.records.iter().map(|record| &record.server);
    let java = distinct(servers().filter_map(|server| server.java.as_deref()).map(java_words));
    let product = distinct(servers().filter_map(|server| server.product.clone()));
    let product = product.into_iter().map(|name| name.trim_start_matches("Apache ").to_owned());
    java.into_iter().chain(product).collect()
}

fn java_words(version: &str) -> String {
    format!("Java {}", version.split_whitespace().next().unwrap_or(version))
}

/// Each text once, in the order of its first appearance.
pub(super) fn distinct(texts: impl Iterator<Item = String>) -> Vec<String> {
    let mut seen = Vec::new();
    texts.for_each(|text| {
        if !seen.contains(&text) {
            seen.push(text);
        }
    });
    seen
}

fn whys(document: &ResultDocument, wanted: impl Fn(&Finding) -> bool) -> Vec<Why> {
    let why = |finding: &Finding| {
        let FindingWords { sentence, advice, evidence } = finding_words(finding);
        Why { variant: finding.variant.clone().unwrap_or_default(), sentence, advice, evidence }
    };
    document.findings.iter().filter(|finding| wanted(finding)).map(why).collect()
}

fn study(rows: &[PublishedRow], loads: &[LoadSpec]) -> Vec<String> {
    let sentence = |row: &PublishedRow| {
        let load = loads.iter().find(|load| loads.len() > 1 && load.name == row.load);
        let load = load.map_or_else(String::new, |load| format!(", {}", load_words(load)));
        let measured = match (row.measured, row.ratio()) {
            (Some(measured), Some(ratio)) => {
                format!(
                    "measured {} ({}): {}",
                    figures::figure(row.metric, measured),
                    published::share(ratio),
                    row.reproduced().words()
                )
            }
            _ => "not measured".to_owned(),
        };
        format!("{}{load}: published {}, {measured}", row.variant, figures::figure(row.metric, row.published))
    };
    rows.iter().filter(|row| matches!(row.metric, Metric::Rate | Metric::Score)).map(sentence).collect()
}

/// The verdict on a statement that is not testable.
pub const UNAVAILABLE: &str = "not testable here";

#[must_use]
pub fn claim_words(claim: &ClaimResult) -> &'static str {
    match claim.verdict() {
        verdict if claim.doubt.is_some() && verdict != ClaimVerdict::NotTried => "no verdict",
        ClaimVerdict::Holds => "holds",
        ClaimVerdict::DoesNotHold => "does not hold",
        ClaimVerdict::Indicative if claim.holds == Some(true) => "indicative: would hold",
        ClaimVerdict::Indicative => "indicative: would not hold",
        ClaimVerdict::NotDecided => "inconclusive",
        ClaimVerdict::NotTried => "not tested",
    }
}

/// The note on a claim that only the means decide, because one run has no interval.
pub const OPEN: &str = "one run: indicative only";

/// Whether it was tested and the intervals leave it open.
#[must_use]
pub const fn is_open(claim: &ClaimResult) -> bool {
    matches!(claim.verdict(), ClaimVerdict::Indicative)
}

fn claim_line(claim: &ClaimResult) -> ClaimLine {
    let measured = claim.measured.map(|value| format!("measured {}", figures::plain(value)));
    let published = claim.published.map(|value| format!("published {}", figures::plain(value)));
    let open = is_open(claim).then(|| OPEN.to_owned());
    let why = claim.why.as_ref().map(reasons::not_tried);
    let parts = [measured, published, why, open, claim.doubt.as_ref().map(reasons::doubt)];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    ClaimLine {
        claim: claim.claim.clone(),
        says: claim.says.clone(),
        verdict: claim_words(claim),
        fails: claim.doubt.is_none() && claim.is_denied(),
        figures: parts.join(", "),
    }
}

/// Statements of the study that are not testable here.
fn unavailable(document: &ResultDocument) -> impl Iterator<Item = ClaimLine> {
    document.experiment.unavailable.iter().map(|it| ClaimLine {
        claim: it.what.clone(),
        says: None,
        verdict: UNAVAILABLE,
        fails: false,
        figures: it.why.clone(),
    })
}

/// A sentence with a capital at its beginning.
pub(super) fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
