//! A crossover: treatments of one subject in periods that alternate (Jones & Kenward, "Design and analysis of cross-over trials",
//! 2014). Here the subject is a JVM, and the treatment is the kind of threads that its requests run on.
//!
//! The unit is the block. Its treatments come in a random order and then in reverse (A B B A), so that a trend that is straight within
//! a block affects all of them alike. A ratio is computed over all blocks together; its spread is that of its logarithm without each
//! block in turn, and its interval is Student's over blocks.
//!
//! Consecutive blocks are alike if the difference itself changes slowly. Their correlation at lag 1 is estimated and corrected for its
//! bias (Kendall, "Note on bias in the estimation of autocorrelation", Biometrika 41, 1954). If it is larger than chance explains, the
//! interval is that of correspondingly fewer blocks. `crossover/simulation.rs` checks the coverage.

pub mod comparison;
pub mod decision;
mod jackknife;
pub mod lost_cpu;
mod quantile;
mod quotient;
mod treated;
pub mod warm_up;

use super::ratio::{CONFIDENCE, verdict};
use super::student::{mean_and_variance, t_quantile, two_sided_tail};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use threadcount_model::comparison::Verdict;
use threadcount_model::interval::Interval;

/// With fewer blocks there is no interval, because nothing is known about their correlation.
pub const LEAST_BLOCKS: usize = 6;
/// Upper bound of the correlation; a larger one would leave nothing to judge by.
const LARGEST_CORRELATION: f64 = 0.8;
/// A change of the effect within a period, or over the blocks, is reported if chance alone shows one this large with at most this
/// probability.
const CHANGE_P: f64 = 0.01;
/// The smallest change that is reported: a ratio of 1.03.
const LEAST_CHANGE: f64 = 0.03;

/// Ratios in two JVMs that are closer to each other than this do not differ.
const BETWEEN_JVMS: f64 = 0.10;

/// One treatment against another over all blocks.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CrossoverRatio {
    /// The ratio over all blocks together.
    pub ratio: f64,
    /// Interval of 95 %; `None` with fewer than [`LEAST_BLOCKS`].
    pub interval: Option<Interval>,
    /// The verdict by this interval and among all figures of the crossover.
    pub verdict: Verdict,
    /// Two-sided p-value against no difference; `None` without an interval.
    pub p_value: Option<f64>,
    /// Number of blocks.
    pub blocks: usize,
    /// The ratio in each of two JVMs, if these are farther apart than their intervals explain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub differing_jvms: Option<[f64; 2]>,
}

impl CrossoverRatio {
    /// Withholds the verdict, because among all figures of the crossover the difference may be chance.
    const fn withhold(&mut self) {
        if matches!(self.verdict, Verdict::Higher | Verdict::Lower) {
            self.verdict = Verdict::NotEnoughRuns;
        }
    }

    /// This ratio over the blocks of two JVMs, given the ratio in each. If both have an interval, it becomes their geometric mean, with an
    /// interval that contains both. A second JVM may have compiled the same code differently. Two JVMs show whether it did, but are too few
    /// to tell how far off a third may be.
    fn in_two_jvms(self, first: Option<Self>, second: Option<Self>) -> Self {
        let intervals = first.and_then(|it| it.interval).zip(second.and_then(|it| it.interval));
        let (Some((first, second)), Some((one, other))) = (first.zip(second), intervals) else { return self };
        let is_far = (first.ratio / second.ratio).ln().abs() >= BETWEEN_JVMS.ln_1p();
        let differs = is_far && (one.high < other.low || other.high < one.low);
        let both = Self {
            ratio: (first.ratio * second.ratio).sqrt(),
            p_value: first.p_value.zip(second.p_value).map(|(one, other)| one.max(other)),
            blocks: self.blocks,
            differing_jvms: differs.then_some([first.ratio, second.ratio]),
            ..first
        };
        both.reaching(other.low, other.high)
    }

    /// The same ratio with an interval widened to reach from `low` to `high` at least.
    fn reaching(self, low: f64, high: f64) -> Self {
        let wider = |it: Interval| Interval { low: it.low.min(low), high: it.high.max(high), ..it };
        let interval = self.interval.map(wider);
        Self { interval, verdict: interval.map_or(Verdict::NotEnoughRuns, verdict), ..self }
    }
}

/// The ratio with this logarithm, and with an interval from the spread of `differences`, one value per block.
fn of_differences(log_ratio: f64, differences: &[f64]) -> CrossoverRatio {
    let interval = half_width(differences).map(|half_width| Interval {
        low: (log_ratio - half_width).exp(),
        high: (log_ratio + half_width).exp(),
        confidence: CONFIDENCE,
    });
    let interval = interval.filter(|it| it.low > 0.0 && it.high.is_finite());
    let verdict = interval.map_or(Verdict::NotEnoughRuns, verdict);
    let error = error_of_mean(differences).filter(|_| interval.is_some());
    let p_value = error.and_then(|(error, freedom)| two_sided_tail(freedom, log_ratio / error));
    let (ratio, blocks) = (log_ratio.exp(), differences.len());
    CrossoverRatio { ratio, interval, verdict, p_value, blocks, differing_jvms: None }
}

