//! The interval of a ratio: Welch's for few runs; for more runs the wider one, on each side, of Welch's and a studentised bootstrap
//! over the runs.

use super::bootstrap;
use super::side::Side;
use crate::student::{t_quantile, two_sided_tail, upper_tail};
use threadcount_model::interval::Interval;

/// From this many runs on each side, the bootstrap sees skewed noise. With fewer there are too few different draws: only 10 of 3 runs.
/// If the noise is normal, Welch's interval is truer, so neither is used alone (`ratio/simulation.rs`).
pub(super) const BOOTSTRAP_FROM: usize = 8;

/// The interval that misses the ratio with probability `alpha`, labelled with this `confidence`.
pub(super) fn interval(variant: &Side, baseline: &Side, alpha: f64, confidence: f64) -> Option<Interval> {
    let (below, above) = reach(variant, baseline, alpha)?;
    let centre = variant.mean - baseline.mean;
    let error = (variant.error + baseline.error).sqrt();
    let (low, high) = ((centre - above * error).exp(), (centre - below * error).exp());
    (low.is_finite() && high.is_finite()).then_some(Interval { low, high, confidence })
}

/// The probability of a ratio at least this far from 1 if there is no difference: below `alpha` exactly if the interval excludes 1.
/// There are too few draws to show smaller probabilities; there the tail is taken to be Student's, widened as much as at `alpha`.
pub(super) fn p_value(variant: &Side, baseline: &Side, alpha: f64) -> Option<f64> {
    let freedom = freedom(variant, baseline);
    let (below, above) = reach(variant, baseline, alpha)?;
    let deviation = (variant.mean - baseline.mean) / (variant.error + baseline.error).sqrt();
    let reach = if deviation > 0.0 { above } else { -below };
    two_sided_tail(freedom, deviation * t_quantile(freedom, 1.0 - alpha / 2.0)? / reach)
}

/// The probability of a ratio at least this far above `limit` if the limit is the truth: below `alpha` exactly if the interval of 1 - 2
/// `alpha` lies above it. There are too few draws to show smaller probabilities, see [`p_value`].
pub(super) fn p_value_above(variant: &Side, baseline: &Side, limit: f64, alpha: f64) -> Option<f64> {
    let freedom = freedom(variant, baseline);
    let (below, above) = reach(variant, baseline, 2.0 * alpha)?;
    let error = (variant.error + baseline.error).sqrt();
    let deviation = (variant.mean - baseline.mean - limit.ln()) / error;
    let reach = if deviation > 0.0 { above } else { -below };
    upper_tail(freedom, deviation * t_quantile(freedom, 1.0 - alpha)? / reach)
}

/// How many standard errors the interval reaches below and above.
fn reach(variant: &Side, baseline: &Side, alpha: f64) -> Option<(f64, f64)> {
    let student = t_quantile(freedom(variant, baseline), 1.0 - alpha / 2.0)?;
    if variant.runs().min(baseline.runs()) < BOOTSTRAP_FROM {
        return Some((-student, student));
    }
    let drawn = bootstrap::deviations(variant, baseline, alpha);
    Some((drawn.0.min(-student), drawn.1.max(student)))
}

/// The degrees of freedom by Welch and Satterthwaite.
fn freedom(variant: &Side, baseline: &Side) -> f64 {
    let share = |side: &Side| side.error.powi(2) / (side.runs() as f64 - 1.0);
    (variant.error + baseline.error).powi(2) / (share(variant) + share(baseline))
}
