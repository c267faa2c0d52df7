//! The complete runs of one variant under one load.

use super::disturbance::disturbance;
use threadcount_model::metric::Metric;
use threadcount_model::record::Record;
use threadcount_model::record::capacity::SearchEnd;

/// A machine with more than this in use is full: from here on the scheduler has work waiting most of the time, and a thread that
/// computes takes the core of another.
pub const FULL_MACHINE: f64 = 0.85;

/// Was it measured from beginning to end?
#[must_use]
pub fn is_complete(record: &Record) -> bool {
    let measured = record.measured.as_ref().is_some_and(|load| !load.interrupted);
    record.failure.is_none() && (measured || record.benchmark.is_some())
}

/// Did the load generator keep up? Figures of a run where it did not are the generator's. A search for a capacity has its
/// own answer: it asks more than can be had on purpose, and knows what the generator had to do with it. A benchmark has
/// no generator.
#[must_use]
pub fn is_healthy(record: &Record) -> bool {
    match &record.capacity {
        Some(search) => search.ended != SearchEnd::Generator,
        None => {
            record.measured.as_ref().map_or(record.benchmark.is_some(), |load| !load.generator.bottleneck)
        }
    }
}

/// Disturbed runs are left out only where at least so many others stay: one run alone has no spread, and a figure without
/// an interval says less than one that admits how far its runs lie apart.
pub const FEWEST_UNDISTURBED: usize = 2;

/// The complete runs of a variant under a load on which its figures rest, in their order: without the first rounds that
/// the experiment's protocol drops, and without disturbed runs where [`FEWEST_UNDISTURBED`] others stay.
#[must_use]
pub fn complete<'a>(records: &'a [Record], variant: &str, load: &str) -> Vec<&'a Record> {
    let of_both = |record: &&Record| record.variant == variant && record.load == load;
    let counts = |record: &&Record| is_complete(record) && !record.dropped;
    let all: Vec<&Record> = records.iter().filter(of_both).filter(counts).collect();
    let undisturbed: Vec<&Record> = all.iter().copied().filter(|run| disturbance(run).is_none()).collect();
    if undisturbed.len() < FEWEST_UNDISTURBED { all } else { undisturbed }
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

#[cfg(test)]
mod tests {
    use super::*;
    use threadcount_model::sample::{run, with_cost};

    fn rates(records: &[Record]) -> Vec<f64> {
        figures(&complete(records, "a", "c4"), Metric::Rate)
    }

    #[test]
    fn dropped_rounds_are_left_out() {
        let mut first = run("a", "c4", 50.0, 5.0);
        first.dropped = true;
        assert_eq!(rates(&[first, run("a", "c4", 100.0, 5.0)]), [100.0]);
    }

    #[test]
    fn disturbed_runs_are_left_out_where_two_others_stay() {
        let robbed = || with_cost(run("a", "c4", 50.0, 5.0), |cost| cost.stolen_cores = 0.5);
        let busy = || with_cost(run("a", "c4", 60.0, 5.0), |cost| cost.machine_cpu_cores = 1.5);
        let fine = |rate| run("a", "c4", rate, 5.0);
        assert_eq!(rates(&[robbed(), fine(100.0), busy(), fine(101.0)]), [100.0, 101.0]);
        assert_eq!(rates(&[robbed(), fine(100.0), busy()]), [50.0, 100.0, 60.0], "one alone has no spread");
        assert_eq!(
            rates(&[robbed(), fine(100.0), run("b", "c4", 9.0, 5.0)]),
            [50.0, 100.0],
            "of this variant"
        );
        assert_eq!(rates(&[robbed(), busy()]), [50.0, 60.0], "better than nothing, and said by the trust");
        let dropped = Record { dropped: true, ..fine(99.0) };
        assert_eq!(rates(&[dropped, robbed(), fine(100.0)]), [50.0, 100.0], "a dropped run is no other");
    }
}
