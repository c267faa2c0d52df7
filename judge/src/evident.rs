//! Recognises differences in throughput that are evident although there are too few runs for an interval.
//!
//! Fresh JVMs of one program differed by up to 2.6 times (docs/measurements), and warming up can make a JVM faster by as much. A difference
//! is evident if neither explains it: the slower run does not get faster, and both of its halves are far below the faster run.

use crate::result::ResultDocument;
use threadcount_model::comparison::{Comparison, Ratio};
use threadcount_model::metric::Metric;
use threadcount_model::record::Record;

/// Each run of one side must have at least this many times the throughput of both halves of each run of the other side.
const FACTOR: f64 = 4.0;
/// The fewest seconds of a run that show whether it gets faster.
const FEWEST_SECONDS: usize = 4;
/// The slower side does not get faster if its second half has at most this many times the throughput of its first.
const MOST_RISE: f64 = 1.5;

/// Whether this ratio of throughputs without an interval shows which variant is faster.
#[must_use]
pub fn is_evident(document: &ResultDocument, comparison: &Comparison, ratio: &Ratio) -> bool {
    if ratio.metric != Metric::Rate || ratio.interval.is_some() {
        return false;
    }
    let (slower, faster) = match ratio.ratio < 1.0 {
        true => (&comparison.variant, &comparison.baseline),
        false => (&comparison.baseline, &comparison.variant),
    };
    let faster_per_s = document.figures(faster, &comparison.load, Metric::Rate);
    let lowest_per_s = faster_per_s.into_iter().fold(f64::INFINITY, f64::min);
    let runs = document.counted_runs(slower, &comparison.load);
    let is_far =
        |[first, second]: [f64; 2]| lowest_per_s >= FACTOR * first.max(second) && second <= first * MOST_RISE;
    !runs.is_empty() && runs.into_iter().all(|run| halves(run).is_some_and(is_far))
}

/// The mean throughput in each half of a run, per second; `None` if it is too short.
fn halves(run: &Record) -> Option<[f64; 2]> {
    let rates: Vec<f64> = run.load_series.iter().map(|it| it.rate_per_s).collect();
    let (first, second) = rates.split_at(rates.len() / 2);
    let mean = |half: &[f64]| half.iter().sum::<f64>() / half.len() as f64;
    (rates.len() >= FEWEST_SECONDS).then(|| [mean(first), mean(second)])
}
