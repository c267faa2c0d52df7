//! The comparison that a load's answer is about, and its parts in words.

use super::ratios::needed;
use crate::load_words::{load_words, metric_words};
use threadcount_judge::decision::{Unanswered, effect, times, unanswered};
use threadcount_judge::evident::is_evident;
use threadcount_judge::result::ResultDocument;
use threadcount_judge::unreadable::unreadable;
use threadcount_judge::words::metric::{bound, noun};
use threadcount_judge::words::reasons;
use threadcount_model::comparison::{Comparison, Ratio, Verdict};
use threadcount_model::doubt::{Doubt, DoubtReason};
use threadcount_model::experiment::{LoadSpec, Variant};
use threadcount_model::figures;
use threadcount_model::metric::Metric;
use threadcount_stats::decision::Effect;
use threadcount_stats::ratio::{MARGIN, WIDEST};

/// The comparison that a load's answer is about.
#[derive(Clone, Copy)]
pub(super) struct Headline<'a> {
    pub load: &'a LoadSpec,
    pub comparison: &'a Comparison,
    pub ratio: &'a Ratio,
    /// The reason why the ratio is not shown, if it is not.
    pub unreadable: Option<&'static str>,
    /// Whether the ratio is too large for the few runs to be the cause.
    is_evident: bool,
    doubts: &'a [Doubt],
}

/// The tail metrics that a sentence may mention.
const TAILS: [Metric; 2] = [Metric::P99, Metric::P99_9];

/// The direction of a decided ratio.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Direction {
    Worse,
    Same,
    Better,
}

/// The comparison that the question asks for, of virtual threads with platform threads; otherwise that of the best variant. If the one
/// that is asked for is not decided, another variant on virtual threads that is surely better or worse says more.
pub(super) fn headline<'a>(document: &'a ResultDocument, load: &'a LoadSpec) -> Option<Headline<'a>> {
    let experiment = &document.experiment;
    let all = of_load(document, load);
    let asked = experiment.virtual_variant(load);
    let Some(asked) = all.iter().find(|it| asked.is_some_and(|asked| it.is_about(&asked.name))) else {
        return best(document, load);
    };
    let is_virtual = |headline: &&Headline<'_>| {
        experiment.variant(&headline.comparison.variant).is_some_and(Variant::is_on_virtual_threads)
    };
    let decided =
        all.iter().find(|it| it.direction().is_some_and(|to| to != Direction::Same) && is_virtual(it));
    Some(*decided.filter(|_| !asked.is_decided()).unwrap_or(asked))
}

/// The best variant with a conclusive ratio. A variant shown to be better goes before one that is no different, whatever
/// their figures; among ties the one with the fewest OS threads wins.
pub(super) fn best<'a>(document: &'a ResultDocument, load: &'a LoadSpec) -> Option<Headline<'a>> {
    let all = of_load(document, load);
    let lower_is_better = load.workload.answer().lower_is_better();
    let gain = |it: &Headline<'_>| if lower_is_better { 1.0 / it.ratio.ratio } else { it.ratio.ratio };
    let decided: Vec<Headline<'a>> = all.iter().copied().filter(Headline::is_decided).collect();
    let among = if decided.is_empty() { &all } else { &decided };
    let best =
        among.iter().max_by(|a, b| a.direction().cmp(&b.direction()).then(gain(a).total_cmp(&gain(b))))?;
    let threads = |it: &Headline<'_>| it.os_threads().map_or(f64::INFINITY, |ratio| ratio.variant_value);
    let equals = among.iter().filter(|it| is_tied(it, best));
    equals.min_by(|a, b| threads(a).total_cmp(&threads(b))).or(Some(best)).copied()
}

/// The comparisons with the baseline.
pub(super) fn of_load<'a>(document: &'a ResultDocument, load: &'a LoadSpec) -> Vec<Headline<'a>> {
    of_comparisons(document, load, true)
}

/// The comparisons with another variant than the baseline.
pub(super) fn asked_for<'a>(document: &'a ResultDocument, load: &'a LoadSpec) -> Vec<Headline<'a>> {
    of_comparisons(document, load, false)
}

