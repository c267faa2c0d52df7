//! Computes by the jackknife over rounds how sure it is that a claim holds, or does not.
//!
//! A claim is an expression over means, so there is no formula for its noise. Leaving out one round at a time, with all its runs, shows how
//! much the claim depends on each (Efron & Tibshirani, "An introduction to the bootstrap", 1993, chapter 11, over blocks as in Künsch, "The
//! jackknife and the bootstrap for general stationary observations", Annals of Statistics 17, 1989). What a round's runs share counts once,
//! and cancels where the claim compares them. The variances of several loads add up, and their degrees of freedom combine as in Welch and
//! Satterthwaite. For a difference of two variants' means this is exactly the interval of Student's paired t. Fewer than four rounds are no
//! blocks: then single runs are left out, and the interval is Welch's.

use super::rounds::{ClaimRounds, LeftOut, LoadRounds};
use super::value::value;
use crate::ratio::{NARROW, alpha};
use crate::runs::mean;
use crate::student::t_quantile;
use threadcount_model::claim_result::NotTried;
use threadcount_model::experiment::claim::{Claim, Comparison, Expr, Figure, Operator, Test};

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
        match one(comparison, rounds, analyses) {
            Certainty::Decided(false) => return Certainty::Decided(false),
            Certainty::Decided(true) => {}
            Certainty::Narrow if whole == Certainty::Open => {}
            undecided => whole = undecided,
        }
    }
    whole
}

fn one(comparison: &Comparison, rounds: &ClaimRounds<'_>, analyses: usize) -> Certainty {
    let surpluses = surpluses(comparison);
    let known: Option<Vec<Known>> =
        surpluses.iter().map(|surplus| known(surplus, comparison, rounds, analyses)).collect();
    let Some(known) = known else { return Certainty::Open };
    let is_strict = matches!(comparison.test, Test::More | Test::Less);
    let holds = |known: &Known| known.low > 0.0 || (!is_strict && known.low >= 0.0);
    let fails = |known: &Known| known.high < 0.0 || (is_strict && known.high <= 0.0);
    match () {
        () if known.iter().all(holds) => Certainty::Decided(true),
        () if known.iter().any(fails) => Certainty::Decided(false),
        () if known.iter().all(|known| known.half_width <= NARROW * known.size) => Certainty::Narrow,
        () => Certainty::Open,
    }
}

/// The comparison as expressions that are all at least zero if it holds.
fn surpluses(comparison: &Comparison) -> Vec<Expr> {
    let (left, right) = (comparison.left.clone(), comparison.right.clone());
    match comparison.test {
        Test::AtLeast | Test::More => vec![minus(left, right)],
        Test::AtMost | Test::Less => vec![minus(right, left)],
        Test::Equal => vec![minus(left.clone(), right.clone()), minus(right, left)],
        Test::Within(fraction) => {
            let share = |of: &Expr| {
                Expr::Binary(Box::new(of.clone()), Operator::Times, Box::new(Expr::Number(fraction)))
            };
            let (above, below) = (minus(left.clone(), right.clone()), minus(right.clone(), left));
            vec![minus(share(&right), above), minus(share(&right), below)]
        }
    }
}

fn minus(left: Expr, right: Expr) -> Expr {
    Expr::Binary(Box::new(left), Operator::Minus, Box::new(right))
}

/// The interval of a surplus, and the size of the two terms whose difference it is.
struct Known {
    low: f64,
    high: f64,
    half_width: f64,
    size: f64,
}

fn known(
    surplus: &Expr,
    comparison: &Comparison,
    rounds: &ClaimRounds<'_>,
    analyses: usize,
) -> Option<Known> {
    let look = |skipped: Option<LeftOut<'_>>, expr: &Expr| {
        value(expr, &|figure: &Figure| rounds.mean(figure, skipped).ok_or(NotTried::DividesByZero)).ok()
    };
    let whole = look(None, surplus)?;
    let size = look(None, &comparison.right)?.abs().max(look(None, &comparison.left)?.abs());
    let (mut variance, mut freedom_share) = (0.0, 0.0);
    for group in rounds.loads().iter().flat_map(LoadRounds::groups) {
        let left_out: Option<Vec<f64>> = group.into_iter().map(|run| look(Some(run), surplus)).collect();
        let left_out = left_out.filter(|values| values.len() > 1)?;
        let (runs, middle) = (left_out.len() as f64, mean(&left_out)?);
        let squares: f64 = left_out.iter().map(|value| (value - middle).powi(2)).sum();
        let share = (runs - 1.0) / runs * squares;
        variance += share;
        freedom_share += share.powi(2) / (runs - 1.0);
    }
    let half_width = if variance > 0.0 {
        t_quantile(variance.powi(2) / freedom_share, 1.0 - alpha(analyses) / 2.0)? * variance.sqrt()
    } else {
        0.0
    };
    Some(Known { low: whole - half_width, high: whole + half_width, half_width, size })
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
