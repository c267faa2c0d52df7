//! The answer in one sentence: which variant, by how much, at what price.

use super::table::columns;
use crate::model::experiment::{LoadKind, LoadSpec};
use crate::model::metric::Metric;
use crate::model::result::{Comparison, Ratio, ResultDocument, Verdict};
use crate::report::figures;
use crate::report::load_words::load_words;
use crate::report::summary::capital;
use crate::stats::ratio::more_runs;

/// A price that differs by less is left to the table.
const WORTH_SAYING: f64 = 0.05;

/// The comparison that a load's answer is about.
#[derive(Clone, Copy)]
struct Headline<'a> {
    load: &'a LoadSpec,
    comparison: &'a Comparison,
    ratio: &'a Ratio,
}

/// The answer. Of several loads the first is said in full and the last one shortly.
#[must_use]
pub fn answer(document: &ResultDocument) -> String {
    let loads = &document.experiment.loads;
    let headlines: Vec<Headline<'_>> = loads.iter().filter_map(|load| headline(document, load)).collect();
    let Some(first) = headlines.first() else {
        return "Nothing to compare: only one variant has a complete run.".to_owned();
    };
    let mut answer = first.sentence();
    if is_decided(first.ratio) {
        answer.push_str(&first.equals(document));
    }
    if loads.len() > 1 {
        answer = format!("{}, {answer}", under(first.load));
    }
    if let Some(last) = headlines.last().filter(|last| last.load.name != first.load.name) {
        answer.push_str(&last.short(first));
    }
    capital(&answer) + "."
}

fn is_decided(ratio: &Ratio) -> bool {
    ratio.verdict != Verdict::NotEnoughRuns
}

/// The best variant of those of which something can be said; among equals the one with the fewest OS threads.
fn headline<'a>(document: &'a ResultDocument, load: &'a LoadSpec) -> Option<Headline<'a>> {
    let all = of_load(document, load);
    let lower_is_better = lower_is_better(load.kind);
    let gain = |it: &Headline<'_>| if lower_is_better { 1.0 / it.ratio.ratio } else { it.ratio.ratio };
    let decided: Vec<Headline<'a>> = all.iter().copied().filter(|it| is_decided(it.ratio)).collect();
    let among = if decided.is_empty() { &all } else { &decided };
    let best = among.iter().max_by(|a, b| gain(a).total_cmp(&gain(b)))?;
    let threads = |it: &Headline<'_>| {
        it.comparison.ratio(Metric::OsThreads).map_or(f64::INFINITY, |ratio| ratio.variant_value)
    };
    let equals = among.iter().filter(|it| overlap(it.ratio, best.ratio));
    equals.min_by(|a, b| threads(a).total_cmp(&threads(b))).copied()
}

fn of_load<'a>(document: &'a ResultDocument, load: &'a LoadSpec) -> Vec<Headline<'a>> {
    let metric = columns(load.kind)[0].metric;
    let here = document.comparisons_under(&load.name);
    here.filter_map(|comparison| Some(Headline { load, comparison, ratio: comparison.ratio(metric)? }))
        .collect()
}

/// Can the data not tell them apart?
fn overlap(a: &Ratio, b: &Ratio) -> bool {
    match (a.interval, b.interval) {
        (Some(a), Some(b)) => a.low <= b.high && b.low <= a.high,
        _ => (a.ratio / b.ratio - 1.0).abs() < f64::EPSILON,
    }
}

const fn lower_is_better(kind: LoadKind) -> bool {
    matches!(kind, LoadKind::Open { .. } | LoadKind::Benchmark(_))
}

const fn noun(kind: LoadKind) -> &'static str {
    match kind {
        LoadKind::Closed { .. } => "throughput",
        LoadKind::Open { .. } => "median response time",
        LoadKind::Capacity(_) => "capacity",
        LoadKind::Benchmark(_) => "time per operation",
    }
}

fn under(load: &LoadSpec) -> String {
    match load.kind {
        LoadKind::Closed { .. } => format!("with {}", load_words(load)),
        LoadKind::Open { .. } => format!("at {}", load_words(load)),
        LoadKind::Capacity(_) | LoadKind::Benchmark(_) => format!("under {}", load_words(load)),
    }
}