fn of_comparisons<'a>(
    document: &'a ResultDocument,
    load: &'a LoadSpec,
    with_baseline: bool,
) -> Vec<Headline<'a>> {
    let metric = load.workload.answer();
    let here = document.comparisons_with_baseline(load, with_baseline);
    here.filter(|it| document.serious_doubt(it).is_none())
        .filter_map(|comparison| {
            let ratio = comparison.ratio(metric)?;
            let is_evident = is_evident(document, comparison, ratio);
            Some(Headline {
                load,
                comparison,
                ratio,
                unreadable: unreadable(document, comparison, ratio).filter(|_| !is_evident),
                is_evident,
                doubts: &document.why_not,
            })
        })
        .collect()
}

/// Whether both have the same verdict, overlapping intervals that are not wide, and ratios near each other. A variant not
/// shown to be better does not equal one that is, and a wide interval shows no equality.
fn is_tied(a: &Headline<'_>, b: &Headline<'_>) -> bool {
    let is_near = (a.ratio.ratio / b.ratio.ratio).ln().abs() <= WIDEST.ln_1p();
    let is_wide =
        |it: &Headline<'_>| it.ratio.interval.is_some_and(|interval| interval.half_width() > WIDEST);
    a.direction() == b.direction() && is_near && overlap(a.ratio, b.ratio) && ![a, b].into_iter().any(is_wide)
}

/// Whether both have the same verdict and their intervals rule out a difference that matters.
fn is_equivalent(a: &Headline<'_>, b: &Headline<'_>) -> bool {
    let farthest = match (a.ratio.interval, b.ratio.interval) {
        (Some(a), Some(b)) => (a.high / b.low).max(b.high / a.low) - 1.0,
        _ => 0.0,
    };
    a.direction() == b.direction() && overlap(a.ratio, b.ratio) && farthest <= WIDEST
}

pub(super) fn overlap(a: &Ratio, b: &Ratio) -> bool {
    match (a.interval, b.interval) {
        (Some(a), Some(b)) => a.low <= b.high && b.low <= a.high,
        _ => (a.ratio / b.ratio - 1.0).abs() < f64::EPSILON,
    }
}

/// `with 400 clients`, `at 5,000/s over at most 64 clients`.
pub(super) fn under(load: &LoadSpec) -> String {
    match load.workload.answer() {
        Metric::Rate => format!("with {}", load_words(load)),
        Metric::P50 => format!("at {}", load_words(load)),
        _ => format!("under {}", load_words(load)),
    }
}

impl<'a> Headline<'a> {
    fn is_about(&self, variant: &str) -> bool {
        self.comparison.variant == variant
    }

    pub fn is_decided(&self) -> bool {
        self.is_evident || (self.ratio.verdict != Verdict::NotEnoughRuns && self.unreadable.is_none())
    }

    /// `1.98x the throughput of platform`.
    fn times(&self) -> String {
        let (ratio, noun) = (figures::ratio(self.ratio.ratio), noun(self.load.workload));
        format!("{ratio}x the {noun} of {}", self.comparison.baseline)
    }

    /// The ratio in a clause, without its load.
    pub fn clause(&self) -> String {
        let Comparison { variant, baseline, .. } = self.comparison;
        let noun = noun(self.load.workload);
        if let Some(why) = self.unreadable {
            return format!("Not known yet, {why}: no ratio of {variant} to {baseline}");
        }
        if self.is_evident {
            let (ratio, times) = (self.ratio, self.times());
            let [of_variant, of_baseline] =
                [ratio.variant_value, ratio.baseline_value].map(|it| figures::figure(ratio.metric, it));
            let runs = match ratio.runs {
                (one, other) if one == other => format!("{} each", figures::plural(one, "run")),
                (one, other) => format!("{one} and {}", figures::plural(other, "run")),
            };
            return format!("{variant} has {times} ({of_variant} against {of_baseline}, {runs})");
        }
        match (self.ratio.verdict, self.ratio.interval) {
            (Verdict::Higher | Verdict::Lower, _) => format!("{variant} has {}", self.times()),
            (Verdict::NoDifference, _) => {
                format!("{variant} has the same {noun} as {baseline}{}", self.within())
            }
            (Verdict::NotEnoughRuns, Some(_)) => format!("Not known yet: {variant} has {}", self.times()),
            (Verdict::NotEnoughRuns, None) => {
                format!("Not known yet, {}: {variant} has {}", self.without_interval(), self.times())
            }
        }
    }

