//! Do fresh JVMs, with the kind of thread set as a user would set it, confirm what periods inside one JVM showed?

use super::CrossoverRatio;
use threadcount_model::comparison::Ratio;
use threadcount_model::interval::Interval;

/// What fresh JVMs say of the ratio in one JVM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Agreement {
    /// The ratios differ by no more than their intervals allow.
    Agrees,
    /// They differ, and fresh JVMs were measured while they still warmed up.
    StillWarmingUp,
    /// They differ, and all JVMs were warm.
    Differs,
    /// One of them has no interval.
    Unknown,
}

/// `are_warm`: each of the fresh JVMs was in a steady state when it was measured.
#[must_use]
pub fn agreement(one_jvm: &CrossoverRatio, fresh: &Ratio, are_warm: bool) -> Agreement {
    let half_width = |interval: Interval| (interval.high / interval.low).ln() / 2.0;
    let Some((one, other)) = one_jvm.interval.map(half_width).zip(fresh.interval.map(half_width)) else {
        return Agreement::Unknown;
    };
    let difference = (one_jvm.ratio / fresh.ratio).ln().abs();
    match difference <= one.hypot(other) {
        true => Agreement::Agrees,
        false if are_warm => Agreement::Differs,
        false => Agreement::StillWarmingUp,
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

    fn between(one: f64, fresh: f64, is_warm: bool) -> Agreement {
        let one = CrossoverRatio {
            ratio: one,
            interval: Some(interval(one, 0.03)),
            verdict: Verdict::Higher,
            blocks: 12,
        };
        let fresh = Ratio {
            metric: Metric::Rate,
            variant_value: fresh,
            baseline_value: 1.0,
            ratio: fresh,
            interval: Some(interval(fresh, 0.04)),
            verdict: Verdict::Higher,
            runs: (3, 3),
            basis: Basis::default(),
        };
        agreement(&one, &fresh, is_warm)
    }

    #[test]
    fn ratios_agree_within_the_width_of_both_intervals() {
        assert_eq!(between(1.10, 1.15, true), Agreement::Agrees);
        assert_eq!(between(1.10, 1.20, true), Agreement::Differs);
        assert_eq!(between(1.10, 1.20, false), Agreement::StillWarmingUp);
    }
}
