//! Computes by the jackknife over rounds how sure it is that a claim holds, or does not.
//!
//! A claim is an expression over means, so there is no formula for its noise. Leaving out one round at a time, with all its runs, shows how
//! much the claim depends on each (Efron & Tibshirani, "An introduction to the bootstrap", 1993, chapter 11, over blocks as in Künsch, "The
//! jackknife and the bootstrap for general stationary observations", Annals of Statistics 17, 1989). What a round's runs share counts once,
//! and cancels where the claim compares them. Products and quotients of figures are compared on the scale of logarithms. The variances of
//! several loads add up, and their degrees of freedom combine as in Welch and Satterthwaite. For a difference of two variants' means this is
//! exactly the interval of Student's paired t. Fewer than four rounds are no blocks: then single runs are left out, and the interval is
//! Welch's.

use super::rounds::{ClaimRounds, LeftOut, LoadRounds};
use super::value::value;
use crate::ratio::{NARROW, alpha};
use crate::runs::mean;
use crate::student::t_quantile;
use threadcount_model::claim_result::NotTried;
use threadcount_model::experiment::claim::{Claim, Comparison, Expr, Figure, Operator, Test};
use threadcount_model::interval::Interval;

/// The most rounds that are estimated, because nobody waits for more.
const MOST_ROUNDS: u32 = 100;

/// How sure the intervals make it that a claim holds or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Certainty {
    /// The claim holds, or does not, wherever the figures lie in their intervals.
    Decided(bool),
    /// The claim may hold or not, although its two sides are known within 2 %: what it asks is too close to the truth.
    Narrow,
    /// More runs may decide the claim.
    Open,
}

/// The certainty of a claim in a session of `analyses` interim analyses.
pub(in super::super) fn certainty(claim: &Claim, rounds: &ClaimRounds<'_>, analyses: usize) -> Certainty {
    let mut whole = Certainty::Decided(true);
    for comparison in &claim.comparisons {
        match comparison_certainty(comparison, rounds, analyses) {
            Certainty::Decided(false) => return Certainty::Decided(false),
            Certainty::Decided(true) => {}
            Certainty::Narrow if whole == Certainty::Open => {}
            undecided => whole = undecided,
        }
    }
    whole
}

/// The number of rounds that would decide an open claim if they spread as those so far. `None` without an interval, or if more than
/// [`MOST_ROUNDS`] would not do.
pub(super) fn rounds_needed(claim: &Claim, rounds: &ClaimRounds<'_>, analyses: usize) -> Option<u32> {
    let so_far = rounds.loads().iter().map(|load| load.rounds.len()).max()? as u32;
    let known = claim.comparisons.iter().map(|it| all_known(it, rounds, analyses));
    let known: Vec<Known> = known.collect::<Option<Vec<_>>>()?.into_iter().flatten().collect();
    let quantile = |rounds: u32| t_quantile(f64::from(rounds - 1), 1.0 - alpha(analyses) / 2.0);
    let first = quantile(so_far).filter(|_| so_far > 1)?;
    let is_decided_after = |rounds: u32| {
        let shrinks =
            quantile(rounds).map_or(1.0, |it| it / first) * (f64::from(so_far) / f64::from(rounds)).sqrt();
        let is_known = |it: &Known| it.half_width * shrinks < it.by.abs();
        known.iter().any(|it| it.by < 0.0 && is_known(it)) || known.iter().all(is_known)
    };
    (so_far + 1..=MOST_ROUNDS).find(|rounds| is_decided_after(*rounds))
}

fn all_known(comparison: &Comparison, rounds: &ClaimRounds<'_>, analyses: usize) -> Option<Vec<Known>> {
    let known = |(larger, smaller): &(Expr, Expr)| difference(larger, smaller, rounds, analyses);
    conditions(comparison).iter().map(known).collect()
}

fn comparison_certainty(comparison: &Comparison, rounds: &ClaimRounds<'_>, analyses: usize) -> Certainty {
    let Some(known) = all_known(comparison, rounds, analyses) else { return Certainty::Open };
    let is_strict = matches!(comparison.test, Test::More | Test::Less);
    let holds = |known: &Known| known.low() > 0.0 || (!is_strict && known.low() >= 0.0);
    let fails = |known: &Known| known.high() < 0.0 || (is_strict && known.high() <= 0.0);
    match () {
        () if known.iter().all(holds) => Certainty::Decided(true),
        () if known.iter().any(fails) => Certainty::Decided(false),
        () if known.iter().all(|known| known.half_width <= NARROW * known.size) => Certainty::Narrow,
        () => Certainty::Open,
    }
}

/// The comparison as pairs of a side that must be the larger one, and the side that must not exceed it.
pub(super) fn conditions(comparison: &Comparison) -> Vec<(Expr, Expr)> {
    let (left, right) = (comparison.left.clone(), comparison.right.clone());
    match comparison.test {
        Test::AtLeast | Test::More => vec![(left, right)],
        Test::AtMost | Test::Less => vec![(right, left)],
        Test::Equal => vec![(left.clone(), right.clone()), (right, left)],
        Test::Within(fraction) => {
            let times = |factor: f64| {
                Expr::Binary(Box::new(right.clone()), Operator::Times, Box::new(Expr::Number(factor)))
            };
            vec![(left.clone(), times(1.0 - fraction)), (times(1.0 + fraction), left)]
        }
    }
}

