//! The complete runs of one variant under one load.

use super::disturbance::disturbance;
use std::collections::HashSet;
use threadcount_model::metric::Metric;
use threadcount_model::record::Record;
use threadcount_model::record::capacity::SearchEnd;

/// A machine with more than this share of its CPU in use is full: from here on the scheduler usually has work waiting, and a thread
/// that computes takes the core from another.
pub const FULL_MACHINE: f64 = 0.85;

/// Was the run measured from beginning to end?
#[must_use]
pub fn is_complete(record: &Record) -> bool {
    let measured = record.measured.as_ref().is_some_and(|load| !load.interrupted);
    record.failure.is_none() && (measured || record.benchmark.is_some())
}

/// Did the load generator keep up? If not, the figures of the run are the generator's. A search for a capacity answers this itself: it
/// asks for more than can be had on purpose, and knows what part the generator played. A benchmark has no generator.
#[must_use]
pub fn is_healthy(record: &Record) -> bool {
    match &record.capacity {
        Some(search) => search.ended != SearchEnd::Generator,
        None => {
            record.measured.as_ref().map_or(record.benchmark.is_some(), |load| !load.generator.bottleneck)
        }
    }
}

/// Disturbed runs are left out only if at least this many others remain: a single run has no spread, and a figure without an interval
/// tells less than one that admits how far its runs differ.
pub const FEWEST_UNDISTURBED: usize = 2;

/// The complete runs of a variant under a load on which its figures rest, in order: without the first rounds that the experiment's
/// protocol drops, and without disturbed runs if [`FEWEST_UNDISTURBED`] others and as many rounds shared with each other variant
/// remain.
#[must_use]
pub fn complete<'a>(records: &'a [Record], variant: &str, load: &str) -> Vec<&'a Record> {
    let counts = |record: &&Record| record.load == load && is_complete(record) && !record.dropped;
    let of_load: Vec<&Record> = records.iter().filter(counts).collect();
    let of_variant =
        |name: &str| -> Vec<&Record> { of_load.iter().copied().filter(|it| it.variant == name).collect() };
    let all = of_variant(variant);
    let rest = preferred(&all);
    let others: HashSet<&str> =
        of_load.iter().map(|it| it.variant.as_str()).filter(|it| *it != variant).collect();
    let loses_its_pairs = |other: &str| {
        let other = of_variant(other);
        rounds_of_both(&all, &other) >= FEWEST_UNDISTURBED
            && rounds_of_both(&rest, &preferred(&other)) < FEWEST_UNDISTURBED
    };
    if others.into_iter().any(loses_its_pairs) { all } else { rest }
}

/// The undisturbed runs, or all runs if too few are undisturbed.
fn preferred<'a>(runs: &[&'a Record]) -> Vec<&'a Record> {
    let undisturbed: Vec<&Record> = runs.iter().copied().filter(|run| disturbance(run).is_none()).collect();
    if undisturbed.len() < FEWEST_UNDISTURBED { runs.to_vec() } else { undisturbed }
}

/// Number of rounds that both variants have, by which variants are compared.
fn rounds_of_both(one: &[&Record], other: &[&Record]) -> usize {
    one.iter().filter(|run| other.iter().any(|it| it.round == run.round)).count()
}

/// The figure of each run that has one. A figure that is not a finite number counts as missing.
#[must_use]
pub fn figures(runs: &[&Record], metric: Metric) -> Vec<f64> {
    runs.iter().filter_map(|record| metric.of(record)).filter(|figure| figure.is_finite()).collect()
}

/// The arithmetic mean; `None` if there are no figures.
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

    #[test]
    fn disturbed_runs_stay_where_two_variants_would_have_too_few_rounds_in_common() {
        let session = |disturbed_of_b: &[u32]| -> Vec<Record> {
            let of = |variant: &str, round: u32, is_disturbed: bool| {
                let run = Record { round, ..run(variant, "c4", f64::from(round), 5.0) };
                let stolen_cores = if is_disturbed { 0.5 } else { 0.0 };
                with_cost(run, |cost| cost.stolen_cores = stolen_cores)
            };
            let both = |round| [of("a", round, round > 2), of("b", round, disturbed_of_b.contains(&round))];
            (1..=5).flat_map(both).collect()
        };
        assert_eq!(rates(&session(&[1, 2])), [1.0, 2.0, 3.0, 4.0, 5.0], "no round has both");
        assert_eq!(rates(&session(&[2])), [1.0, 2.0, 3.0, 4.0, 5.0], "one has");
        assert_eq!(rates(&session(&[3, 4, 5])), [1.0, 2.0]);
    }
}
