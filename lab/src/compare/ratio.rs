//! The ratio of two variants' figures with its confidence interval, and what may be said of it.
//!
//! The unit of observation is the run (one fresh process), never the request: requests of one run share its JIT
//! decisions, its heap layout and its neighbours, and taking them for independent makes intervals of nothing
//! (Kalibera & Jones, "Rigorous benchmarking in reasonable time", ISMM 2013). With few runs the mean's distribution
//! is Student's t (Georges, Buytaert & Eeckhout, "Statistically rigorous Java performance evaluation", OOPSLA 2007,
//! section 3.2). Two variants have different variances, so it is Welch's form of it ("The generalization of Student's
//! problem", Biometrika 34, 1947), on the logarithms of the figures: their difference is the logarithm of a ratio, noise
//! in performance is multiplicative, and the interval of the ratio and of its inverse are the same.
//!
//! Each ratio has 95 %: of twenty metrics without a difference about one will look different. Read a verdict with
//! its interval, and the rate before the rest.

use crate::result::{Interval, Verdict};
use statrs::distribution::{ContinuousCDF, StudentsT};

/// How sure an interval is.
pub const CONFIDENCE: f64 = 0.95;
/// A ratio nearer to 1 than this is no difference that anybody should act on.
pub const MARGIN: f64 = 0.02;
/// The histogram keeps three digits of a time, and no other figure is known better.
const RELATIVE_STEP: f64 = 0.001;

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

/// The ratio of two variants' figures, one figure per run. `step` is the smallest difference the figure can show (1
/// for a number of threads, 0 where only the relative precision counts).
///
/// `None` where there is no figure on a side or the baseline's mean is zero.
#[must_use]
pub fn ratio(variant: &[f64], baseline: &[f64], step: f64) -> Option<Estimate> {
    let ratio = super::runs::mean(variant)? / super::runs::mean(baseline)?;
    if !ratio.is_finite() {
        return None;
    }
    let interval = Side::of(variant, step).zip(Side::of(baseline, step)).and_then(|(a, b)| interval(a, b));
    Some(Estimate { ratio, interval, verdict: interval.map_or(Verdict::NotEnoughRuns, verdict) })
}

/// What an interval lets us say. An interval that lies wholly within the margin is no difference, even where it
/// excludes 1: a difference of half a per cent may be sure and still be none.
fn verdict(interval: Interval) -> Verdict {
    let within = interval.low >= 1.0 / (1.0 + MARGIN) && interval.high <= 1.0 + MARGIN;
    match interval {
        _ if within => Verdict::NoDifference,
        Interval { low, .. } if low > 1.0 => Verdict::Higher,
        Interval { high, .. } if high < 1.0 => Verdict::Lower,
        _ => Verdict::NotEnoughRuns,
    }
}

/// One side's figures on the logarithmic scale.
#[derive(Clone, Copy, Debug)]
struct Side {
    runs: f64,
    mean_ln: f64,
    variance_ln: f64,
}

impl Side {
    /// `None` with fewer than two runs or a figure that has no logarithm.
    fn of(figures: &[f64], step: f64) -> Option<Self> {
        if figures.len() < 2 || figures.iter().any(|&figure| figure <= 0.0 || !figure.is_finite()) {
            return None;
        }
        let runs = figures.len() as f64;
        let mean_ln = figures.iter().map(|figure| figure.ln()).sum::<f64>() / runs;
        let squares: f64 = figures.iter().map(|figure| (figure.ln() - mean_ln).powi(2)).sum();
        let variance_ln = (squares / (runs - 1.0)).max(rounding_variance(mean_ln.exp(), step));
        Some(Self { runs, mean_ln, variance_ln })
    }

    /// The squared standard error of the mean.
    fn error(self) -> f64 {
        self.variance_ln / self.runs
    }
}

/// The variance that rounding alone hides, relative to the figure: that of a uniform distribution as wide as the
/// step, its square by twelve (Sheppard). Without it, runs that happen to agree to the last digit would claim to know
/// the figure exactly.
fn rounding_variance(figure: f64, step: f64) -> f64 {
    (RELATIVE_STEP.powi(2) + (step / figure).powi(2)) / 12.0
}

fn interval(variant: Side, baseline: Side) -> Option<Interval> {
    let (error_a, error_b) = (variant.error(), baseline.error());
    let error = error_a + error_b;
    // Welch-Satterthwaite.
    let freedom =
        error.powi(2) / (error_a.powi(2) / (variant.runs - 1.0) + error_b.powi(2) / (baseline.runs - 1.0));
    let student = StudentsT::new(0.0, 1.0, freedom).ok()?;
    let half_width = student.inverse_cdf(0.5 + CONFIDENCE / 2.0) * error.sqrt();
    let centre = variant.mean_ln - baseline.mean_ln;
    let (low, high) = ((centre - half_width).exp(), (centre + half_width).exp());
    (low.is_finite() && high.is_finite()).then_some(Interval { low, high, confidence: CONFIDENCE })
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert_eq!(verdict_of(&[28.0; 2], &[27.0; 2], 1.0), Verdict::NotEnoughRuns);
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