/// How much one side exceeds another one, with the half width of its interval, and the size of that which is compared.
struct Known {
    by: f64,
    half_width: f64,
    size: f64,
}

impl Known {
    fn low(&self) -> f64 {
        self.by - self.half_width
    }

    fn high(&self) -> f64 {
        self.by + self.half_width
    }
}

/// Figures are compared by their ratio, on the scale of logarithms, as everywhere else: rates and times vary in proportion, and times
/// are skewed to the right. Sums and differences of figures, and what may be zero or negative, are compared by their difference.
fn difference(larger: &Expr, smaller: &Expr, rounds: &ClaimRounds<'_>, analyses: usize) -> Option<Known> {
    let sides = Jackknife::new(&[larger, smaller], rounds)?;
    let is_ratio = is_product(larger) && is_product(smaller) && sides.are_positive();
    let by = |values: &[f64]| if is_ratio { (values[0] / values[1]).ln() } else { values[0] - values[1] };
    let size = if is_ratio { 1.0 } else { sides.whole[0].abs().max(sides.whole[1].abs()) };
    Some(Known { by: by(&sides.whole), half_width: sides.half_width(by, analyses)?, size })
}

/// The interval of an expression; `None` with fewer than two rounds.
pub(super) fn interval(expr: &Expr, rounds: &ClaimRounds<'_>, analyses: usize) -> Option<Interval> {
    let value = Jackknife::new(&[expr], rounds)?;
    let (whole, confidence) = (value.whole[0], 1.0 - alpha(analyses));
    Some(if is_product(expr) && value.are_positive() {
        let factor = value.half_width(|values| values[0].ln(), analyses)?.exp();
        Interval { low: whole / factor, high: whole * factor, confidence }
    } else {
        let half_width = value.half_width(|values| values[0], analyses)?;
        Interval { low: whole - half_width, high: whole + half_width, confidence }
    })
}

fn is_product(expr: &Expr) -> bool {
    match expr {
        Expr::Number(_) | Expr::Figure(_) => true,
        Expr::Negative(_) => false,
        Expr::Binary(left, operator, right) => {
            matches!(operator, Operator::Times | Operator::By) && is_product(left) && is_product(right)
        }
    }
}

/// The values of some expressions over all rounds, and with each part left out in turn.
struct Jackknife {
    whole: Vec<f64>,
    /// The parts of one group are alike, and the noise of different groups is independent.
    groups: Vec<Vec<Vec<f64>>>,
}

