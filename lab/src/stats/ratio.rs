//! The ratio of two variants' figures with its confidence interval, and what may be said of it.
//!
//! The unit of observation is the run (one fresh process), never the request: requests of one run share its JIT
//! decisions, its heap layout and its neighbours, and taking them for independent makes intervals of nothing
//! (Kalibera & Jones, "Rigorous benchmarking in reasonable time", ISMM 2013). With few runs the mean's distribution
//! is Student's t (Georges, Buytaert & Eeckhout, "Statistically rigorous Java performance evaluation", OOPSLA 2007,
//! section 3.2). Two variants have different variances, so it is Welch's form of it ("The generalization of Student's
//! problem", Biometrika 34, 1947), on the logarithms of the figures: their difference is the logarithm of a ratio, noise
//! in performance is multiplicative, and the interval of the ratio and of its inverse are the same. From eight runs on
//! each side on, a studentised bootstrap over the runs (`ratio/bootstrap.rs`) widens it where the noise is skewed.
//!
//! Who looks after each round whether the answer is clear, and stops when it is, finds differences that are none: each
//! look is another chance to be wrong. So the 5 % are shared among the looks (Bonferroni): with five looks each interval
//! is one of 99 %, and all of them together hold the truth in at least 95 % of experiments, whenever one stops and
//! for whatever reason (repeated confidence intervals: Jennison & Turnbull, JRSS B 51, 1989).
//!
//! Each ratio has 95 %: of twenty metrics without a difference about one will look different. Read a verdict with
//! its interval, and the rate before the rest.

mod bootstrap;
mod interval;
mod side;

pub(super) use interval::t_quantile;

use crate::model::result::{Interval, Ratio, Verdict};
use interval::interval;
use side::Side;

/// How sure an interval is.
pub const CONFIDENCE: f64 = 0.95;
/// A ratio nearer to 1 than this is no difference that anybody should act on.
pub const MARGIN: f64 = 0.02;
/// An interval that rules out differences larger than this, and none, says "no difference larger than"; a wider one
/// says too little to be a verdict.
pub const WIDEST: f64 = 0.10;
/// More runs than this are never advised.
const MOST_RUNS: u32 = 1_000;

/// A ratio and what may be said of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// Mean of one side by mean of the other.
    pub ratio: f64,
    /// Where the ratio lies; `None`: fewer than two runs on a side, or a figure that is not above zero.
    pub interval: Option<Interval>,
    /// What may be said.
    pub verdict: Verdict,
}

/// The ratio of two variants' figures, one figure per run, where the session looks so many times whether it may stop. `step`
/// is the smallest difference the figure can show (1 for a number of threads, 0 where only the relative precision counts).
///
/// `None` where there is no figure on a side or the baseline's mean is zero.
#[must_use]
pub fn ratio_of_looks(variant: &[f64], baseline: &[f64], step: f64, looks: usize) -> Option<Estimate> {
    let ratio = super::runs::mean(variant)? / super::runs::mean(baseline)?;
    if !ratio.is_finite() {
        return None;
    }
    let sides = Side::of(variant, step).zip(Side::of(baseline, step));
    let interval = sides.and_then(|(a, b)| interval(&a, &b, alpha(looks), CONFIDENCE));
    Some(Estimate { ratio, interval, verdict: interval.map_or(Verdict::NotEnoughRuns, verdict) })
}

/// The same, looked at once.
#[cfg(test)]
fn ratio(variant: &[f64], baseline: &[f64], step: f64) -> Option<Estimate> {
    ratio_of_looks(variant, baseline, step, 1)
}

/// The chance of an error that each of so many looks may take.
pub(super) fn alpha(looks: usize) -> f64 {
    (1.0 - CONFIDENCE) / looks.max(1) as f64
}

/// What an interval lets us say. An interval that lies wholly within the margin is no difference, even where it
/// excludes 1: a difference of half a per cent may be sure and still be none. One that holds 1 says how large a
/// difference could be at most, unless that is too large to be worth saying.
fn verdict(interval: Interval) -> Verdict {
    match interval {
        _ if interval.largest_difference() <= MARGIN => Verdict::NoDifference,
        Interval { low, .. } if low > 1.0 => Verdict::Higher,
        Interval { high, .. } if high < 1.0 => Verdict::Lower,
        _ if interval.largest_difference() <= WIDEST => Verdict::NoDifference,
        _ => Verdict::NotEnoughRuns,
    }
}

impl Interval {
    /// The largest difference that it does not rule out, up or down: 0.05 for 5 %.
    #[must_use]
    pub fn largest_difference(&self) -> f64 {
        self.high.max(1.0 / self.low) - 1.0
    }

