//! Differences that are evident from all runs, though there are too few of them for an interval.
//!
//! Fresh JVMs of one program were up to 2.6 times apart (docs/measurements), and a JVM that warms up gets faster by as much and more. What
//! is evident is beyond both: each second of the one run is far from each second of the other, and the slower one does not get faster.

use crate::result::ResultDocument;
use threadcount_model::comparison::{Comparison, Ratio};
use threadcount_model::metric::Metric;
use threadcount_model::record::Record;

/// Every second of one side must have at least this many times the throughput of every second of the other.
const FACTOR: f64 = 4.0;
/// With fewer seconds nothing is known about a trend.
const FEWEST_SECONDS: usize = 3;
/// The slower side does not get faster if its last second has at most this many times the throughput of its first.
const MOST_RISE: f64 = 1.5;

/// Whether this ratio of throughputs without an interval shows which variant is faster.
#[must_use]
pub fn is_evident(document: &ResultDocument, comparison: &Comparison, ratio: &Ratio) -> bool {
    if ratio.metric != Metric::Rate || ratio.interval.is_some() {
        return false;
    }
    let seconds = |variant: &str| {
        let runs = document.counted_runs(variant, &comparison.load);
        runs.into_iter().map(rates).collect::<Vec<_>>()
    };
    let (variant, baseline) = (seconds(&comparison.variant), seconds(&comparison.baseline));
    let (slower, faster) = if ratio.ratio < 1.0 { (variant, baseline) } else { (baseline, variant) };
    let is_long = |runs: &[Vec<f64>]| !runs.is_empty() && runs.iter().all(|it| it.len() >= FEWEST_SECONDS);
    let highest = slower.iter().flatten().copied().fold(0.0, f64::max);
    let lowest = faster.iter().flatten().copied().fold(f64::INFINITY, f64::min);
    let rises = |run: &Vec<f64>| match &run[..] {
        [first, .., last] => *last > first * MOST_RISE,
        _ => true,
    };
    is_long(&slower) && is_long(&faster) && lowest >= FACTOR * highest && !slower.iter().any(rises)
}

/// The throughput in each second of a run, per second.
fn rates(run: &Record) -> Vec<f64> {
    run.load_series.iter().map(|it| it.rate_per_s).collect()
}
