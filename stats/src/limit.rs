//! Tests whether the ratios of two sessions lie beyond a limit, each on the one side that is worse.
//!
//! There are three answers for each ratio: beyond, within, or undecided. Several ratios form a family. A ratio is beyond if Holm's
//! procedure over the family's one-sided p-values rejects: the chance that any ratio is falsely called beyond stays below 5 %. A ratio is
//! within if its own one-sided test rejects. The family is within only if all its ratios are, so the chance that a family with one ratio
//! beyond is called within is at most 5 % without a correction (Berger, "Multiparameter hypothesis testing and acceptance sampling",
//! Technometrics 24, 1982: intersection-union tests).

use super::ratio::{CONFIDENCE, one_sided};
use threadcount_model::interval::Interval;

/// The largest or the smallest ratio that is allowed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Limit {
    /// The limit of a rate: 0.95 if it may be lower by 5 %.
    AtLeast(f64),
    /// The limit of a time: 1.05 if it may be longer by 5 %.
    AtMost(f64),
}

impl Limit {
    #[must_use]
    pub const fn ratio(self) -> f64 {
        match self {
            Self::AtLeast(ratio) | Self::AtMost(ratio) => ratio,
        }
    }
}

/// A ratio and its two one-sided tests.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LimitTest {
    /// Ratio of the means.
    pub ratio: f64,
    /// Interval of 90 %, each bound of which is a one-sided bound of 95 %.
    pub interval: Interval,
    /// The probability of a ratio at least this far beyond the limit if the truth is at the limit.
    pub beyond: f64,
    /// The probability of a ratio at least this far within the limit if the truth is at the limit.
    pub within: f64,
}

impl LimitTest {
    /// Tests the figures of two sessions; `None` if their ratio has no interval.
    pub(super) fn of(variant: &[f64], baseline: &[f64], step: f64, limit: Limit) -> Option<Self> {
        let tested = one_sided(variant, baseline, step, limit.ratio())?;
        let above = tested.p_value_above;
        let (beyond, within) = match limit {
            Limit::AtMost(_) => (above, 1.0 - above),
            Limit::AtLeast(_) => (1.0 - above, above),
        };
        Some(Self { ratio: tested.ratio, interval: tested.interval, beyond, within })
    }
}

/// The verdict on a ratio against a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitVerdict {
    Beyond,
    Within,
    /// The interval reaches to both sides of the limit.
    Undecided,
    /// The interval lies beyond the limit, but among all ratios of the family that may be chance.
    MayBeChance,
}

