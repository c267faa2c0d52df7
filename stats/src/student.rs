//! Student's t: its quantiles, its tail, and the mean difference of two variants in the same rounds ("Student", "The
//! probable error of a mean", Biometrika 6, 1908; B. L. Welch, "The generalization of Student's problem", Biometrika 34,
//! 1947).

use statrs::distribution::{ContinuousCDF, StudentsT};

/// The quantile of Student's distribution.
pub(super) fn t_quantile(freedom: f64, probability: f64) -> Option<f64> {
    StudentsT::new(0.0, 1.0, freedom).ok().map(|student| student.inverse_cdf(probability))
}

/// The probability of being at least this far from zero, on either side; `None` if `deviation` is not a number.
pub(super) fn two_sided_tail(freedom: f64, deviation: f64) -> Option<f64> {
    upper_tail(freedom, deviation.abs()).map(|tail| 2.0 * tail)
}

/// The probability of being at least this far above zero; `None` if `deviation` is not a number.
pub(super) fn upper_tail(freedom: f64, deviation: f64) -> Option<f64> {
    match deviation {
        // The library panics if a figure is infinite or not a number.
        _ if deviation.is_nan() => None,
        f64::INFINITY => Some(0.0),
        f64::NEG_INFINITY => Some(1.0),
        _ => StudentsT::new(0.0, 1.0, freedom).ok().map(|student| student.sf(deviation)),
    }
}

/// From this many rounds on, rounds are blocks. Three differences have two degrees of freedom, whose quantiles are so wide that not
/// even twice the throughput would show; fewer rounds are compared by Welch's t, which is never overconfident if rounds share their
/// noise. The number is fixed before anything is measured.
pub(super) const PAIRED_FROM: usize = 4;

/// The mean difference of two variants' figures, one of each per round, and its standard error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct MeanDifference {
    pub mean: f64,
    error: f64,
    freedom: f64,
}

impl MeanDifference {
    /// Compares figures of the same rounds. `least` is the variance of each side that rounding alone hides. `None` with fewer than two
    /// rounds, or if a figure is not a number.
    pub fn of_rounds(variant: &[f64], baseline: &[f64], least: (f64, f64)) -> Option<Self> {
        let differences: Vec<f64> = variant.iter().zip(baseline).map(|(a, b)| a - b).collect();
        let pairs = differences.len() as f64;
        let (mean, variance) = mean_and_variance(&differences)?;
        if differences.len() >= PAIRED_FROM {
            let error = (variance.max(least.0 + least.1) / pairs).sqrt();
            return Some(Self { mean, error, freedom: pairs - 1.0 });
        }
        let squared_error = |side: &[f64], least: f64| Some(mean_and_variance(side)?.1.max(least) / pairs);
        let (a, b) = (squared_error(variant, least.0)?, squared_error(baseline, least.1)?);
        let shares = (a.powi(2) + b.powi(2)) / (pairs - 1.0);
        let freedom = if shares > 0.0 { (a + b).powi(2) / shares } else { pairs - 1.0 };
        Some(Self { mean, error: (a + b).sqrt(), freedom })
    }

    /// Half the width of the interval that misses the truth with probability `alpha`.
    pub fn half_width(&self, alpha: f64) -> Option<f64> {
        Some(t_quantile(self.freedom, 1.0 - alpha / 2.0)? * self.error)
    }

    /// The probability of a mean at least this far from zero if the truth is zero, at any of `looks` interim analyses; at most 1.
    pub fn p_value(&self, looks: usize) -> Option<f64> {
        if self.error == 0.0 {
            return Some(if self.mean == 0.0 { 1.0 } else { 0.0 });
        }
        let tail = two_sided_tail(self.freedom, self.mean / self.error)?;
        Some((tail * looks.max(1) as f64).min(1.0))
    }
}

/// The mean and the variance; `None` with fewer than two figures, or if a figure is not a number.
pub(crate) fn mean_and_variance(figures: &[f64]) -> Option<(f64, f64)> {
    if figures.len() < 2 || figures.iter().any(|figure| !figure.is_finite()) {
        return None;
    }
    let count = figures.len() as f64;
    let mean = figures.iter().sum::<f64>() / count;
    let squares: f64 = figures.iter().map(|figure| (figure - mean).powi(2)).sum();
    Some((mean, squares / (count - 1.0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mean_difference(variant: &[f64], baseline: &[f64]) -> MeanDifference {
        MeanDifference::of_rounds(variant, baseline, (0.0, 0.0)).expect("a mean difference")
    }

    #[test]
    fn from_four_rounds_on_the_interval_is_that_of_the_paired_t_as_computed_by_hand() {
        // Differences 1, 2, 3, 4: mean 2.5, variance 5/3, error sqrt(5/12), freedom 3: t(0.975) = 3.182446, t(0.995) = 5.840909
        // (printed tables).
        let mean = mean_difference(&[11.0, 22.0, 33.0, 44.0], &[10.0, 20.0, 30.0, 40.0]);
        let width = |alpha| mean.half_width(alpha).expect("a width") / (5.0_f64 / 12.0).sqrt();
        assert!((mean.mean - 2.5).abs() < 1e-12);
        assert!((width(0.05) - 3.182_446).abs() < 1e-5 && (width(0.01) - 5.840_909).abs() < 1e-5);
    }

    #[test]
    fn three_rounds_have_welchs_interval_as_computed_by_hand() {
        // Variances 1 and 4: squared errors 1/3 and 4/3, their sum 5/3, freedom (5/3)^2 / ((1/3)^2/2 + (4/3)^2/2) = 2.941...,
        // t(0.975) = 3.218759 (Simpson integration of the density).
        let mean = mean_difference(&[1.0, 2.0, 3.0], &[2.0, 4.0, 6.0]);
        let width = mean.half_width(0.05).expect("a width") / (5.0_f64 / 3.0).sqrt();
        assert!((width - 3.218_759).abs() < 1e-5, "{width}");
    }

    #[test]
    fn the_p_value_is_the_one_at_which_the_interval_touches_zero() {
        // t = 2.5 / sqrt(5/12) = 3.872983 with 3 degrees of freedom: p = 0.030466 (closed form).
        let mean = mean_difference(&[1.0, 2.0, 3.0, 4.0], &[0.0; 4]);
        let p_value = mean.p_value(1).expect("a probability");
        assert!((p_value - 0.030_466).abs() < 1e-5, "{p_value}");
        assert!((mean.half_width(p_value).expect("a width") - 2.5).abs() < 1e-6);
        assert!((mean.p_value(5).expect("a probability") - 5.0 * p_value).abs() < 1e-12);
        assert_eq!(mean.p_value(50), Some(1.0));
    }

    #[test]
    fn no_rounds_no_mean_and_rounding_is_the_least_noise_there_is() {
        let none = |figures: &[f64]| MeanDifference::of_rounds(figures, &[1.0, 1.0], (0.0, 0.0)).is_none();
        assert!(none(&[1.0]) && none(&[1.0, f64::NAN]));
        let exact = mean_difference(&[0.0; 4], &[0.0; 4]);
        assert_eq!((exact.half_width(0.05), exact.p_value(1)), (Some(0.0), Some(1.0)));
        let rounded = MeanDifference::of_rounds(&[0.0; 4], &[0.0; 4], (1.0, 3.0)).expect("a mean");
        assert!((rounded.half_width(0.05).expect("a width") - 3.182_446).abs() < 1e-5);
    }
}
