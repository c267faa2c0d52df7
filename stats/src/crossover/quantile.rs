//! A quantile of response times under two treatments.
//!
//! It is that of all responses of a treatment, as a user meets them, and not a mean of quantiles of periods: where one period in ten is
//! slow, the p99 of all is slow, and the mean of ten p99 is not. Its spread is that of the blocks: leaving out one at a time gives
//! pseudo-values (Tukey; Efron, "The jackknife, the bootstrap and other resampling plans", 1982), which are judged as ratios of blocks are.

use super::{CrossoverRatio, of_differences};
use threadcount_model::crossover::{ResponseTimes, quantile_ms};

/// The response times of one block under a treatment: of each of its periods.
pub type BlockTimes<'b> = Vec<&'b ResponseTimes>;

/// The ratio of a quantile, from the response times per block. `None`: a block has no response.
#[must_use]
pub fn quantile_ratio(
    treatment: &[BlockTimes<'_>],
    baseline: &[BlockTimes<'_>],
    quantile: f64,
) -> Option<CrossoverRatio> {
    let blocks = treatment.len().min(baseline.len());
    let without = |left_out: Option<usize>| {
        let of = |all: &[BlockTimes<'_>]| {
            let kept = all.iter().enumerate().filter(|(at, _)| Some(*at) != left_out);
            quantile_ms(kept.flat_map(|(_, block)| block.iter().copied()), quantile)
        };
        let difference = (of(treatment)? / of(baseline)?).ln();
        difference.is_finite().then_some(difference)
    };
    let all = without(None)?;
    if blocks < 2 {
        return Some(of_differences(all, &[all]));
    }
    let count = blocks as f64;
    let pseudo = |at| Some(count * all - (count - 1.0) * without(Some(at))?);
    let pseudo_values: Option<Vec<f64>> = (0..blocks).map(pseudo).collect();
    Some(of_differences(all, &pseudo_values?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use threadcount_model::comparison::Verdict;

    fn times(ms: &[f64]) -> ResponseTimes {
        ResponseTimes { weighted_ms: ms.iter().map(|&ms| (ms, 1.0)).collect() }
    }

    #[test]
    fn a_quantile_is_that_of_all_responses_and_not_a_mean_of_those_of_blocks() {
        let (usual, slow) = (times(&[10.0; 99]), times(&[900.0; 99]));
        let mut with_a_slow_block = vec![vec![&usual]; 9];
        with_a_slow_block.push(vec![&slow]);
        let found = quantile_ratio(&with_a_slow_block, &vec![vec![&usual]; 10], 0.99).unwrap();
        assert!((found.ratio - 90.0).abs() < 1e-9, "{found:?}");
        assert_eq!(found.verdict, Verdict::NotEnoughRuns, "one block makes it");
    }

    #[test]
    fn blocks_that_agree_have_a_narrow_interval_and_few_have_none() {
        let of = |ms: f64| -> Vec<ResponseTimes> {
            (0..8).map(|at| times(&[ms + 0.1 * f64::from(at % 3); 50])).collect()
        };
        let (own, other) = (of(10.0), of(30.0));
        let found = quantile_ratio(&blocks(&other), &blocks(&own), 0.5).unwrap();
        assert!((found.ratio - 3.0).abs() < 0.03 && found.verdict == Verdict::Higher, "{found:?}");
        let few = quantile_ratio(&blocks(&other[..3]), &blocks(&own[..3]), 0.5).unwrap();
        assert_eq!((few.interval, few.verdict), (None, Verdict::NotEnoughRuns));
        assert_eq!(quantile_ratio(&[vec![]], &[vec![]], 0.5), None);
    }

    fn blocks(times: &[ResponseTimes]) -> Vec<BlockTimes<'_>> {
        times.iter().map(|it| vec![it]).collect()
    }
}
