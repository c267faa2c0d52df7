//! Decides which figures a finding may call the same.

use threadcount_model::interval::Interval;
use threadcount_stats::ratio::MARGIN;

/// Two figures are the same if the interval of their ratio lies within this factor of 1.
const ALIKE: f64 = 1.1;

/// No difference is proven, and none that matters is possible.
pub(crate) fn is_alike(ratio: &Interval) -> bool {
    ratio.low >= 1.0 / ALIKE && ratio.high <= ALIKE && ratio.low <= 1.0 + MARGIN && ratio.high >= 1.0 - MARGIN
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_alike_within_a_tenth_unless_a_difference_is_proven() {
        let are_alike = |low, high| is_alike(&Interval { low, high, confidence: 0.95 });
        assert!(are_alike(0.95, 1.03) && are_alike(0.91, 1.1));
        assert!(!are_alike(0.85, 1.03) && !are_alike(0.97, 1.2), "it may be more than a tenth");
        assert!(!are_alike(1.03, 1.09) && !are_alike(0.92, 0.97), "a proven difference");
    }
}
