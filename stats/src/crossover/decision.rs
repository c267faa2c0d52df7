//! The decision of a crossover: one word from the ratios of throughput, median and p99, by one rule.
//!
//! | throughput, median, p99 | decision |
//! |---|---|
//! | one is better by at least 5 %, none is worse | Yes |
//! | one is worse by at least 5 %, none is better | No |
//! | both | A trade |
//! | all are the same | No difference |
//! | Yes or a trade, but a pool of n threads is at least as good | Only the number |
//! | otherwise | Not known yet |
//!
//! A figure is better or worse if its verdict says so and its ratio is at least 5 % away from 1. It is the same if its verdict says so, or
//! if the difference is sure and smaller. Under a closed load the throughput must be known, otherwise the median; and two JVMs may not contradict
//! each other in any of the three. At a requested rate the throughput is given, and the response times alone decide.

use super::CrossoverRatio;
use super::comparison::{CrossoverDocument, TreatmentComparison};
use threadcount_model::comparison::Verdict;
use threadcount_model::crossover::Treatment;

/// The smallest difference that matters to a decision: a ratio of 1.05.
const MATTERS: f64 = 0.05;

/// The decision about one kind of thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// It is better than the baseline, and in nothing worse.
    Yes,
    /// It is worse than the baseline, and in nothing better.
    No,
    /// It is better in one figure and worse in another.
    Trade,
    /// It is the same in everything that was compared.
    NoDifference,
    /// It helps, but a pool of this many platform threads helps as much.
    OnlyTheNumber(u32),
    /// Nothing is shown, and longer periods may show it.
    NotKnownYet,
}

/// One figure against the baseline's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Effect {
    Better,
    Worse,
    Same,
    /// It may be either way.
    Unknown,
    /// It differs between two JVMs, so that a third one may be on either side.
    Contradicted,
}

impl Effect {
    fn new(ratio: &CrossoverRatio, is_lower_better: bool) -> Self {
        let is_large = ratio.ratio.ln().abs() >= MATTERS.ln_1p();
        match ratio.verdict {
            Verdict::Higher | Verdict::Lower if is_large => {
                if (ratio.verdict == Verdict::Lower) == is_lower_better { Self::Better } else { Self::Worse }
            }
            Verdict::Higher | Verdict::Lower | Verdict::NoDifference => Self::Same,
            Verdict::NotEnoughRuns if ratio.differing_jvms.is_some() => Self::Contradicted,
            Verdict::NotEnoughRuns => Self::Unknown,
        }
    }
}

/// The decision about `treatment`; `None` if it was not compared. Only pools with figures that describe all of their requests (`is_fit`)
/// can be as good as virtual threads.
#[must_use]
pub fn decision(
    document: &CrossoverDocument,
    treatment: Treatment,
    is_fit: impl Fn(Treatment) -> bool,
) -> Option<Decision> {
    let is_open = document.crossover.rate_per_s.is_some();
    let compared = document.comparisons.iter().find(|it| it.treatment == treatment)?;
    let by_itself = of_one_pair(compared, is_open);
    let helps = matches!(by_itself, Decision::Yes | Decision::Trade);
    let pools = document.against_pools.iter().filter(|it| {
        helps
            && it.comparison.treatment == treatment
            && is_fit(Treatment::Platform { threads: it.pool_threads })
    });
    let as_good = pools.filter_map(|pool| {
        let pair = of_one_pair(&pool.comparison, is_open);
        matches!(pair, Decision::No | Decision::NoDifference).then_some(pool.pool_threads)
    });
    Some(as_good.min().map_or(by_itself, Decision::OnlyTheNumber))
}