/// The verdicts of a family, in its order.
#[must_use]
pub fn judge_family(tests: &[LimitTest]) -> Vec<LimitVerdict> {
    let alpha = 1.0 - CONFIDENCE;
    let alone = |test: &LimitTest| {
        if test.within <= alpha {
            LimitVerdict::Within
        } else if test.beyond <= alpha {
            LimitVerdict::MayBeChance
        } else {
            LimitVerdict::Undecided
        }
    };
    let mut verdicts: Vec<LimitVerdict> = tests.iter().map(alone).collect();
    let mut order: Vec<usize> = (0..tests.len()).collect();
    order.sort_by(|&a, &b| tests[a].beyond.total_cmp(&tests[b].beyond));
    for (before, &place) in order.iter().enumerate() {
        if tests[place].beyond > alpha / (tests.len() - before) as f64 {
            break;
        }
        verdicts[place] = LimitVerdict::Beyond;
    }
    verdicts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::{Noise, Shape};

    const SESSIONS: u32 = 2_000;
    /// 5 % of the sessions and three standard deviations of the binomial distribution.
    const MOST_WRONG: u32 = 129;

    fn verdicts_of(p_values: &[f64]) -> Vec<LimitVerdict> {
        let interval = Interval { low: 0.9, high: 1.1, confidence: 0.9 };
        let test = |&beyond: &f64| LimitTest { ratio: 1.0, interval, beyond, within: 1.0 - beyond };
        judge_family(&p_values.iter().map(test).collect::<Vec<_>>())
    }

    #[test]
    fn the_verdicts_are_those_of_holms_procedure_by_hand_and_of_each_ratios_own_test() {
        use LimitVerdict::{Beyond, MayBeChance, Undecided, Within};
        assert_eq!(verdicts_of(&[0.049]), [Beyond]);
        assert_eq!(verdicts_of(&[0.051, 0.949, 0.951]), [Undecided, Undecided, Within]);
        // 0.05 / 3 = 0.0167, then 0.05 / 2 = 0.025, then 0.05.
        assert_eq!(verdicts_of(&[0.024, 0.9, 0.016]), [Beyond, Undecided, Beyond]);
        assert_eq!(verdicts_of(&[0.026, 0.9, 0.016]), [MayBeChance, Undecided, Beyond]);
        assert_eq!(verdicts_of(&[0.001, 0.001, 0.017]), [Beyond; 3]);
        assert_eq!(verdicts_of(&[0.017, 0.018, 0.019]), [MayBeChance; 3]);
        assert_eq!(verdicts_of(&[]), []);
    }

    #[test]
    fn the_one_sided_bound_is_that_of_the_interval_of_90_per_cent() {
        // Logarithms 1, 2, 3 and 2, 4, 6: centre -2, error sqrt(5/3), freedom 2.941 (by hand, see `ratio.rs`).
        let figures = |logs: [f64; 3]| logs.map(f64::exp);
        let (a, b) = (figures([1.0, 2.0, 3.0]), figures([2.0, 4.0, 6.0]));
        let at = |limit: f64| LimitTest::of(&a, &b, 0.0, Limit::AtMost(limit)).expect("a test");
        let interval = at(1.0).interval;
        let near = |p_value: f64, expected: f64| (p_value - expected).abs() < 1e-6;
        assert!(near(at(interval.low).beyond, 0.05) && near(at(interval.high).within, 0.05));
        assert!(near(at((-2.0_f64).exp()).beyond, 0.5));
        // t = 2 / sqrt(5/3) = 1.549193: half of the two-sided 0.220881 (Simpson integration of the density).
        assert!((at(1.0).within - 0.110_441).abs() < 1e-5, "{}", at(1.0).within);
        let least = LimitTest::of(&a, &b, 0.0, Limit::AtLeast(1.0)).expect("a test");
        assert!(near(least.beyond, at(1.0).within) && near(least.within, at(1.0).beyond));
    }

    #[test]
    fn a_single_run_has_no_test() {
        assert_eq!(LimitTest::of(&[1.0], &[1.0, 1.1], 0.0, Limit::AtLeast(0.95)), None);
    }

    /// The verdicts of a family of rates, one for each of `truths`, in two sessions of `runs` each.
    fn family(noise: &mut Noise, truths: &[f64], shape: Shape, runs: usize) -> Vec<LimitVerdict> {
        let tests = truths.iter().map(|&truth| {
            let (after, before) = (noise.runs(truth, shape, runs), noise.runs(1.0, shape, runs));
            LimitTest::of(&after, &before, 0.0, Limit::AtLeast(0.95)).expect("a test")
        });
        judge_family(&tests.collect::<Vec<_>>())
    }

    fn count(truths: &[f64], shape: Shape, runs: usize, is_it: impl Fn(&[LimitVerdict]) -> bool) -> u32 {
        let mut noise = Noise::new();
        (0..SESSIONS).filter(|_| is_it(&family(&mut noise, truths, shape, runs))).count() as u32
    }

    const NORMAL: Shape = Shape::Normal(0.02);

    #[test]
    fn of_eight_rates_at_the_limit_one_is_called_beyond_in_at_most_one_family_of_twenty() {
        for (shape, runs) in [(NORMAL, 3), (NORMAL, 5), (NORMAL, 10), (Shape::Skewed(0.02), 10)] {
            let any = |verdicts: &[LimitVerdict]| verdicts.contains(&LimitVerdict::Beyond);
            let wrong = count(&[0.95; 8], shape, runs, any);
            println!("eight rates at the limit, {shape:?}, {runs} runs: one beyond in {wrong} of {SESSIONS}");
            assert!(wrong <= MOST_WRONG, "{shape:?}, {runs} runs: {wrong}");
        }
    }

    #[test]
    fn a_family_with_one_rate_at_the_limit_passes_in_at_most_one_of_twenty() {
        for (shape, runs) in [(NORMAL, 3), (NORMAL, 5), (NORMAL, 10), (Shape::Skewed(0.02), 10)] {
            let all = |verdicts: &[LimitVerdict]| verdicts.iter().all(|it| *it == LimitVerdict::Within);
            let wrong = count(&[1.1, 1.1, 1.1, 0.95], shape, runs, all);
            println!(
                "one rate of four at the limit, {shape:?}, {runs} runs: passes in {wrong} of {SESSIONS}"
            );
            assert!(wrong <= MOST_WRONG, "{shape:?}, {runs} runs: {wrong}");
        }
    }

    #[test]
    fn no_change_passes_a_loss_of_ten_per_cent_fails_and_what_lies_between_is_undecided() {
        let share = |truths: &[f64], runs, verdict: fn(&[LimitVerdict]) -> bool| {
            f64::from(count(truths, NORMAL, runs, verdict)) / f64::from(SESSIONS)
        };
        let passes = |verdicts: &[LimitVerdict]| verdicts.iter().all(|it| *it == LimitVerdict::Within);
        let fails = |verdicts: &[LimitVerdict]| verdicts.contains(&LimitVerdict::Beyond);
        let found = [3, 5, 10].map(|runs| {
            (
                share(&[1.0; 4], runs, passes),
                share(&[1.0, 1.0, 1.0, 0.9], runs, fails),
                share(&[1.0; 4], runs, fails),
            )
        });
        println!(
            "3, 5, 10 runs of 2 %, four rates, limit 5 %: unchanged passes, minus 10 % fails, unchanged fails {found:?}"
        );
        assert!(found[2].0 > 0.9 && found[2].1 > 0.9, "{found:?}");
        assert!(found.iter().all(|it| it.2 <= 0.01), "{found:?}");
    }

    /// No number of runs in one session per side can show that the sessions themselves differ.
    #[test]
    fn sessions_that_differ_are_taken_for_a_change_however_many_runs_they_have() {
        for (between, runs) in [(0.0, 5), (0.01, 5), (0.03, 5), (0.03, 15)] {
            let mut noise = Noise::new();
            let wrong = (0..SESSIONS)
                .filter(|_| {
                    let [a, b] = [0, 1].map(|_| {
                        let session = noise.run(1.0, Shape::Normal(between));
                        noise.runs(session, Shape::Normal(0.01), runs)
                    });
                    crate::ratio::unpaired(&a, &b, 0.0)
                        .and_then(|estimate| estimate.p_value)
                        .is_some_and(|p_value| p_value < 0.05)
                })
                .count() as f64;
            let share = wrong / f64::from(SESSIONS);
            println!(
                "sessions differ by {between}, {runs} runs of 1 %: a false difference in {:.1} %",
                100.0 * share
            );
            assert_eq!(share > 0.07, between > 0.0, "{between}: {share}");
        }
    }
}
