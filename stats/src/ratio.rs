//! The ratio of two variants' figures with its confidence interval and its verdict.
//!
//! The unit of observation is the run (one fresh process), never the request: requests of one run share its JIT decisions, its heap
//! layout and its neighbours, and intervals that take them for independent are far too narrow (Kalibera & Jones, "Rigorous benchmarking
//! in reasonable time", ISMM 2013). Variants of one session are compared round by round ([`paired`]): whatever affects a round affects
//! both and cancels, whether their noise is alike or not (fewer than four rounds are too few for that, see `student.rs`). Differences
//! are taken between logarithms: they are the logarithm of a ratio, noise in performance is multiplicative, and a ratio and its inverse
//! have the same interval.
//!
//! Two sessions share no rounds. Their ratio ([`unpaired`]) has Welch's interval ("The generalization of Student's
//! problem", Biometrika 34, 1947), widened by a studentised bootstrap from eight runs on (`ratio/bootstrap.rs`).
//!
//! Checking after each round whether the answer is clear, and stopping when it is, finds differences that do not exist: each look is
//! another chance to be wrong. So the looks share the 5 % (Bonferroni): with five looks each interval is one of 99 %, and all of them
//! together contain the truth in at least 95 % of experiments, whenever and why ever one stops (repeated confidence intervals: Jennison
//! & Turnbull, JRSS B 51, 1989).
//!
//! Each interval has its own 95 %. `page.rs` decides which of a page's ratios get a verdict.

mod bootstrap;
mod interval;
mod side;

use super::student::{MeanDifference, PAIRED_FROM, t_quantile};
use interval::{interval, p_value, p_value_above};
pub(super) use side::RELATIVE_STEP;
use side::{Side, rounding_variance};
use threadcount_model::comparison::{Ratio, Verdict};
use threadcount_model::interval::Interval;

/// The confidence level of an interval.
pub const CONFIDENCE: f64 = 0.95;
/// A ratio closer to 1 than this is no difference that anybody should act on.
pub const MARGIN: f64 = 0.02;
/// The largest difference that the verdict "no difference larger than" may leave open; a wider interval tells too little for a verdict.
pub const WIDEST: f64 = 0.10;
/// A ratio, or each side of a claim, that is known this precisely in both directions is known well enough for everybody.
pub(super) const NARROW: f64 = 0.02;
/// More runs than this are never advised.
const MOST_RUNS: u32 = 1_000;

/// A ratio with its interval and its verdict.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// Mean of one side divided by the mean of the other.
    pub ratio: f64,
    /// Interval of the ratio; `None` with fewer than two runs on a side, or a figure that is not above zero.
    pub interval: Option<Interval>,
    /// The probability of such a ratio if there is no difference.
    pub p_value: Option<f64>,
    /// The conclusion that the interval allows.
    pub verdict: Verdict,
}

/// The ratio of two variants' figures, one of each in every round, in a session that looks `looks` times whether it may stop. `step` is
/// the smallest difference the figure can show (1 for a number of threads, 0 if only the relative precision counts).
///
/// `None` if a side has no figure, or the baseline's mean is zero.
#[must_use]
pub fn paired(variant: &[f64], baseline: &[f64], step: f64, looks: usize) -> Option<Estimate> {
    let ratio = ratio_of_means(variant, baseline)?;
    let mean = mean_of_logs(variant, baseline, step);
    let interval = mean.and_then(|mean| {
        let half_width = mean.half_width(alpha(looks))?;
        let (low, high) = ((mean.mean - half_width).exp(), (mean.mean + half_width).exp());
        (low > 0.0 && high.is_finite()).then_some(Interval { low, high, confidence: CONFIDENCE })
    });
    let p_value = mean.filter(|_| interval.is_some()).and_then(|mean| mean.p_value(looks));
    Some(Estimate { ratio, interval, p_value, verdict: interval.map_or(Verdict::NotEnoughRuns, verdict) })
}

/// The mean of the differences of the logarithms; `None` if a figure has no logarithm.
fn mean_of_logs(variant: &[f64], baseline: &[f64], step: f64) -> Option<MeanDifference> {
    let has_log = |figure: &f64| *figure > 0.0 && figure.is_finite();
    if !variant.iter().chain(baseline).all(has_log) {
        return None;
    }
    let logs = |side: &[f64]| side.iter().map(|figure| figure.ln()).collect::<Vec<f64>>();
    let rounding = |side: &[f64]| Some(rounding_variance(super::runs::mean(side)?, step));
    MeanDifference::of_rounds(&logs(variant), &logs(baseline), (rounding(variant)?, rounding(baseline)?))
}

