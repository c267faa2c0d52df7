//! Ratios that are not shown because nobody should act on them.

use crate::result::ResultDocument;
use threadcount_model::comparison::{Comparison, Ratio};
use threadcount_stats::warmth::was_warm;

/// The reason why a ratio is not shown; `None` if it is shown.
#[must_use]
pub fn unreadable(document: &ResultDocument, comparison: &Comparison, ratio: &Ratio) -> Option<&'static str> {
    let is_cold = |name: &str| {
        let mut runs = document.runs_of(name, &comparison.load);
        runs.any(|run| was_warm(run) == Some(false))
    };
    if ratio.variant_value <= 0.0 || ratio.baseline_value <= 0.0 {
        return Some("a figure of 0");
    }
    match ratio.interval {
        Some(interval) => (!interval.is_readable(ratio.ratio)).then_some("too few runs"),
        None if is_cold(&comparison.variant) || is_cold(&comparison.baseline) => Some("still warming up"),
        None => None,
    }
}
