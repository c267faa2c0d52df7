//! What one load says of one variant: by how much, at what cost, and what gets worse.

use crate::answer::{more_threads, needed};
use crate::load_words::load_words;
use threadcount_judge::finding::Fact;
use threadcount_judge::finding::Finding;
use threadcount_judge::findings::kind_and_number::confounded_advice;
use threadcount_judge::result::ResultDocument;
use threadcount_judge::words::metric::{bound, noun};
use threadcount_judge::words::reasons;
use threadcount_model::comparison::{Comparison, Ratio, Verdict};
use threadcount_model::doubt::{Doubt, DoubtReason};
use threadcount_model::experiment::LoadSpec;
use threadcount_model::figures;
use threadcount_model::metric::Metric;
use threadcount_stats::ratio::MARGIN;

/// Why a ratio whose interval leaves out 1 has no verdict.
const CHANCE: &str = ", which may be chance among all figures that were compared";

/// A smaller difference in cost is only in the table.
const LEAST_COST_DIFFERENCE: f64 = 0.05;

/// The comparison that a load's answer is about.
#[derive(Clone, Copy)]
pub(super) struct Headline<'a> {
    pub load: &'a LoadSpec,
    pub comparison: &'a Comparison,
    ratio: &'a Ratio,
    doubts: &'a [Doubt],
    findings: &'a [Finding],
}

/// The tails of the response times that a sentence may speak of.
const TAILS: [(Metric, &str); 4] = [
    (Metric::P99, "p99"),
    (Metric::P99_9, "p99.9"),
    (Metric::P99_99, "p99.99"),
    (Metric::Max, "slowest response"),
];

/// Of a decided ratio.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Direction {
    Worse,
    Same,
    Better,
}

/// Is it said to be higher or lower?
const fn is_difference(ratio: &Ratio) -> bool {
    matches!(ratio.verdict, Verdict::Higher | Verdict::Lower)
}

fn is_decided(ratio: &Ratio) -> bool {
    ratio.verdict != Verdict::NotEnoughRuns
}

/// The best variant with a conclusive ratio: one that is shown to be better goes before one that is no different, whatever
/// their figures. Among equals in both the one with the fewest OS threads.
pub(super) fn headline<'a>(document: &'a ResultDocument, load: &'a LoadSpec) -> Option<Headline<'a>> {
    let all = of_load(document, load);
    let lower_is_better = lower_is_better(load.workload.answer());
    let gain = |it: &Headline<'_>| if lower_is_better { 1.0 / it.ratio.ratio } else { it.ratio.ratio };
    let decided: Vec<Headline<'a>> = all.iter().copied().filter(|it| is_decided(it.ratio)).collect();
    let among = if decided.is_empty() { &all } else { &decided };
    let best =
        among.iter().max_by(|a, b| a.direction().cmp(&b.direction()).then(gain(a).total_cmp(&gain(b))))?;
    let threads = |it: &Headline<'_>| {
        it.comparison.ratio(Metric::OsThreads).map_or(f64::INFINITY, |ratio| ratio.variant_value)
    };
    let equals = among.iter().filter(|it| is_tied(it, best));
    equals.min_by(|a, b| threads(a).total_cmp(&threads(b))).copied()
}

pub(super) fn of_load<'a>(document: &'a ResultDocument, load: &'a LoadSpec) -> Vec<Headline<'a>> {
    of_comparisons(document, load, true)
}

/// The comparisons that a variant's `compare_with` asks for.
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
    here.filter_map(|comparison| {
        Some(Headline {
            load,
            comparison,
            ratio: comparison.ratio(metric)?,
            doubts: &document.why_not,
            findings: &document.findings,
        })
    })
    .collect()
}

/// Do both have the same verdict, and intervals that overlap? Beside a variant that is better, one that is not shown to be is
/// no equal, however wide its interval.
fn is_tied(a: &Headline<'_>, b: &Headline<'_>) -> bool {
    a.direction() == b.direction() && overlap(a.ratio, b.ratio)
}