    /// The reason why the ratio has no interval.
    fn without_interval(&self) -> String {
        let Comparison { variant, baseline, load, .. } = self.comparison;
        let is_limited = |doubt: &&Doubt| {
            let is_another_limit =
                doubt.reason.is_of_generator() || matches!(doubt.reason, DoubtReason::BackendLimit { .. });
            is_another_limit && doubt.load == *load && [variant, baseline].contains(&&doubt.variant)
        };
        if let Some(doubt) = self.doubts.iter().find(is_limited) {
            return reasons::doubt_in_short(doubt);
        }
        match self.ratio.runs {
            (0 | 1, 0 | 1) => "one valid run".to_owned(),
            (0 | 1, _) => format!("one valid run of {variant}"),
            (_, 0 | 1) => format!("one valid run of {baseline}"),
            _ => "fewer than 2 rounds with a valid run of both".to_owned(),
        }
    }

    /// The bound on "the same", if it is too wide to go without saying.
    fn within(&self) -> String {
        let largest = self.ratio.interval.map(|interval| interval.largest_difference());
        largest
            .filter(|largest| *largest > MARGIN)
            .map_or_else(String::new, |it| format!(" within {}", bound(it)))
    }

    /// `0.49x the median response time`: the response times of the decision that are shorter and not in the clause.
    pub fn better(&self, document: &ResultDocument) -> Vec<String> {
        let times = if self.is_decided() { times(self.load) } else { &[] };
        let is_shorter =
            |metric: &&Metric| effect(document, self.comparison, **metric) == Some(Effect::Better);
        let shorter = times.iter().filter(is_shorter).filter_map(|metric| self.comparison.ratio(*metric));
        let words = |ratio: &Ratio| match ratio.metric {
            Metric::P50 => "median response time".to_owned(),
            metric => metric_words(metric),
        };
        shorter.map(|it| format!("{}x the {}", figures::ratio(it.ratio), words(it))).collect()
    }

    /// `1.90x the p99`: the metrics that are clearly worse and not in the clause. A reader who learns of a shorter median must also learn
    /// of a longer tail.
    pub fn worse(&self) -> Vec<String> {
        // In an overload, response times cover only the requests that did not fail.
        if !matches!(self.load.workload.answer(), Metric::Rate | Metric::P50)
            || self.load.workload.is_overload()
        {
            return Vec::new();
        }
        let longer = |metric: Metric| {
            let ratio = self.comparison.ratio(metric).filter(|ratio| ratio.verdict == Verdict::Higher);
            ratio.map(|ratio| ratio.ratio)
        };
        let times = |ratio: f64, noun: &str| format!("{}x the {noun}", figures::ratio(ratio));
        let mut parts: Vec<String> = self.more_lost().into_iter().collect();
        let is_answer = self.load.workload.answer() == Metric::P50;
        if is_answer {
            let rate = self.comparison.ratio(Metric::Rate).filter(|ratio| ratio.verdict == Verdict::Lower);
            parts.extend(rate.map(|it| times(it.ratio, "throughput")));
        }
        let is_said = is_answer && self.ratio.verdict != Verdict::NoDifference;
        if !(is_said && longer(Metric::P50).is_some()) {
            parts.extend(longer(Metric::P50).map(|ratio| times(ratio, "median response time")));
            parts.extend(longer(Metric::Mean).map(|ratio| times(ratio, "mean response time")));
            let tails = TAILS.into_iter().filter_map(|metric| Some((longer(metric)?, metric)));
            let worst = tails.max_by(|a, b| a.0.total_cmp(&b.0));
            parts.extend(worst.map(|(ratio, metric)| times(ratio, &metric_words(metric))));
        }
        parts
    }