/// The ratio of two figures of different sessions, with one value per run.
#[must_use]
pub fn unpaired(variant: &[f64], baseline: &[f64], step: f64) -> Option<Estimate> {
    let ratio = ratio_of_means(variant, baseline)?;
    let sides = Side::of(variant, step).zip(Side::of(baseline, step));
    let interval = sides.as_ref().and_then(|(a, b)| interval(a, b, alpha(1), CONFIDENCE));
    let p_value = sides.filter(|_| interval.is_some()).and_then(|(a, b)| p_value(&a, &b, alpha(1)));
    let verdict = interval.map_or(Verdict::NotEnoughRuns, verdict);
    Some(Estimate { ratio, interval, p_value, verdict })
}

/// The ratio of two figures of different sessions against a limit, on one side.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct OneSided {
    pub ratio: f64,
    /// Interval of 90 %, each bound of which is a one-sided bound of 95 %.
    pub interval: Interval,
    /// The probability of a ratio at least this far above the limit if the limit is the truth.
    pub p_value_above: f64,
}

/// Tests the ratio against a limit; `None` if the ratio has no interval.
pub(super) fn one_sided(variant: &[f64], baseline: &[f64], step: f64, limit: f64) -> Option<OneSided> {
    let ratio = ratio_of_means(variant, baseline)?;
    let (variant, baseline) = (Side::of(variant, step)?, Side::of(baseline, step)?);
    let alpha = 1.0 - CONFIDENCE;
    let interval = interval(&variant, &baseline, 2.0 * alpha, 1.0 - 2.0 * alpha)?;
    let p_value_above = p_value_above(&variant, &baseline, limit, alpha)?;
    Some(OneSided { ratio, interval, p_value_above })
}

fn ratio_of_means(variant: &[f64], baseline: &[f64]) -> Option<f64> {
    let ratio = super::runs::mean(variant)? / super::runs::mean(baseline)?;
    ratio.is_finite().then_some(ratio)
}

/// The chance of an error that each of several looks may take.
pub(super) fn alpha(looks: usize) -> f64 {
    (1.0 - CONFIDENCE) / looks.max(1) as f64
}

/// The verdict that an interval allows. An interval wholly within the margin means no difference, even if it excludes 1: a difference
/// of half a per cent may be certain and still not matter. An interval that contains 1 limits the difference, unless that limit is too
/// large to be worth stating.
pub(crate) fn verdict(interval: Interval) -> Verdict {
    match interval {
        _ if interval.largest_difference() <= MARGIN => Verdict::NoDifference,
        Interval { low, .. } if low > 1.0 => Verdict::Higher,
        Interval { high, .. } if high < 1.0 => Verdict::Lower,
        _ if interval.largest_difference() <= WIDEST => Verdict::NoDifference,
        _ => Verdict::NotEnoughRuns,
    }
}

/// The share of its speed by which a second speed that the runs so far did not show may be slower.
const UNSEEN_SLOWER: f64 = 0.30;
/// The chance of missing such a speed.
const UNSEEN_CHANCE: f64 = 0.05;

/// The share of a variant's runs that may have another speed, 30 % slower, without any of `runs` runs showing it (probability 5 %), if
/// that could make up the whole difference or hide one: the largest share q with (1 - q)^n > 5 %, as in the rule of three (Hanley &
/// Lippman-Hand, "If nothing goes wrong, is everything all right?", JAMA 249, 1983). `None` if the difference is larger than such a
/// speed can explain.
pub(super) fn unseen_share(interval: Interval, runs: usize) -> Option<f64> {
    let share = 1.0 - UNSEEN_CHANCE.powf(1.0 / runs.max(1) as f64);
    let shift = -share * (1.0 - UNSEEN_SLOWER).ln();
    let least_difference = interval.low.ln().max(-interval.high.ln());
    (least_difference < shift).then_some(share)
}

impl Estimate {
    /// The ratio of two means about which nothing more is known.
    pub(super) fn without_interval(variant: &[f64], baseline: &[f64]) -> Option<Self> {
        let ratio = ratio_of_means(variant, baseline)?;
        Some(Self { ratio, interval: None, p_value: None, verdict: Verdict::NotEnoughRuns })
    }
}

