//! The decision about a treatment of a crossover, by the same rule as the decision about a variant (`stats/src/decision.rs`).

use super::CrossoverRatio;
use super::comparison::{CrossoverDocument, TreatmentComparison};
use crate::decision::{Decision, Effect, decide};
use threadcount_model::crossover::Treatment;

fn effect(ratio: &CrossoverRatio, is_lower_better: bool) -> Effect {
    match Effect::new(ratio.ratio, ratio.verdict, is_lower_better) {
        Effect::Unknown if ratio.differing_jvms.is_some() => Effect::Contradicted,
        effect => effect,
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
    let pools = document.against_pools.iter().filter(|pool| {
        helps
            && pool.comparison.treatment == treatment
            && is_fit(Treatment::Platform { threads: pool.pool_threads })
    });
    let as_good = pools.filter_map(|pool| {
        let pair = of_one_pair(&pool.comparison, is_open);
        matches!(pair, Decision::No | Decision::NoDifference | Decision::TooSmall)
            .then_some(pool.pool_threads)
    });
    Some(as_good.min().map_or(by_itself, Decision::OnlyTheNumber))
}

/// At a requested rate the throughput is given, and the response times alone decide.
fn of_one_pair(compared: &TreatmentComparison, is_open: bool) -> Decision {
    let rate = (!is_open).then(|| effect(&compared.rate, false));
    let times = [&compared.p50, &compared.p99]
        .into_iter()
        .map(|it| it.as_ref().map_or(Effect::Unknown, |ratio| effect(ratio, true)));
    decide(&rate.into_iter().chain(times).collect::<Vec<Effect>>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use threadcount_model::comparison::Verdict;
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
}