impl Headline<'_> {
    fn sentence(&self) -> String {
        let Comparison { variant, baseline, .. } = self.comparison;
        let (noun, ratio) = (noun(self.load.kind), figures::ratio(self.ratio.ratio));
        let interval = figures::interval_of(self.ratio).unwrap_or_default();
        match (self.ratio.verdict, self.ratio.interval) {
            (Verdict::Higher | Verdict::Lower, _) => {
                format!("{variant} has {ratio}x the {noun} of {baseline}{}{}", self.times(), self.price())
            }
            (Verdict::NoDifference, _) => {
                format!("{variant} has the same {noun} as {baseline}: {ratio}x {interval}{}", self.price())
            }
            (Verdict::NotEnoughRuns, Some(_)) => {
                let more = more_runs(self.ratio).map_or_else(String::new, |runs| {
                    format!("; about {} per variant needed", figures::more_runs(runs))
                });
                format!("inconclusive: {variant} has {ratio}x {interval} the {noun} of {baseline}{more}")
            }
            (Verdict::NotEnoughRuns, None) => {
                format!(
                    "inconclusive: one valid run, no interval; {variant} has {ratio}x the {noun} of {baseline}"
                )
            }
        }
    }

    /// The response times beside a throughput. A tail that gets worse while the median does not is said.
    fn times(&self) -> String {
        if !matches!(self.load.kind, LoadKind::Closed { .. } | LoadKind::Open { .. }) {
            return String::new();
        }
        let is_closed = matches!(self.load.kind, LoadKind::Closed { .. });
        let median = self.comparison.ratio(Metric::P50);
        let decided = |ratio: &&Ratio| matches!(ratio.verdict, Verdict::Higher | Verdict::Lower);
        let said = median.filter(decided).filter(|_| is_closed);
        let said = said.map(|it| format!(" and {}x its median response time", figures::ratio(it.ratio)));
        let tail = self
            .comparison
            .ratio(Metric::P99)
            .filter(|tail| tail.verdict == Verdict::Higher)
            .filter(|_| median.is_none_or(|median| median.verdict != Verdict::Higher))
            .map(|tail| format!(", but {}x its p99", figures::ratio(tail.ratio)));
        said.unwrap_or_default() + &tail.unwrap_or_default()
    }

    /// OS threads, and memory and CPU where they differ.
    fn price(&self) -> String {
        let threads = self.comparison.ratio(Metric::OsThreads);
        let threads = threads.and_then(|it| thread_words(it.variant_value - it.baseline_value));
        let cost = |metric: Metric, noun: &str| {
            let ratio = self.comparison.ratio(metric).filter(|it| is_decided(it))?;
            let is_worth_saying = (ratio.ratio - 1.0).abs() > WORTH_SAYING;
            is_worth_saying.then(|| format!("{}x the {noun}", figures::ratio(ratio.ratio)))
        };
        let parts =
            [threads, cost(Metric::RssPeak, "memory"), cost(Metric::CpuPerRequest, "CPU per request")];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        match parts.as_slice() {
            [] => String::new(),
            [only] => format!(", with {only}"),
            [first @ .., last] => format!(", with {} and {last}", first.join(", ")),
        }
    }

    /// The other variants that the intervals do not tell from this one.
    fn equals(&self, document: &ResultDocument) -> String {
        let alike = of_load(document, self.load).into_iter().filter(|it| {
            it.comparison.variant != self.comparison.variant
                && is_decided(it.ratio)
                && overlap(it.ratio, self.ratio)
        });
        let said = alike.map(|it| {
            let threads = it.comparison.ratio(Metric::OsThreads);
            let threads = threads.map_or_else(String::new, |it| {
                format!(" with {} OS threads", figures::figure(Metric::OsThreads, it.variant_value))
            });
            format!("{}: {}x{threads}", it.comparison.variant, figures::ratio(it.ratio.ratio))
        });
        let said: Vec<String> = said.take(2).collect();
        if said.is_empty() { String::new() } else { format!(" ({})", said.join("; ")) }
    }

    fn short(&self, first: &Headline<'_>) -> String {
        let ratio = figures::ratio(self.ratio.ratio);
        let same = self.comparison.variant == first.comparison.variant
            && noun(self.load.kind) == noun(first.load.kind);
        let what = if same {
            format!("{ratio}x")
        } else {
            let Comparison { variant, baseline, .. } = self.comparison;
            format!("{variant} has {ratio}x the {} of {baseline}", noun(self.load.kind))
        };
        let doubt = match (self.ratio.verdict, self.ratio.interval) {
            (Verdict::NotEnoughRuns, None) => " (one run: indicative only)",
            (Verdict::NotEnoughRuns, Some(_)) => " (inconclusive)",
            _ => "",
        };
        format!("; {}, {what}{doubt}", under(self.load))
    }
}

fn thread_words(difference: f64) -> Option<String> {
    let number = figures::count(difference.abs().round() as u64);
    match difference.round() {
        d if d >= 1.0 => Some(format!("{number} more OS threads")),
        d if d <= -1.0 => Some(format!("{number} fewer OS threads")),
        _ => None,
    }
}