    /// The increase of requests without an expected response, if it is part of the answer.
    fn more_lost(&self) -> Option<String> {
        let Unanswered { verdict, variant, baseline } = unanswered(self.comparison)?;
        let is_more = verdict == Verdict::Higher && self.load.workload.expects_losses();
        let [variant, baseline] = [variant, baseline].map(|it| figures::figure(Metric::Unanswered, it));
        is_more.then(|| format!("{variant} of its requests unanswered, not {baseline}"))
    }

    pub fn os_threads(&self) -> Option<&'a Ratio> {
        self.comparison.ratio(Metric::OsThreads)
    }

    /// The other variants that are equally good, if this one is decided.
    pub fn equals(&self, document: &'a ResultDocument) -> Vec<Self> {
        if !self.is_decided() {
            return Vec::new();
        }
        let alike = of_load(document, self.load).into_iter().filter(|headline| {
            headline.comparison.variant != self.comparison.variant
                && headline.is_decided()
                && is_equivalent(headline, self)
        });
        alike.collect()
    }

    /// Weaknesses of the runs behind the ratio: runs at two speeds, and speeds that few runs may have missed.
    pub fn basis(&self) -> Vec<String> {
        let basis = &self.ratio.basis;
        let speeds = basis.two_speeds.iter().map(|speeds| {
            let are = if speeds.slower_runs == 1 { "is" } else { "are" };
            let (runs, slower) = (figures::plural(speeds.runs, "run"), figures::percent(speeds.slow_by));
            format!("{} of {runs} of {} {are} {slower} slower", speeds.slower_runs, speeds.variant)
        });
        let is_difference = matches!(self.ratio.verdict, Verdict::Higher | Verdict::Lower);
        let unseen = basis.unseen_share.filter(|_| is_difference).map(|share| {
            let runs = figures::plural(self.ratio.runs.0.min(self.ratio.runs.1), "run");
            let (pair, share) = (self.pair(), figures::percent(share));
            format!("{pair}: {runs} each would miss another speed of up to {share} of runs")
        });
        speeds.chain(unseen).collect()
    }

    /// `virtual-cache vs virtual: 1.04x [0.96, 1.12], inconclusive; about 2 more runs per variant`; `None` if decided.
    pub fn inconclusive(&self) -> Option<String> {
        if self.is_decided() {
            return None;
        }
        let (pair, ratio) = (self.pair(), figures::ratio(self.ratio.ratio));
        if let Some(why) = self.unreadable {
            return Some(format!("{pair}: no ratio, {why}"));
        }
        let Some(interval) = figures::interval_of(self.ratio) else {
            return Some(format!("{pair}: {ratio}x, no interval ({})", self.without_interval()));
        };
        Some(if self.ratio.basis.withheld {
            format!("{pair}: {ratio}x {interval}, too few runs to be sure")
        } else {
            format!("{pair}: {ratio}x {interval}, inconclusive{}", needed(self.ratio))
        })
    }

    /// `virtual vs platform, 400 clients`.
    fn pair(&self) -> String {
        let Comparison { variant, baseline, .. } = self.comparison;
        format!("{variant} vs {baseline}, {}", load_words(self.load))
    }

    /// Better than the baseline, no different, or worse; `None` if not decided.
    pub fn direction(&self) -> Option<Direction> {
        let is_better = |higher| higher != self.load.workload.answer().lower_is_better();
        let better_or_worse = |higher| if is_better(higher) { Direction::Better } else { Direction::Worse };
        match self.ratio.verdict {
            _ if self.unreadable.is_some() => None,
            _ if self.is_evident => Some(better_or_worse(self.ratio.ratio > 1.0)),
            Verdict::Higher => Some(better_or_worse(true)),
            Verdict::Lower => Some(better_or_worse(false)),
            Verdict::NoDifference => Some(Direction::Same),
            Verdict::NotEnoughRuns => None,
        }
    }
}

