//! The results under one load, before formatting.

use super::ratios::{self, RatioRow};
use crate::load_words::load_words;
use crate::pause_ledger::PauseWords;
use crate::request_time::RequestTimeWords;
use crate::{capacity, pause_ledger, request_time, run_delays};
use serde::Serialize;
use threadcount_judge::finding::Finding;
use threadcount_judge::result::ResultDocument;
use threadcount_judge::words::finding::{FindingWords, words as finding_words};
use threadcount_model::comparison::Comparison;
use threadcount_model::experiment::LoadSpec;
use threadcount_model::metric::Metric;

/// The results under one load.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LoadView {
    /// The load in words, e.g. `400 clients`.
    pub words: String,
    /// Each variant's capacity in sentences; empty for other loads.
    pub capacity: Vec<String>,
    /// The ratios of each comparison, `virtual vs platform`.
    pub comparisons: Vec<(String, Vec<RatioRow>)>,
    /// The parts of a request's time, for each variant whose threads were sampled.
    pub request_times: Vec<RequestTimeWords>,
    /// Sentences that tell why threads of a variant were not sampled.
    pub not_sampled: Vec<String>,
    /// Run delays (how long runnable threads waited) in sentences without a full stop.
    pub run_delays: Vec<String>,
    /// The causes that delayed the slowest requests, a line per variant.
    pub pauses: Vec<PauseWords>,
    pub findings: Vec<FindingLine>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FindingLine {
    /// The variant; empty for all variants.
    pub variant: String,
    pub sentence: String,
    pub advice: Option<String>,
    /// The finding's figures, e.g. `pool threads 200`.
    pub evidence: Vec<String>,
}

pub(super) fn load_view(document: &ResultDocument, load: &LoadSpec) -> LoadView {
    // Unless both variants have a capacity there is no ratio.
    let has_ratio = |comparison: &&Comparison| {
        load.workload.capacity().is_none() || comparison.ratio(Metric::Capacity).is_some()
    };
    let comparisons = document.comparisons_under(&load.name).filter(has_ratio);
    LoadView {
        words: load_words(load),
        capacity: capacity::sentences(document, load),
        comparisons: comparisons
            .map(|it| (format!("{} vs {}", it.variant, it.baseline), ratios::rows(it, load)))
            .collect(),
        request_times: request_time::under(document, load),
        not_sampled: request_time::not_sampled(document, load),
        run_delays: run_delays::sentences(document, load),
        pauses: pause_ledger::under(document, load),
        findings: finding_lines(document, |finding| finding.load.as_ref() == Some(&load.name)),
    }
}

pub(super) fn finding_lines(
    document: &ResultDocument,
    wanted: impl Fn(&Finding) -> bool,
) -> Vec<FindingLine> {
    let line = |finding: &Finding| {
        let FindingWords { sentence, advice, evidence, .. } = finding_words(finding);
        FindingLine { variant: finding.variant.clone().unwrap_or_default(), sentence, advice, evidence }
    };
    document.findings.iter().filter(|finding| wanted(finding)).map(line).collect()
}