fn of_one_pair(compared: &TreatmentComparison, is_open: bool) -> Decision {
    let rate = (!is_open).then(|| Effect::new(&compared.rate, false));
    let times = [&compared.p50, &compared.p99]
        .into_iter()
        .map(|it| it.as_ref().map_or(Effect::Unknown, |ratio| Effect::new(ratio, true)));
    let effects: Vec<Effect> = rate.into_iter().chain(times).collect();
    match (effects.contains(&Effect::Better), effects.contains(&Effect::Worse)) {
        // The first figure may still be either way.
        _ if effects.first() == Some(&Effect::Unknown) => Decision::NotKnownYet,
        _ if effects.contains(&Effect::Contradicted) => Decision::NotKnownYet,
        (true, true) => Decision::Trade,
        (true, false) => Decision::Yes,
        (false, true) => Decision::No,
        (false, false) if effects.contains(&Effect::Unknown) => Decision::NotKnownYet,
        (false, false) => Decision::NoDifference,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use threadcount_model::interval::Interval;

    /// A ratio with an interval of this half width, and the verdict that follows from it.
    fn ratio(ratio: f64, half_width: f64) -> CrossoverRatio {
        let interval = Interval { low: ratio - half_width, high: ratio + half_width, confidence: 0.95 };
        let verdict = crate::ratio::verdict(interval);
        CrossoverRatio {
            ratio,
            interval: Some(interval),
            verdict,
            p_value: None,
            blocks: 10,
            differing_jvms: None,
        }
    }

    fn compared(rate: f64, p50: f64, p99: f64) -> TreatmentComparison {
        TreatmentComparison {
            treatment: Treatment::Virtual { limit: None },
            rate: ratio(rate, 0.01),
            p50: Some(ratio(p50, 0.01)),
            p99: Some(ratio(p99, 0.01)),
            cpu_per_request: None,
            carry_over: None,
            trend: None,
        }
    }

    #[test]
    fn what_is_better_in_one_figure_and_worse_in_none_is_a_yes_and_the_reverse_a_no() {
        assert_eq!(of_one_pair(&compared(1.98, 0.49, 1.0), false), Decision::Yes);
        assert_eq!(of_one_pair(&compared(0.81, 1.0, 1.84), false), Decision::No);
    }

    #[test]
    fn better_throughput_with_a_longer_median_is_a_trade() {
        assert_eq!(of_one_pair(&compared(1.11, 2.6, 0.7), false), Decision::Trade);
    }

    #[test]
    fn a_sure_difference_of_less_than_five_percent_decides_nothing() {
        assert_eq!(of_one_pair(&compared(1.03, 0.98, 1.0), false), Decision::NoDifference);
    }

    #[test]
    fn a_figure_in_which_two_jvms_contradict_each_other_leaves_it_open() {
        let differing = |verdict| {
            let p50 = CrossoverRatio { verdict, differing_jvms: Some([0.68, 3.4]), ..ratio(1.5, 0.01) };
            TreatmentComparison { p50: Some(p50), ..compared(1.2, 1.0, 1.0) }
        };
        assert_eq!(of_one_pair(&differing(Verdict::NotEnoughRuns), false), Decision::NotKnownYet);
        assert_eq!(of_one_pair(&differing(Verdict::Higher), false), Decision::Trade, "both are worse");
    }

    #[test]
    fn at_a_requested_rate_the_throughput_decides_nothing() {
        assert_eq!(of_one_pair(&compared(0.5, 1.0, 1.0), true), Decision::NoDifference);
    }

    #[test]
    fn without_an_effect_a_figure_that_may_be_either_way_leaves_it_open_and_beside_one_it_does_not() {
        let vague = |rate| TreatmentComparison { p99: Some(ratio(1.1, 0.5)), ..compared(rate, 1.0, 1.0) };
        assert_eq!(of_one_pair(&vague(1.0), false), Decision::NotKnownYet);
        assert_eq!(of_one_pair(&vague(2.0), false), Decision::Yes);
        let missing = TreatmentComparison { p99: None, ..compared(1.0, 1.0, 1.0) };
        assert_eq!(of_one_pair(&missing, false), Decision::NotKnownYet);
        let unknown = TreatmentComparison { rate: ratio(1.1, 0.5), ..compared(1.0, 0.5, 0.5) };
        assert_eq!(of_one_pair(&unknown, false), Decision::NotKnownYet, "the throughput may be lower");
    }
}
