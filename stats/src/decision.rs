//! The decision on a variant: one word from the ratios of throughput, median and p99 to the baseline, by one rule.
//!
//! | throughput, median, p99 | decision |
//! |---|---|
//! | one is better by at least 5 %, none is worse | Yes |
//! | one is worse by at least 5 %, none is better | No |
//! | both | A trade |
//! | all are the same | No difference |
//! | all are the same or differ by less than 5 % | Less than 5 % |
//! | Yes or a trade, but a pool of n threads is at least as good | Only the number |
//! | otherwise | Not known yet |
//!
//! A figure is better or worse if its verdict says so and its ratio is at least 5 % away from 1. The first figure must be known: the
//! throughput under a closed load, otherwise the median, because a requested rate is the throughput. Two JVMs may not contradict each other
//! in any of them.

use threadcount_model::comparison::Verdict;

/// The smallest difference that matters to a decision: a ratio of 1.05.
pub const MATTERS: f64 = 0.05;

/// The decision on a variant, or on a kind of thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Better than the baseline, and worse in none of throughput, median and p99.
    Yes,
    /// Worse than the baseline, and better in nothing.
    No,
    /// Better in one figure and worse in another.
    Trade,
    /// The same in everything that was compared.
    NoDifference,
    /// Different, but by too little to matter.
    TooSmall,
    /// Better, but a pool of this many platform threads is as good.
    OnlyTheNumber(u32),
    /// Nothing is shown, and more runs or longer periods may show it.
    NotKnownYet,
}

/// One figure against the baseline's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    Better,
    Worse,
    Same,
    /// Different, but by too little to matter.
    Small,
    /// The figure may be better or worse.
    Unknown,
    /// Two JVMs disagree, so that a third one may be on either side.
    Contradicted,
}

impl Effect {
    #[must_use]
    pub fn new(ratio: f64, verdict: Verdict, is_lower_better: bool) -> Self {
        match verdict {
            Verdict::Higher | Verdict::Lower if ratio.ln().abs() < MATTERS.ln_1p() => Self::Small,
            Verdict::Higher | Verdict::Lower if (verdict == Verdict::Lower) == is_lower_better => {
                Self::Better
            }
            Verdict::Higher | Verdict::Lower => Self::Worse,
            Verdict::NoDifference => Self::Same,
            Verdict::NotEnoughRuns => Self::Unknown,
        }
    }
}

/// Whether a figure that is this many times as large is larger by enough to matter.
#[must_use]
pub fn matters(ratio: f64) -> bool {
    ratio >= 1.0 + MATTERS
}

/// The decision from the figures under one load, the most important first.
#[must_use]
pub fn decide(effects: &[Effect]) -> Decision {
    let has = |effect| effects.contains(&effect);
    match (has(Effect::Better), has(Effect::Worse)) {
        _ if effects.first().is_none_or(|it| *it == Effect::Unknown) => Decision::NotKnownYet,
        _ if has(Effect::Contradicted) => Decision::NotKnownYet,
        (true, true) => Decision::Trade,
        (true, false) => Decision::Yes,
        (false, true) => Decision::No,
        (false, false) if has(Effect::Unknown) => Decision::NotKnownYet,
        (false, false) if has(Effect::Small) => Decision::TooSmall,
        (false, false) => Decision::NoDifference,
    }
}

/// The decision over several loads. Loads that show nothing leave it open only if no other one shows an effect.
#[must_use]
pub fn over_loads(loads: &[Decision]) -> Decision {
    let has = |decision| loads.contains(&decision);
    // A pool must be large enough for each load.
    let threads = |decision: &Decision| match decision {
        Decision::OnlyTheNumber(threads) => Some(*threads),
        _ => None,
    };
    let number = loads.iter().filter_map(threads).max().map(Decision::OnlyTheNumber);
    let helps = has(Decision::Yes) || number.is_some();
    match (helps, has(Decision::No)) {
        _ if has(Decision::Trade) => Decision::Trade,
        (true, true) => Decision::Trade,
        (true, false) if !has(Decision::Yes) => number.unwrap_or(Decision::Yes),
        (true, false) => Decision::Yes,
        (false, true) => Decision::No,
        (false, false) if loads.is_empty() || has(Decision::NotKnownYet) => Decision::NotKnownYet,
        (false, false) if has(Decision::TooSmall) => Decision::TooSmall,
        (false, false) => Decision::NoDifference,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_better_in_one_figure_and_worse_in_none_is_a_yes_and_the_reverse_a_no() {
        assert_eq!(decide(&[Effect::Better, Effect::Better, Effect::Same]), Decision::Yes);
        assert_eq!(decide(&[Effect::Worse, Effect::Same, Effect::Worse]), Decision::No);
        assert_eq!(decide(&[Effect::Better, Effect::Worse, Effect::Better]), Decision::Trade);
    }

    #[test]
    fn a_sure_difference_of_less_than_five_percent_is_named_and_decides_nothing() {
        let small = Effect::new(1.03, Verdict::Higher, false);
        assert_eq!(small, Effect::Small);
        assert_eq!(decide(&[small, Effect::Same, Effect::Same]), Decision::TooSmall);
        assert_eq!(decide(&[small, Effect::Same, Effect::Worse]), Decision::No);
        assert_eq!(decide(&[Effect::Same; 3]), Decision::NoDifference);
    }

    #[test]
    fn lower_response_times_and_higher_throughput_are_better() {
        assert_eq!(Effect::new(0.5, Verdict::Lower, true), Effect::Better);
        assert_eq!(Effect::new(0.5, Verdict::Lower, false), Effect::Worse);
    }

    #[test]
    fn without_an_effect_a_figure_that_may_be_either_way_leaves_it_open_and_beside_one_it_does_not() {
        assert_eq!(decide(&[Effect::Same, Effect::Same, Effect::Unknown]), Decision::NotKnownYet);
        assert_eq!(decide(&[Effect::Better, Effect::Same, Effect::Unknown]), Decision::Yes);
        assert_eq!(decide(&[Effect::Unknown, Effect::Better, Effect::Better]), Decision::NotKnownYet);
        assert_eq!(decide(&[Effect::Better, Effect::Contradicted, Effect::Same]), Decision::NotKnownYet);
        assert_eq!(decide(&[]), Decision::NotKnownYet);
    }

    #[test]
    fn help_under_one_load_is_a_yes_unless_another_one_gets_worse() {
        let over = |loads: &[Decision]| over_loads(loads);
        assert_eq!(over(&[Decision::NoDifference, Decision::Yes, Decision::NotKnownYet]), Decision::Yes);
        assert_eq!(over(&[Decision::No, Decision::Yes]), Decision::Trade);
        assert_eq!(over(&[Decision::NoDifference, Decision::NotKnownYet]), Decision::NotKnownYet);
        assert_eq!(
            over(&[Decision::NoDifference, Decision::OnlyTheNumber(400)]),
            Decision::OnlyTheNumber(400)
        );
        assert_eq!(
            over(&[Decision::Yes, Decision::OnlyTheNumber(400)]),
            Decision::Yes,
            "not under every load"
        );
    }
}