/// Does the ratio depend on the time since the switch? Compares its values in the earlier and the later part of the periods, one of
/// each per block; `None` if no dependence is found.
#[must_use]
pub fn carry_over(earlier: &[f64], later: &[f64]) -> Option<f64> {
    let changes = log_ratios(later, earlier)?;
    let (mean, p_value) = mean_and_p_value(&changes)?;
    (p_value < CHANGE_P && mean.abs() >= LEAST_CHANGE.ln_1p()).then(|| mean.exp())
}

/// The ratio in the later half of the session by that in the earlier half; `None` if no change is found.
#[must_use]
pub fn trend(ratios: &[f64]) -> Option<f64> {
    if ratios.len() < LEAST_BLOCKS {
        return None;
    }
    let half = ratios.len() / 2;
    let (earlier, later) = (&ratios[..half], &ratios[ratios.len() - half..]);
    // Blocks of the two halves are not paired, so the spread of each half counts.
    let mean_and_error = |half: &[f64]| {
        let logs: Vec<f64> = half.iter().map(|it| it.ln()).collect();
        let (mean, variance) = mean_and_variance(&logs)?;
        Some((mean, variance / logs.len() as f64))
    };
    let ((early, early_error), (late, late_error)) = (mean_and_error(earlier)?, mean_and_error(later)?);
    let error = (early_error + late_error).sqrt();
    let p_value = two_sided_tail(2.0 * (half as f64 - 1.0), (late - early) / error)?;
    (p_value < CHANGE_P && (late - early).abs() >= LEAST_CHANGE.ln_1p()).then(|| (late - early).exp())
}

/// A random order for a block: all treatments once, and then in reverse.
#[must_use]
pub fn block_order(treatments: usize, random: &mut super::random::SplitMix64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..treatments).collect();
    for last in (1..treatments).rev() {
        order.swap(last, random.below(last + 1));
    }
    let mirrored: Vec<usize> = order.iter().rev().copied().collect();
    [order, mirrored].concat()
}

fn log_ratios(of: &[f64], by: &[f64]) -> Option<Vec<f64>> {
    let ratios = of.iter().zip(by).map(|(of, by)| (of / by).ln());
    let ratios: Vec<f64> = ratios.collect();
    (!ratios.is_empty() && ratios.iter().all(|it| it.is_finite())).then_some(ratios)
}

fn half_width(differences: &[f64]) -> Option<f64> {
    let (error, freedom) = error_of_mean(differences)?;
    Some(t_quantile(freedom, 1.0 - (1.0 - CONFIDENCE) / 2.0)? * error)
}

fn mean_and_p_value(differences: &[f64]) -> Option<(f64, f64)> {
    let (error, freedom) = error_of_mean(differences)?;
    let mean = super::runs::mean(differences)?;
    Some((mean, two_sided_tail(freedom, mean / error)?))
}

/// The standard error of the blocks' mean, and its degrees of freedom; `None` with fewer than [`LEAST_BLOCKS`].
fn error_of_mean(differences: &[f64]) -> Option<(f64, f64)> {
    if differences.len() < LEAST_BLOCKS {
        return None;
    }
    let blocks = differences.len() as f64;
    let inflation = inflation(differences);
    let (_, variance) = mean_and_variance(differences)?;
    let error = (variance * inflation / blocks).sqrt();
    Some((error, (blocks / inflation - 1.0).max(2.0)))
}

/// The factor by which the variance of the mean exceeds that of as many independent blocks.
fn inflation(differences: &[f64]) -> f64 {
    let blocks = differences.len() as f64;
    let correlation = (lag_1_correlation(differences) + 1.0 / blocks) / (1.0 - 3.0 / blocks);
    if correlation <= 1.0 / blocks.sqrt() {
        return 1.0;
    }
    let correlation = correlation.min(LARGEST_CORRELATION);
    (1.0 + correlation) / (1.0 - correlation)
}

fn lag_1_correlation(differences: &[f64]) -> f64 {
    let mean = super::runs::mean(differences).unwrap_or_default();
    let squares: f64 = differences.iter().map(|it| (it - mean).powi(2)).sum();
    let products: f64 = differences.windows(2).map(|pair| (pair[0] - mean) * (pair[1] - mean)).sum();
    if squares > 0.0 { products / squares } else { 0.0 }
}

#[cfg(test)]
mod lost_cpu_simulation;
#[cfg(test)]
mod simulation;

#[cfg(test)]
mod tests {
    use super::quotient::{Quotient, ratio};
    use super::*;
    use crate::random::SplitMix64;

    /// Rates measured over one second each.
    fn rates(values: &[f64]) -> Vec<Quotient> {
        values.iter().map(|&of| Quotient { of, by: 1.0 }).collect()
    }