impl Jackknife {
    fn new(exprs: &[&Expr], rounds: &ClaimRounds<'_>) -> Option<Self> {
        let values = |skipped: Option<LeftOut<'_>>| -> Option<Vec<f64>> {
            let look = |figure: &Figure| rounds.mean(figure, skipped).ok_or(NotTried::DividesByZero);
            exprs.iter().map(|expr| value(expr, &look).ok()).collect()
        };
        let groups = rounds.loads().iter().flat_map(LoadRounds::groups);
        let left_out = |group: Vec<LeftOut<'_>>| group.into_iter().map(|part| values(Some(part))).collect();
        Some(Self { whole: values(None)?, groups: groups.map(left_out).collect::<Option<_>>()? })
    }

    fn are_positive(&self) -> bool {
        self.groups.iter().flatten().chain([&self.whole]).flatten().all(|value| *value > 0.0)
    }

    /// The half width of the interval of a statistic of the expressions; `None` if a group has a single part.
    fn half_width(&self, statistic: impl Fn(&[f64]) -> f64, analyses: usize) -> Option<f64> {
        let (mut variance, mut freedom_share) = (0.0, 0.0);
        for group in &self.groups {
            let left_out: Vec<f64> = group.iter().map(|values| statistic(values)).collect();
            let parts = left_out.len() as f64;
            let middle = mean(&left_out).filter(|_| left_out.len() > 1)?;
            let squares: f64 = left_out.iter().map(|value| (value - middle).powi(2)).sum();
            let share = (parts - 1.0) / parts * squares;
            variance += share;
            freedom_share += share.powi(2) / (parts - 1.0);
        }
        if variance <= 0.0 {
            return Some(0.0);
        }
        Some(t_quantile(variance.powi(2) / freedom_share, 1.0 - alpha(analyses) / 2.0)? * variance.sqrt())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use threadcount_model::experiment::claim::Names;
    use threadcount_model::parse::claim::parse;
    use threadcount_model::record::Record;
    use threadcount_model::sample::run;

    fn judged(claim: &str, a: &[f64], b: &[f64], analyses: usize) -> Certainty {
        let names = Names { variants: vec!["a", "b"], loads: vec!["c4"] };
        let claim = parse(claim, &names).expect("a claim");
        let runs = |variant: &'static str, rates: &[f64]| {
            rates.iter().map(|&rate| run(variant, "c4", rate, 5.0)).collect::<Vec<_>>()
        };
        certainty(&claim, &ClaimRounds::of(&claim, &[runs("a", a), runs("b", b)].concat()), analyses)
    }

    #[test]
    fn a_difference_of_means_has_the_interval_of_the_paired_t() {
        // Differences 1, 10, 19, 28: mean 14.5, variance 135; t(0.975) with freedom 3 = 3.182446: half width 18.488.
        let (a, b) = ([10.0, 20.0, 30.0, 40.0], [9.0, 10.0, 11.0, 12.0]);
        assert_eq!(judged("a.rate - b.rate >= -3.9", &a, &b, 1), Certainty::Open);
        assert_eq!(judged("a.rate - b.rate >= -4", &a, &b, 1), Certainty::Decided(true));
        assert_eq!(judged("a.rate - b.rate > 33", &a, &b, 1), Certainty::Decided(false));
        assert_eq!(judged("a.rate - b.rate >= -4", &a, &b, 2), Certainty::Open, "two analyses ask for more");
    }

    #[test]
    fn of_three_rounds_it_has_welchs_interval() {
        // Means 20 and 10, variances 100 and 1: errors 100/3 and 1/3, freedom (101/3)^2 / ((100/3)^2/2 + (1/3)^2/2)
        // = 2.0398, t(0.975) = 4.2307 (Simpson integration of the density), half width 24.55.
        let (a, b) = ([10.0, 20.0, 30.0], [9.0, 10.0, 11.0]);
        assert_eq!(judged("a.rate - b.rate >= -14.5", &a, &b, 1), Certainty::Open);
        assert_eq!(judged("a.rate - b.rate >= -14.6", &a, &b, 1), Certainty::Decided(true));
        assert_eq!(judged("a.rate - b.rate > 34.6", &a, &b, 1), Certainty::Decided(false));
    }

    #[test]
    fn what_a_whole_round_was_slowed_down_by_does_not_blur_a_claim_within_it() {
        let (a, b) = ([105.0, 84.1, 94.4, 120.6], [100.0, 80.0, 90.0, 115.0]);
        assert_eq!(judged("a.rate / b.rate >= 1.03", &a, &b, 1), Certainty::Decided(true));
        assert_eq!(judged("a.rate / 1.05 within 2% of b.rate", &a, &b, 1), Certainty::Decided(true));
        assert_eq!(judged("a.rate >= 90", &a, &b, 1), Certainty::Open, "of one variant it does");
    }

    #[test]
    fn rounds_that_one_variant_lacks_are_left_out() {
        let names = Names { variants: vec!["a", "b"], loads: vec!["c4"] };
        let claim = parse("a.rate / b.rate >= 1", &names).expect("a claim");
        let in_round =
            |variant: &str, round: u32, rate: f64| Record { round, ..run(variant, "c4", rate, 5.0) };
        let mut records = vec![in_round("a", 1, 50.0)];
        records.extend((2..5).map(|round| in_round("a", round, 110.0 + f64::from(round) / 10.0)));
        records.extend((2..5).map(|round| in_round("b", round, 100.0)));
        let rounds = ClaimRounds::of(&claim, &records);
        assert_eq!(certainty(&claim, &rounds, 1), Certainty::Decided(true));
        assert_eq!(rounds.runs(claim.figures()[0], None).len(), 3);
    }

    #[test]
    fn a_claim_far_from_the_truth_is_decided_and_one_at_it_is_not() {
        let (a, b) = ([200.0, 202.0, 198.0], [101.0, 99.0, 100.0]);
        for (claim, known) in [
            ("a.rate / b.rate >= 1.85", Certainty::Decided(true)),
            ("a.rate / b.rate >= 2.15", Certainty::Decided(false)),
            ("a.rate / b.rate <= 2.15", Certainty::Decided(true)),
            ("a.rate within 10% of b.rate", Certainty::Decided(false)),
            ("a.rate / 2 within 10% of b.rate", Certainty::Decided(true)),
            ("a.rate / b.rate >= 2", Certainty::Open),
            ("a.rate == b.rate", Certainty::Decided(false)),
            ("a.rate > 1 and a.rate / b.rate >= 2", Certainty::Open),
            ("a.rate < 1 and a.rate / b.rate >= 2", Certainty::Decided(false)),
        ] {
            assert_eq!(judged(claim, &a, &b, 1), known, "{claim}");
        }
    }

    #[test]
    fn a_claim_at_the_truth_that_is_known_well_is_as_narrow_as_asked() {
        let (a, b) = ([200.0, 200.2, 199.8], [100.1, 99.9, 100.0]);
        assert_eq!(judged("a.rate / b.rate >= 2", &a, &b, 1), Certainty::Narrow);
    }

    #[test]
    fn one_run_decides_nothing() {
        assert_eq!(judged("a.rate > b.rate", &[200.0], &[100.0, 101.0], 1), Certainty::Open);
    }
}