/// About how many more runs of each variant would allow a verdict on a ratio that has none yet, if they are as noisy as the present
/// runs. `None` if there is a verdict, or no interval to judge by.
#[must_use]
pub fn more_runs(ratio: &Ratio) -> Option<u32> {
    let is_open = ratio.verdict == Verdict::NotEnoughRuns && !ratio.basis.withheld;
    let interval = ratio.interval.filter(|_| is_open)?;
    let runs = ratio.runs.0.min(ratio.runs.1).max(2);
    let centre = f64::midpoint(interval.low.ln(), interval.high.ln()).abs();
    let half_width = (interval.high.ln() - interval.low.ln()) / 2.0;
    // Narrow enough to exclude 1, or to contain 1 and lie within the widest bound, whichever comes first.
    let wanted = centre.max((1.0 + WIDEST).ln() - centre);
    let width_of = |runs: u32| {
        let rounds = f64::from(runs) - 1.0;
        let freedom = if (runs as usize) < PAIRED_FROM { 2.0 * rounds } else { rounds };
        let quantile = t_quantile(freedom, 0.5 + interval.confidence / 2.0);
        quantile.map(|quantile| quantile / f64::from(runs).sqrt())
    };
    let now = width_of(runs)?;
    let enough = (runs + 1..MOST_RUNS)
        .find(|&more| width_of(more).is_some_and(|then| half_width * then / now <= wanted));
    Some(enough.unwrap_or(MOST_RUNS) - runs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use threadcount_model::comparison::Basis;
    use threadcount_model::metric::Metric;

    /// The ratio in a session with one analysis.
    fn ratio(variant: &[f64], baseline: &[f64], step: f64) -> Option<Estimate> {
        paired(variant, baseline, step, 1)
    }

    fn verdict_of(variant: &[f64], baseline: &[f64], step: f64) -> Verdict {
        ratio(variant, baseline, step).expect("an estimate").verdict
    }

    #[test]
    fn the_interval_of_two_sessions_is_welchs_as_computed_by_hand() {
        // Logarithms 1, 2, 3 and 2, 4, 6: variances 1 and 4, squared errors 1/3 and 4/3, their sum 5/3,
        // freedom (5/3)^2 / ((1/3)^2/2 + (4/3)^2/2) = 2.941..., t(0.975) = 3.218759 (Simpson integration of the density).
        let of = |values: [f64; 3]| values.map(f64::exp);
        let estimate = unpaired(&of([1.0, 2.0, 3.0]), &of([2.0, 4.0, 6.0]), 0.0).expect("an estimate");
        let interval = estimate.interval.expect("an interval");
        let half_width = (interval.high.ln() - interval.low.ln()) / 2.0;
        assert!(((interval.low.ln() + interval.high.ln()) / 2.0 + 2.0).abs() < 1e-9);
        assert!(
            (half_width / (5.0_f64 / 3.0).sqrt() - 3.218_759).abs() < 1e-5,
            "{}",
            half_width / (5.0_f64 / 3.0).sqrt()
        );
    }

    #[test]
    fn the_p_value_of_two_sessions_is_that_of_the_interval() {
        // Means 2 and 4, errors as above: t = -2 / sqrt(5/3) = -1.549193 with 2.941 degrees of freedom:
        // p = 0.220881 (Simpson integration of the density).
        let of = |values: [f64; 3]| values.map(f64::exp);
        let estimate = unpaired(&of([1.0, 2.0, 3.0]), &of([2.0, 4.0, 6.0]), 0.0).expect("an estimate");
        let p_value = estimate.p_value.expect("a probability");
        assert!((p_value - 0.220_881).abs() < 1e-5, "{p_value}");
        // From eight runs on it is below 5 % exactly where the wider of both intervals leaves out 1.
        let skewed = [100.0, 101.0, 99.0, 100.5, 99.5, 100.2, 98.8, 80.0, 100.1];
        for shift in (0..200).map(|step| 1.0 + f64::from(step) / 1_000.0) {
            let estimate = unpaired(&skewed.map(|rate| rate * shift), &skewed, 0.0).expect("an estimate");
            let (interval, p_value) =
                (estimate.interval.expect("an interval"), estimate.p_value.expect("one"));
            assert_eq!(
                interval.low > 1.0 || interval.high < 1.0,
                p_value < 0.05,
                "{shift}: {interval:?} {p_value}"
            );
        }
        assert_eq!(unpaired(&[1.0], &[2.0, 2.1], 0.0).expect("an estimate").p_value, None);
    }

    #[test]
    fn the_interval_of_rounds_is_that_of_the_paired_t_as_computed_by_hand() {
        // Differences of the logarithms -1, -2, -3, -4: error sqrt(5/12), t(0.975) with freedom 3 = 3.182446 (printed tables).
        let of = |values: [f64; 4]| values.map(f64::exp);
        let estimate = ratio(&of([1.0, 2.0, 3.0, 4.0]), &of([2.0, 4.0, 6.0, 8.0]), 0.0).expect("an estimate");
        let interval = estimate.interval.expect("an interval");
        assert!((f64::midpoint(interval.low.ln(), interval.high.ln()) + 2.5).abs() < 1e-9);
        let half_width = (interval.high.ln() - interval.low.ln()) / 2.0;
        assert!((half_width / (5.0_f64 / 12.0).sqrt() - 3.182_446).abs() < 1e-5, "{half_width}");
    }

    #[test]
    fn noise_that_a_round_shares_cancels() {
        let (a, b) = ([105.0, 84.1, 94.4, 120.6], [100.0, 80.0, 90.0, 115.0]);
        assert_eq!(verdict_of(&a, &b, 0.0), Verdict::Higher);
        assert_eq!(unpaired(&a, &b, 0.0).expect("an estimate").verdict, Verdict::NotEnoughRuns);
    }

    #[test]
    fn a_few_runs_may_have_missed_a_second_speed_that_is_as_large_as_a_small_difference() {
        // 1 - 0.05^(1/5) = 0.4507; times -ln 0.7 = 0.3567: 16.1 %, a factor of 1.174.
        let share = |low: f64, high: f64| unseen_share(Interval { low, high, confidence: 0.95 }, 5);
        let missed = |low, high| share(low, high).expect("a share");
        assert!((missed(1.17, 1.2) - 0.450_7).abs() < 1e-4 && (missed(0.80, 0.86) - 0.450_7).abs() < 1e-4);
        assert!((missed(0.99, 1.01) - 0.450_7).abs() < 1e-4, "no difference may hide one");
        assert_eq!((share(1.18, 1.3), share(0.5, 0.84)), (None, None));
    }

    #[test]
    fn the_inverse_ratio_has_the_inverse_interval() {
        let (a, b) = ([7800.0, 7900.0, 7850.0], [3960.0, 3950.0, 3975.0]);
        let one = ratio(&a, &b, 0.0).and_then(|estimate| estimate.interval).expect("an interval");
        let other = ratio(&b, &a, 0.0).and_then(|estimate| estimate.interval).expect("an interval");
        assert!((one.low * other.high - 1.0).abs() < 1e-12 && (one.high * other.low - 1.0).abs() < 1e-12);
    }

    #[test]
    fn a_clear_difference_is_higher_or_lower() {
        let (virtual_rate, platform_rate) = ([7846.0, 7850.0, 7800.0], [3961.0, 3950.0, 3965.0]);
        assert_eq!(verdict_of(&virtual_rate, &platform_rate, 0.0), Verdict::Higher);
        assert_eq!(verdict_of(&platform_rate, &virtual_rate, 0.0), Verdict::Lower);
    }

    #[test]
    fn a_sure_difference_below_the_margin_is_no_difference() {
        assert_eq!(
            verdict_of(&[1005.0, 1005.1, 1004.9], &[1000.0, 1000.1, 999.9], 0.0),
            Verdict::NoDifference
        );
    }

    #[test]
    fn wide_noise_is_not_enough_runs() {
        assert_eq!(verdict_of(&[900.0, 1200.0], &[1000.0, 1100.0], 0.0), Verdict::NotEnoughRuns);
    }

    #[test]
    fn an_interval_around_one_says_how_large_a_difference_could_be() {
        let estimate = ratio(&[980.0, 1000.0, 1020.0], &[1000.0, 985.0, 1015.0], 0.0).expect("an estimate");
        let interval = estimate.interval.expect("an interval");
        assert_eq!(estimate.verdict, Verdict::NoDifference);
        let largest = interval.largest_difference();
        assert!((0.03..0.06).contains(&largest), "{largest}");
        let known = Interval { low: 0.8, high: 1.25 / 0.8, confidence: 0.95 };
        assert!((known.largest_difference() - 0.5625).abs() < 1e-12, "the wider side counts");
        assert!((known.half_width() - (1.25_f64.sqrt() / 0.8 - 1.0)).abs() < 1e-12);
    }

    #[test]
    fn five_looks_make_each_interval_one_of_99_per_cent() {
        // Freedom 3: t(0.975) = 3.182446, t(0.995) = 5.840909 (printed tables).
        let (a, b) = ([1.0, 2.0, 3.0, 4.0].map(f64::exp), [2.0, 4.0, 6.0, 8.0].map(f64::exp));
        let half_width = |looks| {
            let interval = paired(&a, &b, 0.0, looks).and_then(|estimate| estimate.interval);
            interval.map(|interval| (interval.high.ln() - interval.low.ln()) / 2.0).expect("an interval")
        };
        assert!((half_width(5) / half_width(1) - 5.840_909 / 3.182_446).abs() < 1e-5);
    }

    #[test]
    fn an_undecided_ratio_says_how_many_more_runs_it_wants() {
        let ratio_of = |low: f64, high: f64, runs, verdict| Ratio {
            metric: Metric::Rate,
            variant_value: 1.0,
            baseline_value: 1.0,
            ratio: 1.0,
            interval: Some(Interval { low, high, confidence: 0.95 }),
            verdict,
            runs: (runs, runs),
            basis: Basis::default(),
        };
        // Half as wide: t / sqrt n has to fall from 2.776445 / sqrt 3 = 1.603 (Welch) to 0.8015; for pairs 2.364624 / sqrt 8 = 0.836 is
        // not enough, but 2.306004 / sqrt 9 = 0.769 is.
        let twice_too_wide = ratio_of(1.1_f64.powi(-2), 1.1_f64.powi(2), 3, Verdict::NotEnoughRuns);
        assert_eq!(more_runs(&twice_too_wide), Some(6));
        let withheld = Basis { withheld: true, ..Basis::default() };
        assert_eq!(
            more_runs(&Ratio { basis: withheld, ..twice_too_wide }),
            None,
            "it has shown its difference"
        );
        assert_eq!(more_runs(&ratio_of(0.99, 1.01, 3, Verdict::NoDifference)), None);
        assert_eq!(more_runs(&ratio_of(1e-9, 1e9, 3, Verdict::NotEnoughRuns)), Some(MOST_RUNS - 3));
    }

    #[test]
    fn one_run_on_a_side_gives_a_ratio_without_an_interval() {
        let estimate = ratio(&[2.0], &[1.0, 1.0], 0.0).expect("an estimate");
        assert_eq!(
            (estimate.ratio, estimate.interval, estimate.verdict),
            (2.0, None, Verdict::NotEnoughRuns)
        );
    }

    #[test]
    fn identical_figures_are_known_no_better_than_their_rounding() {
        assert_eq!(verdict_of(&[100.0; 3], &[100.0; 3], 0.0), Verdict::NoDifference);
        // 27 against 28 threads in two runs each may be one thread that just ended; 27 against 223 may not.
        assert_eq!(verdict_of(&[28.0; 2], &[27.0; 2], 1.0), Verdict::NoDifference);
        assert_eq!(verdict_of(&[27.0; 2], &[223.0; 2], 1.0), Verdict::Lower);
        let interval =
            ratio(&[27.0; 3], &[27.0; 3], 1.0).and_then(|estimate| estimate.interval).expect("an interval");
        assert!(interval.low < 1.0 && interval.high > 1.0);
    }

    #[test]
    fn zeros_and_missing_figures_give_no_impossible_figures() {
        assert_eq!(ratio(&[1.0], &[], 0.0), None);
        assert_eq!(ratio(&[], &[1.0], 0.0), None);
        assert_eq!(ratio(&[1.0, 1.0], &[0.0, 0.0], 0.0), None);
        assert_eq!(ratio(&[0.0, 0.0], &[0.0, 0.0], 0.0), None);
        let estimate = ratio(&[0.0, 0.0], &[1.0, 1.0], 0.0).expect("an estimate");
        assert_eq!(
            (estimate.ratio, estimate.interval, estimate.verdict),
            (0.0, None, Verdict::NotEnoughRuns)
        );
        let estimate = ratio(&[f64::MAX / 4.0, f64::MIN_POSITIVE], &[1.0, 1.0], 0.0).expect("an estimate");
        assert_eq!(estimate.interval, None);
    }
}

#[cfg(test)]
mod simulation;