    fn exp(logs: &[f64]) -> Vec<f64> {
        logs.iter().map(|it| it.exp()).collect()
    }

    #[test]
    fn the_interval_is_students_over_the_blocks_as_computed_by_hand() {
        // 1, -1, 2, -2, 3, -3 hundredths: mean 0, variance 28/5 e-4, no correlation above chance, t(0.975; 5) = 2.570582. Without a block
        // that is x above the mean, the mean of the five others is x / 5 below it: a pseudo-value of x, but for a thousandth.
        let found = ratio(&rates(&[1.01, 0.99, 1.02, 0.98, 1.03, 0.97]), &rates(&[1.0; 6])).unwrap();
        let half_width = 2.570_582 * (28e-4_f64 / 5.0 / 6.0).sqrt();
        assert!((found.ratio - 1.0).abs() < 1e-12 && found.blocks == 6);
        assert!((found.interval.unwrap().high.ln() - half_width).abs() < 1e-4, "{found:?}");
    }

    #[test]
    fn a_throughput_is_that_of_all_seconds_and_one_bad_second_of_ten_costs_a_tenth() {
        let mut with_a_stall = vec![1_000.0; 10];
        with_a_stall[4] = 0.0;
        let found = ratio(&rates(&with_a_stall), &rates(&[1_000.0; 10])).unwrap();
        assert!((found.ratio - 0.9).abs() < 1e-12 && found.interval.is_some(), "{found:?}");
        let long = [Quotient { of: 3_000.0, by: 3.0 }, Quotient { of: 0.0, by: 1.0 }];
        assert!((Quotient::pooled(&long, None) - 750.0).abs() < 1e-9);
    }

    #[test]
    fn blocks_that_are_alike_one_after_the_other_count_as_fewer() {
        let (apart, together) =
            ([1.0, 2.0, 1.0, 2.0, 1.0, 2.0, 1.0, 2.0], [1.0, 1.0, 1.0, 1.0, 2.0, 2.0, 2.0, 2.0]);
        let width = |ratios: &[f64]| {
            let interval = ratio(&rates(ratios), &rates(&[1.0; 8])).unwrap().interval.unwrap();
            (interval.high / interval.low).ln()
        };
        assert!(width(&together) > 2.0 * width(&apart), "{} {}", width(&together), width(&apart));
    }

    #[test]
    fn few_blocks_have_no_interval_and_nothing_at_all_has_no_ratio() {
        let few = ratio(&rates(&[2.0; 5]), &rates(&[1.0; 5])).unwrap();
        assert_eq!((few.interval, few.verdict), (None, Verdict::NotEnoughRuns));
        assert!((few.ratio - 2.0).abs() < 1e-12);
        assert_eq!(ratio(&rates(&[0.0; 8]), &rates(&[1.0; 8])), None);
        assert_eq!(ratio(&[], &[]), None);
        let mut of_one_block = [0.0; 8];
        of_one_block[2] = 8.0;
        let found = ratio(&rates(&of_one_block), &rates(&[1.0; 8])).unwrap();
        assert_eq!((found.interval, found.verdict), (None, Verdict::NotEnoughRuns), "all rests on one");
    }

    #[test]
    fn an_order_is_balanced_and_its_second_half_is_the_reverse_of_its_first() {
        let mut random = SplitMix64(1);
        let mut first = [0; 3];
        for _ in 0..300 {
            let order = block_order(3, &mut random);
            assert!(order.iter().eq(order.iter().rev()), "{order:?}");
            let mut half = order[..3].to_vec();
            half.sort_unstable();
            assert_eq!(half, [0, 1, 2]);
            first[order[0]] += 1;
        }
        assert!(first.iter().all(|count| (70..130).contains(count)), "{first:?}");
    }

    #[test]
    fn an_effect_that_depends_on_the_time_since_the_switch_is_reported_and_noise_is_not() {
        let noise = [0.01, -0.01, 0.005, -0.02, 0.015, 0.0, -0.005, 0.01];
        let with = |shift: f64| exp(&noise.map(|it| it + shift));
        let changed = carry_over(&exp(&[0.0; 8]), &with(0.1)).unwrap();
        assert!((changed.ln() - 0.1).abs() < 0.01);
        assert_eq!(carry_over(&exp(&[0.0; 8]), &with(0.0)), None);
        assert_eq!(carry_over(&[1.0; 8], &[1.001; 8]), None, "sure and small");
    }

    #[test]
    fn an_effect_that_changes_over_the_session_is_reported_and_noise_is_not() {
        let noise = [0.01, -0.01, 0.005, -0.02, 0.015, 0.0, -0.005, 0.01];
        let rising: Vec<f64> = noise.iter().zip(0..).map(|(it, at)| it + 0.03 * f64::from(at)).collect();
        assert!(trend(&exp(&rising)).is_some_and(|it| it > 1.08));
        assert_eq!(trend(&exp(&noise)), None);
    }
}