    /// How far the ratio may lie from the middle of the interval, as a part of it: 0.02 for 2 %.
    #[must_use]
    pub fn half_width(&self) -> f64 {
        (self.high / self.low).sqrt() - 1.0
    }
}

/// About how many more runs of each variant would let something be said of a ratio of which nothing can be said yet,
/// if they are as noisy as those there are. `None` where something is said, or where there is no interval to judge by.
#[must_use]
pub fn more_runs(ratio: &Ratio) -> Option<u32> {
    let interval = ratio.interval.filter(|_| ratio.verdict == Verdict::NotEnoughRuns)?;
    let runs = ratio.runs.0.min(ratio.runs.1).max(2);
    let centre = f64::midpoint(interval.low.ln(), interval.high.ln()).abs();
    let half_width = (interval.high.ln() - interval.low.ln()) / 2.0;
    // Narrow enough to exclude 1, or to hold it and to lie within the widest bound: whichever comes first.
    let wanted = centre.max((1.0 + WIDEST).ln() - centre);
    let width_of = |runs: u32| {
        let quantile = t_quantile(2.0 * f64::from(runs) - 2.0, 0.5 + interval.confidence / 2.0);
        quantile.map(|quantile| quantile / f64::from(runs).sqrt())
    };
    let now = width_of(runs)?;
    let enough = (runs + 1..MOST_RUNS)
        .find(|&more| width_of(more).is_some_and(|then| half_width * then / now <= wanted));
    Some(enough.unwrap_or(MOST_RUNS) - runs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::metric::Metric;

    fn verdict_of(variant: &[f64], baseline: &[f64], step: f64) -> Verdict {
        ratio(variant, baseline, step).expect("an estimate").verdict
    }

    #[test]
    fn the_interval_is_welchs_as_computed_by_hand() {
        // Logarithms 1, 2, 3 and 2, 4, 6: variances 1 and 4, squared errors 1/3 and 4/3, their sum 5/3,
        // freedom (5/3)^2 / ((1/3)^2/2 + (4/3)^2/2) = 2.941..., t(0.975) = 3.218759 (Simpson integration of the density).
        let of = |values: [f64; 3]| values.map(f64::exp);
        let estimate = ratio(&of([1.0, 2.0, 3.0]), &of([2.0, 4.0, 6.0]), 0.0).expect("an estimate");
        let interval = estimate.interval.expect("an interval");
        let half_width = (interval.high.ln() - interval.low.ln()) / 2.0;
        assert!(((interval.low.ln() + interval.high.ln()) / 2.0 + 2.0).abs() < 1e-9);
        assert!(
            (half_width / (5.0_f64 / 3.0).sqrt() - 3.218_759).abs() < 1e-5,
            "{}",
            half_width / (5.0_f64 / 3.0).sqrt()
        );
    }

    #[test]
    fn the_inverse_ratio_has_the_inverse_interval() {
        let (a, b) = ([7800.0, 7900.0, 7850.0], [3960.0, 3950.0, 3975.0]);
        let one = ratio(&a, &b, 0.0).and_then(|estimate| estimate.interval).expect("an interval");
        let other = ratio(&b, &a, 0.0).and_then(|estimate| estimate.interval).expect("an interval");
        assert!((one.low * other.high - 1.0).abs() < 1e-12 && (one.high * other.low - 1.0).abs() < 1e-12);
    }

    #[test]
    fn a_clear_difference_is_higher_or_lower() {
        let (virtual_rate, platform_rate) = ([7846.0, 7850.0, 7800.0], [3961.0, 3950.0, 3965.0]);
        assert_eq!(verdict_of(&virtual_rate, &platform_rate, 0.0), Verdict::Higher);
        assert_eq!(verdict_of(&platform_rate, &virtual_rate, 0.0), Verdict::Lower);
    }

    #[test]
    fn a_sure_difference_below_the_margin_is_no_difference() {
        assert_eq!(
            verdict_of(&[1005.0, 1005.1, 1004.9], &[1000.0, 1000.1, 999.9], 0.0),
            Verdict::NoDifference
        );
    }

    #[test]
    fn wide_noise_is_not_enough_runs() {
        assert_eq!(verdict_of(&[900.0, 1200.0], &[1000.0, 1100.0], 0.0), Verdict::NotEnoughRuns);
    }

    #[test]
    fn an_interval_around_one_says_how_large_a_difference_could_be() {
        let estimate = ratio(&[980.0, 1000.0, 1020.0], &[985.0, 1000.0, 1015.0], 0.0).expect("an estimate");
        let interval = estimate.interval.expect("an interval");
        assert_eq!(estimate.verdict, Verdict::NoDifference);
        let largest = interval.largest_difference();
        assert!((0.03..0.05).contains(&largest), "{largest}");
        let known = Interval { low: 0.8, high: 1.25 / 0.8, confidence: 0.95 };
        assert!((known.largest_difference() - 0.5625).abs() < 1e-12, "the wider side counts");
        assert!((known.half_width() - (1.25_f64.sqrt() / 0.8 - 1.0)).abs() < 1e-12);
    }

    #[test]
    fn five_looks_make_each_interval_one_of_99_per_cent() {
        // Freedom 4: t(0.975) = 2.776445, t(0.995) = 4.604095 (printed tables).
        let (a, b) = ([1.0, 2.0, 3.0].map(f64::exp), [2.0, 3.0, 4.0].map(f64::exp));
        let half_width = |looks| {
            let interval = ratio_of_looks(&a, &b, 0.0, looks).and_then(|estimate| estimate.interval);
            interval.map(|interval| (interval.high.ln() - interval.low.ln()) / 2.0).expect("an interval")
        };
        assert!((half_width(5) / half_width(1) - 4.604_095 / 2.776_445).abs() < 1e-5);
    }

    #[test]
    fn an_undecided_ratio_says_how_many_more_runs_it_wants() {
        let of = |low: f64, high: f64, runs, verdict| Ratio {
            metric: Metric::Rate,
            variant_value: 1.0,
            baseline_value: 1.0,
            ratio: 1.0,
            interval: Some(Interval { low, high, confidence: 0.95 }),
            verdict,
            runs: (runs, runs),
        };
        // Half as wide: t falls from 2.776 (n = 3) so that n = 7 is enough: 2.179 / sqrt 7 = 0.824 <= 1.603 / 2 is not,
        // but 8 is: 2.145 / sqrt 8 = 0.758.
        let twice_too_wide = of(1.1_f64.powi(-2), 1.1_f64.powi(2), 3, Verdict::NotEnoughRuns);
        assert_eq!(more_runs(&twice_too_wide), Some(5));
        assert_eq!(more_runs(&of(0.99, 1.01, 3, Verdict::NoDifference)), None);
        assert_eq!(more_runs(&of(1e-9, 1e9, 3, Verdict::NotEnoughRuns)), Some(MOST_RUNS - 3));
    }

    #[test]
    fn one_run_on_a_side_gives_a_ratio_without_an_interval() {
        let estimate = ratio(&[2.0], &[1.0, 1.0], 0.0).expect("an estimate");
        assert_eq!(
            (estimate.ratio, estimate.interval, estimate.verdict),
            (2.0, None, Verdict::NotEnoughRuns)
        );
    }

    #[test]
    fn identical_figures_are_known_no_better_than_their_rounding() {
        assert_eq!(verdict_of(&[100.0; 3], &[100.0; 3], 0.0), Verdict::NoDifference);
        // 27 against 28 threads in two runs each may be one thread that just ended; 27 against 223 may not.
        assert_eq!(verdict_of(&[28.0; 2], &[27.0; 2], 1.0), Verdict::NoDifference);
        assert_eq!(verdict_of(&[27.0; 2], &[223.0; 2], 1.0), Verdict::Lower);
        let interval =
            ratio(&[27.0; 3], &[27.0; 3], 1.0).and_then(|estimate| estimate.interval).expect("an interval");
        assert!(interval.low < 1.0 && interval.high > 1.0);
    }

    #[test]
    fn zeros_and_missing_figures_give_no_impossible_figures() {
        assert_eq!(ratio(&[1.0], &[], 0.0), None);
        assert_eq!(ratio(&[], &[1.0], 0.0), None);
        assert_eq!(ratio(&[1.0, 1.0], &[0.0, 0.0], 0.0), None);
        assert_eq!(ratio(&[0.0, 0.0], &[0.0, 0.0], 0.0), None);
        let estimate = ratio(&[0.0, 0.0], &[1.0, 1.0], 0.0).expect("an estimate");
        assert_eq!(
            (estimate.ratio, estimate.interval, estimate.verdict),
            (0.0, None, Verdict::NotEnoughRuns)
        );
        let estimate = ratio(&[f64::MAX / 4.0, f64::MIN_POSITIVE], &[1.0, 1.0], 0.0).expect("an estimate");
        assert_eq!(estimate.interval, None);
    }
}

#[cfg(test)]
mod simulation;
