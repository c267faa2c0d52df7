//! Do fresh JVMs, with the kind of thread set as a user would set it, confirm what periods inside one JVM showed?

use super::{CrossoverRatio, LEAST_CHANGE};
use crate::ratio::WIDEST;
use threadcount_model::comparison::Ratio;
use threadcount_model::interval::Interval;

/// Whether the JVMs were in a steady state when they were measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Warmth {
    AllWarm,
    /// A fresh JVM was still warming up.
    FreshCold,
    /// The JVM of the crossover was still warming up.
    OneCold,
}

/// Whether fresh JVMs confirm the ratio in one JVM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Agreement {
    /// The ratios differ by no more than their intervals allow, or by less than `LEAST_CHANGE`.
    Agrees,
    Differs(Warmth),
    /// One of the ratios has no interval, or one so wide that nearly everything lies in it.
    Unknown,
}

/// Judges the agreement by both intervals.
#[must_use]
pub fn agreement(one_jvm: &CrossoverRatio, fresh: &Ratio, warmth: Warmth) -> Agreement {
    let half_width = |interval: Interval| (interval.high / interval.low).ln() / 2.0;
    let Some((one, other)) = one_jvm.interval.map(half_width).zip(fresh.interval.map(half_width)) else {
        return Agreement::Unknown;
    };
    let difference = (one_jvm.ratio / fresh.ratio).ln().abs();
    match difference <= one.hypot(other).max(LEAST_CHANGE) {
        true if one.max(other) > WIDEST.ln_1p() => Agreement::Unknown,
        true => Agreement::Agrees,
        false => Agreement::Differs(warmth),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use threadcount_model::comparison::{Basis, Verdict};
    use threadcount_model::metric::Metric;

    fn interval(ratio: f64, half_width: f64) -> Interval {
        Interval { low: ratio * (-half_width).exp(), high: ratio * half_width.exp(), confidence: 0.95 }
    }

    fn between(one: f64, fresh: f64, half_width: f64) -> Agreement {
        with_widths((one, 0.03), (fresh, half_width))
    }

    /// The agreement of two ratios, each given with half the width of its interval.
    fn with_widths((one, one_width): (f64, f64), (fresh, half_width): (f64, f64)) -> Agreement {
        let one = CrossoverRatio {
            ratio: one,
            interval: Some(interval(one, one_width)),
            verdict: Verdict::Higher,
            p_value: None,
            blocks: 12,
        };
        let fresh = Ratio {
            metric: Metric::Rate,
            variant_value: fresh,
            baseline_value: 1.0,
            ratio: fresh,
            interval: Some(interval(fresh, half_width)),
            verdict: Verdict::Higher,
            runs: (3, 3),
            basis: Basis::default(),
        };
        agreement(&one, &fresh, Warmth::AllWarm)
    }

    #[test]
    fn ratios_agree_within_the_width_of_both_intervals() {
        assert_eq!(between(1.10, 1.15, 0.04), Agreement::Agrees);
        assert_eq!(between(1.10, 1.20, 0.04), Agreement::Differs(Warmth::AllWarm));
    }

    #[test]
    fn narrow_intervals_beside_each_other_agree_where_the_ratios_are_as_good_as_one() {
        assert_eq!(with_widths((0.1008, 0.002), (0.1002, 0.001)), Agreement::Agrees);
        let differs = with_widths((0.105, 0.002), (0.1, 0.001));
        assert_eq!(differs, Agreement::Differs(Warmth::AllWarm));
    }

    #[test]
    fn an_interval_in_which_nearly_everything_lies_confirms_nothing() {
        assert_eq!(between(1.60, 1.00, 0.5), Agreement::Unknown);
        assert_eq!(between(1.10, 1.12, 0.09), Agreement::Agrees);
    }
}
