//! The ratios of each comparison, each with a little picture of its interval.

use crate::load_words::load_words;
use crate::view::ratios::{self, RatioRow};
use serde::Serialize;
use threadcount_judge::result::ResultDocument;
use threadcount_model::comparison::{Comparison, Verdict};
use threadcount_model::interval::Interval;

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RatioTable {
    pub variant: String,
    pub baseline: String,
    pub load: String,
    /// One row per metric, with its little picture.
    pub rows: Vec<(RatioRow, Option<Bar>)>,
}

/// Positions in the little picture, in per cent of its width; 50 means equal.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Bar {
    pub low: f64,
    pub at: f64,
    pub high: f64,
    /// Whether the interval shows a difference.
    pub decided: bool,
}

/// The tables of ratios, in the order of the comparisons.
#[must_use]
pub fn ratios(document: &ResultDocument) -> Vec<RatioTable> {
    let reach = reach(&document.comparisons);
    document.comparisons.iter().filter_map(|comparison| ratio_table(document, comparison, reach)).collect()
}

fn ratio_table(document: &ResultDocument, comparison: &Comparison, reach: f64) -> Option<RatioTable> {
    let load = document.experiment.load(&comparison.load)?;
    let with_bar = |row: RatioRow| {
        let bar = comparison.ratio(row.metric).and_then(|ratio| {
            let verdict = if row.verdict.is_empty() { Verdict::NotEnoughRuns } else { ratio.verdict };
            bar(ratio.ratio, ratio.interval, verdict, reach)
        });
        (row, bar)
    };
    Some(RatioTable {
        variant: comparison.variant.clone(),
        baseline: comparison.baseline.clone(),
        load: load_words(load),
        rows: ratios::rows(comparison, load).into_iter().map(with_bar).collect(),
    })
}

/// The largest ratio that the little pictures of the comparisons must show, as a logarithm.
pub fn reach(comparisons: &[Comparison]) -> f64 {
    let ratios = comparisons.iter().flat_map(|comparison| &comparison.ratios);
    reach_of(ratios.map(|ratio| (ratio.ratio, ratio.interval)))
}

/// The largest ratio that the little pictures must show, as a logarithm: between 1.25 and 8 times.
pub fn reach_of(ratios: impl Iterator<Item = (f64, Option<Interval>)>) -> f64 {
    let ends = ratios.flat_map(|(ratio, interval)| {
        interval.map_or([ratio; 2], |it| [it.low, it.high]).map(|end| end.ln().abs())
    });
    ends.filter(|end| end.is_finite()).fold(0.0, f64::max).clamp(1.25_f64.ln(), 8_f64.ln()) * 1.08
}

/// The positions of a ratio and its interval in the little picture; `None` without an interval.
pub fn bar(ratio: f64, interval: Option<Interval>, verdict: Verdict, reach: f64) -> Option<Bar> {
    let interval = interval?;
    let place = |value: f64| {
        let place = 50.0 + 50.0 * value.ln() / reach;
        (place.clamp(0.0, 100.0) * 10.0).round() / 10.0
    };
    let all_positive = interval.low > 0.0 && ratio > 0.0 && interval.high.is_finite();
    let decided = matches!(verdict, Verdict::Higher | Verdict::Lower);
    let (low, at, high) = (place(interval.low), place(ratio), place(interval.high));
    all_positive.then_some(Bar { low, at, high, decided })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(low: f64, ratio: f64, high: f64, reach: f64) -> Option<Bar> {
        bar(ratio, Some(Interval { low, high, confidence: 0.95 }), Verdict::Higher, reach)
    }

    #[test]
    fn equal_lies_in_the_middle_and_twice_as_far_from_it_as_half() {
        let bar = drawn(0.5, 1.0, 2.0, 4_f64.ln()).unwrap();
        assert_eq!((bar.low, bar.at, bar.high), (25.0, 50.0, 75.0));
    }

    #[test]
    fn a_ratio_that_is_no_number_has_no_bar() {
        assert_eq!(drawn(-0.1, 1.0, 2.0, 1.0), None);
        assert_eq!(drawn(f64::NAN, f64::NAN, f64::NAN, 1.0), None);
    }
}
