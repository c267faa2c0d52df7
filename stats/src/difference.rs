//! Figures that may be zero have no ratio, so their difference is compared, round by round, by Student's interval or (with fewer than
//! four rounds) Welch's. A pause that never happened in any run is known, not unknown.

use super::ratio::{CONFIDENCE, MARGIN, RELATIVE_STEP, alpha};
use super::runs::mean;
use super::student::MeanDifference;
use threadcount_model::comparison::Verdict;
use threadcount_model::interval::Interval;

/// variant - baseline, with its interval and verdict.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DifferenceEstimate {
    /// Mean of one side less the mean of the other.
    pub difference: f64,
    /// Interval of the difference; `None` with fewer than two pairs.
    pub interval: Option<Interval>,
    /// The probability of such a difference if there is none.
    pub p_value: Option<f64>,
    /// The conclusion that the interval allows.
    pub verdict: Verdict,
}

/// The difference of two variants' figures, one of each in every round, in a session of `analyses` interim analyses. `step` is the
/// smallest difference the figure can show. `None` if a side has no figure.
#[must_use]
pub fn difference(
    variant: &[f64],
    baseline: &[f64],
    step: f64,
    analyses: usize,
) -> Option<DifferenceEstimate> {
    let (variant_mean, baseline_mean) = (mean(variant)?, mean(baseline)?);
    let least = (rounding(variant, variant_mean, step), rounding(baseline, baseline_mean, step));
    let paired = MeanDifference::of_rounds(variant, baseline, least);
    let interval = paired.and_then(|paired| {
        let half_width = paired.half_width(alpha(analyses))?;
        let (low, high) = (paired.mean - half_width, paired.mean + half_width);
        (low.is_finite() && high.is_finite()).then_some(Interval { low, high, confidence: CONFIDENCE })
    });
    let largest = variant_mean.abs().max(baseline_mean.abs());
    Some(DifferenceEstimate {
        difference: variant_mean - baseline_mean,
        interval,
        p_value: paired.filter(|_| interval.is_some()).and_then(|paired| paired.p_value(analyses)),
        verdict: interval.map_or(Verdict::NotEnoughRuns, |interval| verdict(interval, MARGIN * largest)),
    })
}

/// The variance that rounding hides; 0 if all figures are zero, because zero is exact.
fn rounding(figures: &[f64], mean: f64, step: f64) -> f64 {
    if figures.iter().all(|&figure| figure == 0.0) {
        return 0.0;
    }
    ((RELATIVE_STEP * mean).powi(2) + step.powi(2)) / 12.0
}

fn verdict(interval: Interval, margin: f64) -> Verdict {
    match interval {
        Interval { low, high, .. } if low >= -margin && high <= margin => Verdict::NoDifference,
        Interval { low, .. } if low > 0.0 => Verdict::Higher,
        Interval { high, .. } if high < 0.0 => Verdict::Lower,
        _ => Verdict::NotEnoughRuns,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict_of(variant: &[f64], baseline: &[f64]) -> Verdict {
        difference(variant, baseline, 0.0, 1).expect("an estimate").verdict
    }

    #[test]
    fn a_variant_that_never_pauses_pauses_less_than_one_that_does() {
        assert_eq!(verdict_of(&[0.0; 3], &[12.0, 14.0, 13.0]), Verdict::Lower);
        assert_eq!(verdict_of(&[12.0, 14.0, 13.0], &[0.0; 3]), Verdict::Higher);
        assert_eq!(verdict_of(&[0.0; 3], &[0.0; 3]), Verdict::NoDifference);
    }

    #[test]
    fn one_pause_in_three_runs_is_no_difference_yet() {
        assert_eq!(verdict_of(&[0.0, 0.0, 9.0], &[0.0; 3]), Verdict::NotEnoughRuns);
        assert_eq!(verdict_of(&[0.0], &[12.0]), Verdict::NotEnoughRuns, "one run has no interval");
    }

    #[test]
    fn the_interval_is_students_as_computed_by_hand() {
        // Differences 1, 2, 3: squared error 1/3, freedom 2: t(0.975) = 4.302653 (printed tables).
        let estimate = difference(&[1.0, 2.0, 3.0], &[0.0; 3], 0.0, 1).expect("an estimate");
        let interval = estimate.interval.expect("an interval");
        assert_eq!(estimate.difference, 2.0);
        assert!((interval.high - 2.0 - 4.302_653 / 3.0_f64.sqrt()).abs() < 1e-5, "{interval:?}");
    }

    #[test]
    fn without_figures_there_is_no_difference_to_estimate() {
        assert_eq!(difference(&[], &[1.0], 0.0, 1), None);
        assert_eq!(difference(&[f64::NAN, 1.0], &[1.0, 1.0], 0.0, 1).and_then(|it| it.interval), None);
    }
}
