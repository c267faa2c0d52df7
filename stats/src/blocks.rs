//! Rounds as blocks: whatever affects a whole round affects all its runs, so runs are compared within their round.
//!
//! Fisher ("The design of experiments", 1935) calls it blocking. The choice is made before anything is measured:
//! variants of one session are always compared in pairs, results of two sessions never.

use std::collections::BTreeMap;
use threadcount_model::record::Record;

/// A place in a session: the round, and the index of the run among its variant's runs in that round that count.
pub(super) type Block = (u32, u32);

/// The runs of one variant under one load, by their place.
pub(super) fn by_block<'a>(runs: &[&'a Record]) -> BTreeMap<Block, &'a Record> {
    let mut counted: BTreeMap<u32, u32> = BTreeMap::new();
    let mut blocks = BTreeMap::new();
    for run in runs {
        let nth = counted.entry(run.round).or_default();
        blocks.insert((run.round, *nth), *run);
        *nth += 1;
    }
    blocks
}

/// The runs of two variants side by side, `variant` first. A run whose partner failed, was dropped or had interference has no pair.
pub fn pairs<'a>(variant: &[&'a Record], baseline: &[&'a Record]) -> Vec<(&'a Record, &'a Record)> {
    let partners = by_block(baseline);
    by_block(variant)
        .into_iter()
        .filter_map(|(block, run)| partners.get(&block).map(|partner| (run, *partner)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use threadcount_model::sample::run;

    fn in_rounds(variant: &str, rounds: &[(u32, f64)]) -> Vec<Record> {
        rounds.iter().map(|&(round, rate)| Record { round, ..run(variant, "c4", rate, 5.0) }).collect()
    }

    fn rates(a: &[(u32, f64)], b: &[(u32, f64)]) -> Vec<(f64, f64)> {
        let (a, b) = (in_rounds("a", a), in_rounds("b", b));
        let rate = |run: &Record| run.measured.as_ref().map_or(0.0, |load| load.rate_per_s.completed);
        let (a, b): (Vec<&Record>, Vec<&Record>) = (a.iter().collect(), b.iter().collect());
        pairs(&a, &b).into_iter().map(|(a, b)| (rate(a), rate(b))).collect()
    }

    #[test]
    fn runs_of_one_round_are_a_pair_whatever_their_order() {
        assert_eq!(rates(&[(1, 10.0), (2, 20.0)], &[(2, 21.0), (1, 11.0)]), [(10.0, 11.0), (20.0, 21.0)]);
    }

    #[test]
    fn a_run_without_a_partner_has_no_pair() {
        assert_eq!(rates(&[(1, 10.0), (3, 30.0)], &[(2, 21.0), (3, 31.0)]), [(30.0, 31.0)]);
    }

    #[test]
    fn several_runs_in_one_round_are_paired_in_their_order() {
        assert_eq!(rates(&[(1, 10.0), (1, 12.0)], &[(1, 11.0)]), [(10.0, 11.0)]);
        assert_eq!(rates(&[(1, 10.0), (1, 12.0)], &[(1, 11.0), (1, 13.0)]), [(10.0, 11.0), (12.0, 13.0)]);
    }
}