/// Whether both compare the same variant with the same baseline.
pub(super) fn is_of_pair(a: &Headline<'_>, b: &Headline<'_>) -> bool {
    (&a.comparison.variant, &a.comparison.baseline) == (&b.comparison.variant, &b.comparison.baseline)
}

#[cfg(test)]
mod tests {
    use super::*;
    use threadcount_config::parse;
    use threadcount_model::record::LoadSample;
    use threadcount_model::sample::{run, with_load};
    use threadcount_stats::comparison::compare;

    #[test]
    fn where_losses_are_expected_a_variant_that_loses_more_is_said_to() {
        let worse = |lost: [u64; 2]| {
            let text = "question: q\nserver: {tomcat: 11.0}\nrequest: /\nvariants: {a: {}, b: {}}\n\
                loads: [{name: c4, rate: 1000/s, duration: 10s, losses: expected}]\n";
            let experiment = parse("x", "x.yaml", text, false).expect("an experiment");
            let records: Vec<_> = [0, 3, 1, 4, 2, 3]
                .into_iter()
                .flat_map(|more| [("a", lost[0], more), ("b", lost[1], more)])
                .map(|(variant, lost, more)| {
                    let lost = if lost > 0 { lost + more } else { 0 };
                    with_load(run(variant, "c4", 1_000.0, 5.0), |load| load.requests.ok -= lost)
                })
                .collect();
            let comparison = compare(&experiment, &records).remove(0);
            let load = &experiment.loads[0];
            let ratio = comparison.ratio(Metric::Rate).expect("the rate");
            Headline {
                load,
                comparison: &comparison,
                ratio,
                unreadable: None,
                is_evident: false,
                doubts: &[],
            }
            .worse()
            .concat()
        };
        assert!(worse([0, 300]).ends_with(" of its requests unanswered, not 0 %"), "{}", worse([0, 300]));
        assert!(worse([100, 300]).starts_with("3.0"), "{}", worse([100, 300]));
        assert_eq!(worse([300, 100]), "");
        assert_eq!(worse([0, 0]), "");
    }

    /// The answer about two runs with these responses in each second.
    fn answer_of(pool: &[f64], pinned: &[f64]) -> String {
        let record = |variant, rates: &[f64]| {
            let second = |(at, &rate_per_s): (usize, &f64)| LoadSample {
                t_s: at as f64 + 0.5,
                rate_per_s,
                ..LoadSample::default()
            };
            let mut record = run(variant, "c200", rates.iter().sum::<f64>() / rates.len() as f64, 10.0);
            record.load_series = rates.iter().enumerate().map(second).collect();
            record
        };
        let records = [record("pool", pool), record("pinned", pinned)];
        let variants = "{pool: {}, pinned: {threads: virtual}}";
        let mut document = crate::sample::document(variants, "[{clients: 200, duration: 4s}]", &records);
        document.comparisons = threadcount_stats::compare(&document.experiment, &records);
        crate::view::answer::answer(&document).remove(0)
    }

    #[test]
    fn what_each_half_of_all_runs_shows_is_said_with_their_number() {
        assert_eq!(
            answer_of(&[300.0, 54.0, 181.0, 173.0], &[0.0, 15.0, 17.0, 0.0]),
            "Worse. pinned has 0.0452x the throughput of pool (8.00/s against 177/s, 1 run each) with 200 clients."
        );
    }

    #[test]
    fn a_run_that_gets_faster_and_a_difference_that_two_jvms_may_have_stay_inconclusive() {
        for pinned in [[8.0, 10.0, 20.0, 40.0], [70.0, 71.0, 70.0, 69.0], [8.0, 8.0, 40.0, 60.0]] {
            let printed = answer_of(&[177.0, 170.0, 181.0, 180.0], &pinned);
            assert!(printed.starts_with("Not known yet, one valid run"), "{printed}");
        }
    }
}
