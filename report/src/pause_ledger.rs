//! The causes that delayed the slowest requests, in words: a sentence per variant.

use super::figures::{count, milliseconds as ms, percent, plural};
use serde::Serialize;
use threadcount_judge::result::ResultDocument;
use threadcount_judge::words::pause_cause::cause_words;
use threadcount_model::experiment::LoadSpec;
use threadcount_model::record::pause_ledger::{CauseOfDelay, PauseCause, PauseLedger};
use threadcount_stats::pause_ledger::over_runs;

/// Causes with a smaller share of the slow requests appear in the table only.
const WORTH_A_WORD: f64 = 0.005;

/// The sentence on one variant under one load.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PauseWords {
    pub variant: String,
    pub sentence: String,
}

/// A sentence per variant that has slow requests under this load.
#[must_use]
pub fn under(document: &ResultDocument, load: &LoadSpec) -> Vec<PauseWords> {
    let variants = document.experiment.variants.iter();
    variants
        .filter_map(|variant| {
            let ledger = ledger_of(document, &variant.name, &load.name)?;
            Some(PauseWords { variant: variant.name.clone(), sentence: sentence(&ledger) })
        })
        .collect()
}

/// The ledgers of all of a variant's runs under a load, added up.
#[must_use]
pub fn ledger_of(document: &ResultDocument, variant: &str, load: &str) -> Option<PauseLedger> {
    let runs: Vec<&PauseLedger> =
        document.runs_of(variant, load).filter_map(|run| run.pause_ledger.as_ref()).collect();
    over_runs(&runs)
}

fn sentence(ledger: &PauseLedger) -> String {
    let mut causes: Vec<&CauseOfDelay> =
        ledger.causes.iter().filter(|cause| cause.requests_share >= WORTH_A_WORD).collect();
    causes.sort_by(|a, b| b.requests_share.total_cmp(&a.requests_share));
    let part = |cause: &&CauseOfDelay| {
        format!(
            "{} by {} ({}, up to {})",
            percent(cause.requests_share),
            cause_words(cause.cause).short,
            plural(cause.pauses as usize, occurrence(cause.cause)),
            ms(cause.longest_ms)
        )
    };
    let causes: Vec<String> = causes.iter().map(part).collect();
    let delayed = if causes.is_empty() { String::new() } else { format!("{}, ", causes.join(", ")) };
    format!(
        "the {} requests beyond p99 ({}, median {}) were delayed: {delayed}{} unexplained",
        count(ledger.slow_requests),
        ms(ledger.p99_ms),
        ms(ledger.p50_ms),
        percent(ledger.unexplained_share)
    )
}

/// The noun for one occurrence of a cause: a stop that the JVM logged, or a sample.
#[must_use]
pub const fn occurrence(cause: PauseCause) -> &'static str {
    match cause {
        PauseCause::GarbageCollection | PauseCause::OtherSafepoint | PauseCause::TimeToSafepoint => "pause",
        PauseCause::AllocationStall => "stall",
        PauseCause::Compilation | PauseCause::Throttling | PauseCause::Steal => "sample",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_cause_comes_first_and_what_is_unexplained_last() {
        let cause = |cause, pauses, requests_share| CauseOfDelay {
            cause,
            pauses,
            total_ms: 100.0,
            longest_ms: 41.2,
            requests_share,
            delay_ms: None,
        };
        let ledger = PauseLedger {
            p50_ms: 50.1,
            p99_ms: 88.0,
            slow_requests: 1_400,
            sampled: 1_400,
            causes: vec![
                cause(PauseCause::OtherSafepoint, 1, 0.02),
                cause(PauseCause::GarbageCollection, 40, 0.93),
                cause(PauseCause::Steal, 0, 0.0),
            ],
            unexplained_share: 0.05,
            slowest: Vec::new(),
        };
        assert_eq!(
            sentence(&ledger),
            "the 1,400 requests beyond p99 (88.0 ms, median 50.1 ms) were delayed: 93 % by garbage collection (40 pauses, up to \
             41.2 ms), 2.0 % by other safepoints (1 pause, up to 41.2 ms), 5.0 % unexplained"
        );
        let unknown = PauseLedger { causes: Vec::new(), unexplained_share: 1.0, ..ledger };
        assert!(sentence(&unknown).ends_with("were delayed: 100 % unexplained"), "{}", sentence(&unknown));
    }
}
