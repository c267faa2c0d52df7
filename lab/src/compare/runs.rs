//! The complete runs of one variant under one load.

use super::metric::Metric;
use crate::record::Record;
use crate::record::capacity::SearchEnd;

/// Was it measured from beginning to end?
#[must_use]
pub fn is_complete(record: &Record) -> bool {
    record.failure.is_none() && record.measured.as_ref().is_some_and(|load| !load.interrupted)
}

/// Did the load generator keep up? Figures of a run where it did not are the generator's. A search for a capacity has its
/// own answer: it asks more than can be had on purpose, and knows what the generator had to do with it.
#[must_use]
pub fn is_healthy(record: &Record) -> bool {
    match &record.capacity {
        Some(search) => search.ended != SearchEnd::Generator,
        None => record.measured.as_ref().is_some_and(|load| !load.generator.bottleneck),
    }
}

/// The complete runs of a variant under a load, in their order.
#[must_use]
pub fn complete<'a>(records: &'a [Record], variant: &str, load: &str) -> Vec<&'a Record> {
    let of_both = |record: &&Record| record.variant == variant && record.load == load;
    records.iter().filter(of_both).filter(|record| is_complete(record)).collect()
}

/// The figure of each run that has it. A figure that is no number is one the run does not have.
#[must_use]
pub fn figures(runs: &[&Record], metric: Metric) -> Vec<f64> {
    runs.iter().filter_map(|record| metric.of(record)).filter(|figure| figure.is_finite()).collect()
}

/// The arithmetic mean; `None` of nothing.
#[must_use]
pub fn mean(figures: &[f64]) -> Option<f64> {
    (!figures.is_empty()).then(|| figures.iter().sum::<f64>() / figures.len() as f64)
}
