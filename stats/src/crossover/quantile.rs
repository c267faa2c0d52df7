//! A quantile of response times under two treatments, over all responses of a treatment as a user meets them, and not as a mean of
//! quantiles of periods. If one period in ten is slow, the p99 of all responses is slow, but the mean of ten p99 is not.

use super::CrossoverRatio;
use super::jackknife::jackknife;
use threadcount_model::crossover::ResponseTimes;

/// The response times of one block under a treatment, one element per period.
pub type BlockTimes<'b> = Vec<&'b ResponseTimes>;

/// Half-width, in standard deviations, of the range that chance allows for the share of responses beyond a quantile.
const DEVIATIONS: f64 = 2.0;

/// Response times of all blocks, sorted once for every quantile and every block that is left out.
pub(super) struct SortedTimes {
    /// Response time in milliseconds, the number of responses it stands for, and the index of the block.
    all: Vec<(f64, f64, usize)>,
    weights: Vec<f64>,
}

impl SortedTimes {
    pub fn of(blocks: &[BlockTimes<'_>]) -> Self {
        let of_block = |(at, block): (usize, &BlockTimes<'_>)| {
            let times = block.iter().flat_map(|it| it.weighted_ms.iter());
            times.map(|&(ms, weight)| (ms, weight, at)).collect::<Vec<_>>()
        };
        let mut all: Vec<(f64, f64, usize)> = blocks.iter().enumerate().flat_map(of_block).collect();
        all.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let mut weights = vec![0.0; blocks.len()];
        all.iter().for_each(|&(_, weight, block)| weights[block] += weight);
        Self { all, weights }
    }

    /// The response times at the quantiles that chance may turn this one into. If response times have a gap there, leaving out a block
    /// need not cross it (Woodruff, "Confidence intervals for medians and other position measures", 1952).
    fn around_ms(&self, quantile: f64) -> Option<(f64, f64)> {
        let responses = self.weights.iter().sum::<f64>();
        let margin = DEVIATIONS * (quantile * (1.0 - quantile) / responses).sqrt();
        let at = |quantile: f64| self.quantile_ms(quantile.clamp(0.0, 1.0), None);
        Some((at(quantile - margin)?, at(quantile + margin)?))
    }

    /// The quantile without block `left_out`, `None` leaving no block out. Returns `None` if no response is left.
    pub fn quantile_ms(&self, quantile: f64, left_out: Option<usize>) -> Option<f64> {
        let is_kept = |block: usize| Some(block) != left_out;
        let kept = self.weights.iter().enumerate().filter(|(block, _)| is_kept(*block));
        let wanted = quantile * kept.map(|(_, weight)| weight).sum::<f64>();
        let mut reached = 0.0;
        let mut last = None;
        for &(ms, weight, _) in self.all.iter().filter(|(_, _, block)| is_kept(*block)) {
            reached += weight;
            last = Some(ms);
            if reached >= wanted {
                break;
            }
        }
        last
    }
}

/// The ratio of a quantile under two treatments; `None` if a treatment has no response.
#[must_use]
pub(super) fn quantile_ratio(
    treatment: &SortedTimes,
    baseline: &SortedTimes,
    quantile: f64,
) -> Option<CrossoverRatio> {
    let found = jackknife(treatment.weights.len().min(baseline.weights.len()), |left_out| {
        let quantile_ms = |times: &SortedTimes| times.quantile_ms(quantile, left_out);
        Some((quantile_ms(treatment)? / quantile_ms(baseline)?).ln())
    })?;
    let (treated, untreated) = (treatment.around_ms(quantile)?, baseline.around_ms(quantile)?);
    Some(found.reaching(treated.0 / untreated.1, treated.1 / untreated.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use threadcount_model::comparison::Verdict;

    fn times(ms: &[f64]) -> ResponseTimes {
        ResponseTimes { weighted_ms: ms.iter().map(|&ms| (ms, 1.0)).collect() }
    }

    fn sorted(times: &[ResponseTimes]) -> SortedTimes {
        SortedTimes::of(&times.iter().map(|it| vec![it]).collect::<Vec<_>>())
    }

    #[test]
    fn a_quantile_is_that_of_all_responses_and_not_a_mean_of_those_of_blocks() {
        let (usual, slow) = (times(&[10.0; 99]), times(&[900.0; 99]));
        let mut with_a_slow_block = vec![usual.clone(); 9];
        with_a_slow_block.push(slow);
        let found = quantile_ratio(&sorted(&with_a_slow_block), &sorted(&vec![usual; 10]), 0.99).unwrap();
        assert!((found.ratio - 90.0).abs() < 1e-9, "{found:?}");
        assert_eq!(found.verdict, Verdict::NotEnoughRuns, "one block makes it");
    }

    #[test]
    fn a_p99_at_a_gap_has_both_of_its_sides_in_its_interval() {
        // One in a hundred takes 500 ms, by chance a few more under the treatment.
        let block = |slow: usize| times(&[vec![10.0; 6_000 - slow], vec![500.0; slow]].concat());
        let of = |slow: usize| sorted(&vec![block(slow); 8]);
        let found = quantile_ratio(&of(62), &of(58), 0.99).unwrap();
        let interval = found.interval.unwrap();
        assert!(interval.low <= 1.0 && interval.high > 49.9, "{found:?}");
        assert_eq!(found.verdict, Verdict::NotEnoughRuns);
    }

    #[test]
    fn blocks_that_agree_have_a_narrow_interval_and_few_have_none() {
        let of = |ms: f64| -> Vec<ResponseTimes> {
            (0..8).map(|at| times(&[ms + 0.1 * f64::from(at % 3); 50])).collect()
        };
        let (own, other) = (of(10.0), of(30.0));
        let found = quantile_ratio(&sorted(&other), &sorted(&own), 0.5).unwrap();
        assert!((found.ratio - 3.0).abs() < 0.03 && found.verdict == Verdict::Higher, "{found:?}");
        let few = quantile_ratio(&sorted(&other[..3]), &sorted(&own[..3]), 0.5).unwrap();
        assert_eq!((few.interval, few.verdict), (None, Verdict::NotEnoughRuns));
        assert_eq!(quantile_ratio(&sorted(&[times(&[])]), &sorted(&[times(&[])]), 0.5), None);
    }
}
