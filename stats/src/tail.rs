//! The largest percentile that the number of requests supports.

use super::runs::complete;
use std::collections::BTreeSet;
use threadcount_model::metric::Metric;
use threadcount_model::record::Record;

/// At least this many responses must be slower than a percentile; with fewer, it is the time of single requests.
const FEWEST_BEYOND: f64 = 10.0;
/// Smaller percentiles do not count as tails.
const LEAST_PERCENT: f64 = 99.0;

/// The largest percentile that every complete run under a load supports; `None` if not even p99 is, or if there is no run.
#[must_use]
pub fn largest_percentile(records: &[Record], load: &str) -> Option<Metric> {
    let here = records.iter().filter(|record| record.load == load);
    let variants: BTreeSet<&str> = here.map(|record| record.variant.as_str()).collect();
    let runs = variants.into_iter().flat_map(|variant| complete(records, variant, load));
    let requests = runs.filter_map(|run| run.measured.as_ref()).map(|measured| measured.requests.ok);
    let fewest = requests.min()? as f64;
    // The shares are no binary fractions, but 10,000 x 0.001 must count as ten.
    let is_carried = |percent: f64| fewest * (100.0 - percent) / 100.0 >= FEWEST_BEYOND - 1e-9;
    let percentiles = Metric::ALL.into_iter().filter_map(|it| Some((it.percent()?, it)));
    let tails = percentiles.filter(|&(percent, _)| percent >= LEAST_PERCENT && is_carried(percent));
    tails.max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, metric)| metric)
}

#[cfg(test)]
mod tests {
    use super::*;
    use threadcount_model::sample::{run, with_load};

    fn percentile_for(requests: &[u64]) -> Option<Metric> {
        let with = |&ok: &u64| with_load(run("a", "c4", 100.0, 5.0), |load| load.requests.ok = ok);
        largest_percentile(&requests.iter().map(with).collect::<Vec<_>>(), "c4")
    }

    #[test]
    fn ten_responses_have_to_be_slower_in_the_run_with_the_fewest() {
        assert_eq!(percentile_for(&[100_000, 200_000]), Some(Metric::P99_99));
        assert_eq!(percentile_for(&[99_999, 200_000]), Some(Metric::P99_9));
        assert_eq!(percentile_for(&[10_000]), Some(Metric::P99_9));
        assert_eq!(percentile_for(&[9_999]), Some(Metric::P99));
        assert_eq!(percentile_for(&[1_000]), Some(Metric::P99));
        assert_eq!((percentile_for(&[999]), percentile_for(&[])), (None, None));
    }
}
