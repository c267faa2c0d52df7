//! The interval of a ratio: Welch's for few runs; for more, a studentised bootstrap over the runs too, and of the two
//! the wider on each side.

use super::bootstrap;
use super::side::Side;
use crate::model::result::Interval;
use crate::stats::student::t_quantile;

/// With so many runs on each side the bootstrap sees noise that is skewed. With fewer there are too few different
/// draws: of 3 runs only 10. Where the noise is normal, Welch's interval is the truer one, so neither is used alone
/// (`ratio/simulation.rs`).
pub(super) const BOOTSTRAP_FROM: usize = 8;

/// The interval that misses the ratio with probability `alpha`, called one of this `confidence`.
pub(super) fn interval(variant: &Side, baseline: &Side, alpha: f64, confidence: f64) -> Option<Interval> {
    let deviation = student(variant, baseline, alpha)?;
    let (mut below, mut above) = (-deviation, deviation);
    if variant.runs().min(baseline.runs()) >= BOOTSTRAP_FROM {
        let drawn = bootstrap::deviations(variant, baseline, alpha);
        (below, above) = (below.min(drawn.0), above.max(drawn.1));
    }
    let centre = variant.mean - baseline.mean;
    let error = (variant.error + baseline.error).sqrt();
    let (low, high) = ((centre - above * error).exp(), (centre - below * error).exp());
    (low.is_finite() && high.is_finite()).then_some(Interval { low, high, confidence })
}

/// How many standard errors to each side, by Student's t with the freedom of Welch and Satterthwaite.
fn student(variant: &Side, baseline: &Side, alpha: f64) -> Option<f64> {
    let share = |side: &Side| side.error.powi(2) / (side.runs() as f64 - 1.0);
    let freedom = (variant.error + baseline.error).powi(2) / (share(variant) + share(baseline));
    t_quantile(freedom, 1.0 - alpha / 2.0)
}