/// Whether the intervals overlap.
fn overlap(a: &Ratio, b: &Ratio) -> bool {
    match (a.interval, b.interval) {
        (Some(a), Some(b)) => a.low <= b.high && b.low <= a.high,
        _ => (a.ratio / b.ratio - 1.0).abs() < f64::EPSILON,
    }
}

const fn lower_is_better(metric: Metric) -> bool {
    matches!(metric, Metric::P50 | Metric::Score)
}

pub(super) fn under(load: &LoadSpec) -> String {
    match load.workload.answer() {
        Metric::Rate => format!("with {}", load_words(load)),
        Metric::P50 => format!("at {}", load_words(load)),
        _ => format!("under {}", load_words(load)),
    }
}

impl Headline<'_> {
    pub fn sentence(&self) -> String {
        let Comparison { variant, baseline, .. } = self.comparison;
        let (noun, ratio) = (noun(self.load.workload), figures::ratio(self.ratio.ratio));
        let interval = figures::interval_of(self.ratio).unwrap_or_default();
        let sentence = match (self.ratio.verdict, self.ratio.interval) {
            (Verdict::Higher | Verdict::Lower, _) => {
                let (times, price, basis) = (self.times(), self.price(), self.basis());
                format!("{variant} has {ratio}x the {noun} of {baseline}{times}{price}{basis}")
            }
            (Verdict::NoDifference, _) => {
                let (worse, price, basis) = (self.worse(), self.price(), self.basis());
                format!(
                    "{variant} has the same {noun} as {baseline}{}: {ratio}x {interval}{worse}{price}{basis}",
                    self.within()
                )
            }
            (Verdict::NotEnoughRuns, Some(_)) => {
                let more = needed(self.ratio);
                let chance = if self.ratio.basis.withheld { CHANCE } else { "" };
                let basis = self.basis();
                format!(
                    "inconclusive: {variant} has {ratio}x {interval} the {noun} of {baseline}{chance}{more}{basis}"
                )
            }
            (Verdict::NotEnoughRuns, None) => {
                let why = self.without_interval();
                format!("inconclusive: {why}, no interval; {variant} has {ratio}x the {noun} of {baseline}")
            }
        };
        sentence + &self.confounded()
    }

    /// Why the ratio has no interval.
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

    /// How near "the same" is, where it is not near enough to go without saying.
    fn within(&self) -> String {
        let largest = self.ratio.interval.map(|interval| interval.largest_difference());
        largest
            .filter(|largest| *largest > MARGIN)
            .map_or_else(String::new, |it| format!(" within {}", bound(it)))
    }

    /// Whoever reads a ratio has to read in the same sentence that two things differ.
    fn confounded(&self) -> String {
        let Comparison { variant, baseline, load, .. } = self.comparison;
        let here = self.findings.iter().filter(|finding| finding.load.as_ref() == Some(load));
        let found = here.filter_map(|finding| match &finding.fact {
            Fact::KindAndNumber(it) => Some((finding.variant.as_ref()?, it)),
            _ => None,
        });
        let mut found = found.filter(|(threads, it)| {
            [(*threads, &it.pool_variant), (&it.pool_variant, *threads)].contains(&(variant, baseline))
        });
        found.next().map_or_else(String::new, |(_, it)| {
            format!(
                "; kind and number of threads are confounded ({} against {}): add {}",
                figures::count(it.pool_threads.into()),
                figures::count(it.requests_in_flight.into()),
                confounded_advice(it)
            )
        })
    }

    /// The response times beside a throughput, and what gets worse.
    fn times(&self) -> String {
        let is_closed = self.load.workload.is_closed();
        let median = self.comparison.ratio(Metric::P50).filter(|ratio| is_closed && is_difference(ratio));
        let median = median.map(|it| format!(" and {}x its median response time", figures::ratio(it.ratio)));
        median.unwrap_or_default() + &self.worse()
    }

    /// What is worse beyond doubt and not said yet: whoever reads that the median is shorter has to read that the tail is
    /// longer. Where the median itself is longer, that is what is said.
    pub fn worse(&self) -> String {
        // In an overload response times are those of the requests that did not fail.
        if !matches!(self.load.workload.answer(), Metric::Rate | Metric::P50)
            || self.load.workload.is_overload()
        {
            return String::new();
        }
        let longer = |metric: Metric| {
            self.comparison
                .ratio(metric)
                .filter(|ratio| ratio.verdict == Verdict::Higher)
                .map(|ratio| ratio.ratio)
        };
        let said = |ratio: f64, noun: &str| format!("{}x its {noun}", figures::ratio(ratio));
        let mut parts: Vec<String> = self.more_lost().into_iter().collect();
        if self.load.workload.answer() == Metric::P50 {
            let rate = self.comparison.ratio(Metric::Rate).filter(|ratio| ratio.verdict == Verdict::Lower);
            parts.extend(rate.map(|it| said(it.ratio, "throughput")));
        }
        let is_said = self.ratio.verdict != Verdict::NoDifference && longer(Metric::P50).is_some();
        if !is_said {
            parts.extend(longer(Metric::P50).map(|ratio| said(ratio, "median response time")));
            parts.extend(longer(Metric::Mean).map(|ratio| said(ratio, "mean response time")));
            let tails = TAILS.iter().filter_map(|&(metric, noun)| Some((longer(metric)?, noun)));
            let worst = tails.max_by(|a, b| a.0.total_cmp(&b.0));
            parts.extend(worst.map(|(ratio, noun)| said(ratio, noun)));
        }
        listed("but", &parts)
    }

    /// More requests without an expected response, where they are a part of the answer.
    fn more_lost(&self) -> Option<String> {
        let of_ratio = self.comparison.ratio(Metric::Unanswered);
        let of_ratio = of_ratio.map(|it| (it.verdict, it.variant_value, it.baseline_value));
        let of_difference = self.comparison.difference(Metric::Unanswered);
        let of_difference = of_difference.map(|it| (it.verdict, it.variant_value, it.baseline_value));
        let (verdict, variant, baseline) = of_ratio.or(of_difference)?;
        let is_more = verdict == Verdict::Higher && self.load.workload.expects_losses();
        let [variant, baseline] = [variant, baseline].map(|it| figures::figure(Metric::Unanswered, it));
        is_more.then(|| format!("{variant} of its requests unanswered against {baseline}"))
    }

    /// What the verdict rests on, where that takes from it: runs of two speeds, and speeds that few runs may have missed.
    fn basis(&self) -> String {
        let basis = &self.ratio.basis;
        let speeds = basis.two_speeds.iter().map(|it| {
            let are = if it.slower_runs == 1 { "is" } else { "are" };
            let (runs, slower) = (figures::plural(it.runs, "run"), figures::percent(it.slow_by));
            format!("; {} of {runs} of {} {are} {slower} slower", it.slower_runs, it.variant)
        });
        let unseen = basis.unseen_share.filter(|_| is_difference(self.ratio)).map(|share| {
            let runs = figures::plural(self.ratio.runs.0.min(self.ratio.runs.1), "run");
            format!(
                "; {runs} each: another speed in up to {} of runs would be unseen",
                figures::percent(share)
            )
        });
        speeds.chain(unseen).collect()
    }

    /// OS threads, and memory and CPU where they differ.
    fn price(&self) -> String {
        let threads = self.comparison.ratio(Metric::OsThreads).and_then(more_threads);
        let cost = |metric: Metric, noun: &str| {
            let ratio = self.comparison.ratio(metric).filter(|it| is_decided(it))?;
            let is_worth_saying = (ratio.ratio - 1.0).abs() > LEAST_COST_DIFFERENCE;
            is_worth_saying.then(|| format!("{}x the {noun}", figures::ratio(ratio.ratio)))
        };
        // What is resident and not needed depends on how full the heap may get.
        let knows_need = self.comparison.ratio(Metric::MemoryNeeded).is_some();
        let memory = if knows_need {
            cost(Metric::MemoryNeeded, "memory")
        } else {
            cost(Metric::RssPeak, "resident memory")
        };
        let cpu = cost(Metric::CpuPerRequest, "CPU per request").filter(|_| !self.has_busy_compiler());
        let parts = [threads, memory, cpu];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        listed("with", &parts)
    }

    /// Was one of the two not warm, so that its CPU per request is not that of a warm server?
    fn has_busy_compiler(&self) -> bool {
        let Comparison { variant, baseline, load, .. } = self.comparison;
        self.doubts.iter().any(|doubt| {
            let is_here = doubt.load == *load && [variant, baseline].contains(&&doubt.variant);
            is_here && matches!(doubt.reason, DoubtReason::CompilerBusy { .. })
        })
    }

    /// The other variants whose intervals overlap with this one's, where this one is decided.
    pub fn equals(&self, document: &ResultDocument) -> String {
        if !is_decided(self.ratio) {
            return String::new();
        }
        let alike = of_load(document, self.load).into_iter().filter(|it| {
            it.comparison.variant != self.comparison.variant && is_decided(it.ratio) && is_tied(it, self)
        });
        let sentences = alike.map(|it| {
            let threads = it.comparison.ratio(Metric::OsThreads);
            let threads = threads.map_or_else(String::new, |it| {
                format!(" with {} OS threads", figures::figure(Metric::OsThreads, it.variant_value))
            });
            format!("{}: {}x{threads}", it.comparison.variant, figures::ratio(it.ratio.ratio))
        });
        let sentences: Vec<String> = sentences.take(2).collect();
        if sentences.is_empty() { String::new() } else { format!(" ({})", sentences.join("; ")) }
    }

    /// The ratio of another load, and what takes from it. `before`: the load that the words follow; of the same variant and the
    /// same baseline they are shorter.
    pub fn short(&self, before: &Self) -> String {
        let ratio = figures::ratio(self.ratio.ratio);
        let same = is_of_pair(self, before) && noun(self.load.workload) == noun(before.load.workload);
        let what = if same {
            format!("{ratio}x")
        } else {
            let Comparison { variant, baseline, .. } = self.comparison;
            format!("{variant} has {ratio}x the {} of {baseline}", noun(self.load.workload))
        };
        let doubt = match (self.ratio.verdict, self.ratio.interval) {
            (Verdict::NotEnoughRuns, None) => format!(" ({}: indicative only)", self.without_interval()),
            (Verdict::NotEnoughRuns, Some(_)) => " (inconclusive)".to_owned(),
            _ => String::new(),
        };
        format!("{}, {what}{doubt}{}{}", under(self.load), self.worse(), self.confounded())
    }

    /// Better than the baseline, no different, or worse; `None`: not decided.
    pub fn direction(&self) -> Option<Direction> {
        let is_better = |higher| higher != lower_is_better(self.load.workload.answer());
        let better_or_worse = |higher| if is_better(higher) { Direction::Better } else { Direction::Worse };
        match self.ratio.verdict {
            Verdict::Higher => Some(better_or_worse(true)),
            Verdict::Lower => Some(better_or_worse(false)),
            Verdict::NoDifference => Some(Direction::Same),
            Verdict::NotEnoughRuns => None,
        }
    }
}

/// Are both of the same variant and the same baseline?
pub(super) fn is_of_pair(a: &Headline<'_>, b: &Headline<'_>) -> bool {
    (&a.comparison.variant, &a.comparison.baseline) == (&b.comparison.variant, &b.comparison.baseline)
}

/// `a`, `a and b`, `a, b and c`, after a word that introduces them; nothing where there are none.
fn listed(word: &str, parts: &[String]) -> String {
    match parts {
        [] => String::new(),
        [only] => format!(", {word} {only}"),
        [first @ .., last] => format!(", {word} {} and {last}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use threadcount_config::parse;
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
            Headline { load, comparison: &comparison, ratio, doubts: &[], findings: &[] }.worse()
        };
        assert!(worse([0, 300]).ends_with(" of its requests unanswered against 0 %"), "{}", worse([0, 300]));
        assert!(worse([100, 300]).starts_with(", but 3.0"), "{}", worse([100, 300]));
        assert_eq!(worse([300, 100]), "");
        assert_eq!(worse([0, 0]), "");
    }
}
