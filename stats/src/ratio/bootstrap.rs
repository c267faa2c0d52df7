//! The studentised bootstrap over runs (Efron & Tibshirani, "An introduction to the bootstrap", 1993, section 12.5).
//!
//! As many runs as there are on a side are drawn from them, again and again: how far, in its own standard errors, does the difference
//! in such a draw lie from the true difference in what it was drawn from? Unlike the percentile bootstrap, which forgets that small
//! draws underestimate the variance, this keeps its promise with few runs, and it follows skewed noise: a run can be much slower than
//! the others, but hardly much faster.

use super::side::Side;
use crate::random::SplitMix64;

/// Number of draws: one less than a thousand, so that the quantiles needed are draws and do not lie between two of them.
const DRAWS: usize = 999;
/// The seed is fixed, so that a result always gives the same interval.
const SEED: u64 = 20_240_205;

/// The deviations, in standard errors, below and above which `alpha`/2 of the draws lie.
pub(super) fn deviations(variant: &Side, baseline: &Side, alpha: f64) -> (f64, f64) {
    let mut random = SplitMix64(SEED);
    let mut deviations: Vec<f64> = (0..DRAWS)
        .map(|_| {
            let (variant_mean, variant_error) = drawn(variant, &mut random);
            let (baseline_mean, baseline_error) = drawn(baseline, &mut random);
            (variant_mean - baseline_mean) / (variant_error + baseline_error).sqrt()
        })
        .collect();
    deviations.sort_unstable_by(f64::total_cmp);
    let place = ((alpha / 2.0 * (DRAWS + 1) as f64).round() as usize).clamp(1, DRAWS);
    (deviations[place - 1], deviations[DRAWS - place])
}

/// The mean, relative to the mean of all runs, and the squared standard error of as many runs as there are, drawn from them.
fn drawn(side: &Side, random: &mut SplitMix64) -> (f64, f64) {
    let runs = side.deviations.len();
    let (mut sum, mut squares) = (0.0, 0.0);
    for _ in 0..runs {
        let deviation = side.deviations[random.below(runs)];
        sum += deviation;
        squares += deviation * deviation;
    }
    let count = runs as f64;
    let mean = sum / count;
    let variance = (squares - sum * mean) / (count - 1.0);
    (mean, variance.max(side.rounding) / count)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn side(figures: &[f64]) -> Side {
        Side::of(figures, 0.0).expect("a side")
    }

    #[test]
    fn draws_of_many_normal_runs_deviate_as_students_distribution_does() {
        // Quantiles of the normal distribution as runs: the draws' t statistic has about 78 degrees of freedom.
        use statrs::distribution::{ContinuousCDF, Normal};
        let normal = Normal::new(0.0, 0.03).expect("a distribution");
        let runs: Vec<f64> =
            (1..=40).map(|place| normal.inverse_cdf(f64::from(place) / 41.0).exp()).collect();
        let (below, above) = deviations(&side(&runs), &side(&runs), 0.05);
        assert!((below + 1.99).abs() < 0.25 && (above - 1.99).abs() < 0.25, "{below} {above}");
    }

    #[test]
    fn draws_of_runs_with_a_slow_tail_deviate_further_to_that_side() {
        let mut runs = vec![1_000.0; 12];
        runs.extend([900.0, 850.0, 980.0, 990.0]);
        let even: Vec<f64> = (0..16).map(|place| 1_000.0 + f64::from(place)).collect();
        let (below, above) = deviations(&side(&runs), &side(&even), 0.05);
        assert!(
            above > -below * 1.2,
            "a draw without the slow runs is high and believes itself sure: {below} {above}"
        );
    }

    #[test]
    fn the_same_runs_always_give_the_same_interval() {
        let runs = side(&[1.0, 1.1, 1.2, 1.3, 1.1, 1.0, 0.9, 1.2]);
        assert_eq!(deviations(&runs, &runs, 0.01), deviations(&runs, &runs, 0.01));
    }
}
