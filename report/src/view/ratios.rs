//! Comparisons in words: one phrase per metric, with its interval and its two figures.

use crate::phrase::Phrase;
use serde::Serialize;
use threadcount_judge::words::metric::{bound, noun};
use threadcount_model::comparison::{Basis, Comparison, Ratio, Verdict};
use threadcount_model::experiment::Workload;
use threadcount_model::figures;
use threadcount_model::metric::Metric;
use threadcount_stats::ratio::{MARGIN, more_runs};

/// A comparison as lines.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ComparisonWords {
    pub variant: String,
    pub baseline: String,
    pub load: String,
    /// One line per metric, the most important first.
    pub lines: Vec<Line>,
}

/// One phrase and the figures behind it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Line {
    pub phrase: Phrase,
    /// The interval of the ratio, e.g. `[1.96, 2.00]`; `None` with too few runs.
    pub interval: Option<String>,
    /// Both figures, e.g. `7,846/s against 3,961/s`.
    pub figures: String,
    /// The verdict on the ratio.
    pub verdict: Verdict,
    /// The metric of the ratio.
    #[serde(skip)]
    pub metric: Metric,
}

/// A comparison in words. Response times come first under an open load, because its rate is given.
#[must_use]
pub fn in_words(comparison: &Comparison, load: Workload) -> ComparisonWords {
    let behind = || part(comparison, Metric::TimeBehind, "time behind");
    let cpu = || part(comparison, Metric::CpuPerRequest, "CPU per request");
    if let Some(score) = whole(comparison, Metric::Score, "time per operation") {
        return from_lines(comparison, [Some(score), memory_line(comparison)].into_iter());
    }
    if let Some(capacity) = whole(comparison, Metric::Capacity, "capacity") {
        // Rates and response times were measured at each variant's own capacity, so they cannot be compared.
        let rest = [memory_line(comparison), threads_line(comparison), cpu()];
        return from_lines(comparison, std::iter::once(Some(capacity)).chain(rest));
    }
    if load.is_overload() {
        // Response times cover only the requests that did not fail.
        let first = [rate_line(comparison, load), behind()];
        return from_lines(
            comparison,
            first.into_iter().chain([memory_line(comparison), threads_line(comparison)]),
        );
    }
    if load.expects_losses() {
        // If many requests got no response, the response times of the others have no interval.
        let of_all = |line: &Line| line.interval.is_some();
        let times = [times_line(comparison, load), tail_line(comparison)].map(|it| it.filter(of_all));
        let first = [rate_line(comparison, load), behind()];
        let rest = [memory_line(comparison), threads_line(comparison)];
        return from_lines(comparison, first.into_iter().chain(times).chain(rest));
    }
    let (rate, times) = (rate_line(comparison, load), times_line(comparison, load));
    let first = if load.answer() == Metric::P50 { [times, rate] } else { [rate, times] };
    let rest = [tail_line(comparison), memory_line(comparison), threads_line(comparison), cpu()];
    from_lines(comparison, first.into_iter().chain(rest))
}

fn from_lines(comparison: &Comparison, lines: impl Iterator<Item = Option<Line>>) -> ComparisonWords {
    ComparisonWords {
        variant: comparison.variant.clone(),
        baseline: comparison.baseline.clone(),
        load: comparison.load.clone(),
        lines: lines.flatten().collect(),
    }
}

/// `virtual has 1.98x the throughput of platform`, for the first figure of an answer.
fn whole_sentence(comparison: &Comparison, ratio: &Ratio, noun: &str) -> Phrase {
    let (variant, baseline) = (&comparison.variant, &comparison.baseline);
    match ratio.verdict {
        Verdict::Higher | Verdict::Lower => {
            Phrase::around(&format!("{variant} has "), ratio.ratio, &format!(" the {noun} of {baseline}"))
        }
        Verdict::NoDifference => {
            Phrase::plain(format!("{variant} has the same {noun} as {baseline}{}", at_most(ratio)))
        }
        Verdict::NotEnoughRuns => Phrase::around(
            &format!("inconclusive: {variant} has "),
            ratio.ratio,
            &format!(" the {noun} of {baseline}{}", needed(ratio)),
        ),
    }
}

/// `1.38x the memory`, for the figures that follow.
fn part_of_sentence(ratio: &Ratio, noun: &str) -> Phrase {
    match ratio.verdict {
        Verdict::Higher | Verdict::Lower => Phrase::around("", ratio.ratio, &format!(" the {noun}")),
        Verdict::NoDifference => match no_larger_than(ratio) {
            Some(bound) => Phrase::plain(format!("{bound} in {noun}")),
            None => Phrase::plain(format!("the same {noun}")),
        },
        Verdict::NotEnoughRuns => {
            let why =
                if ratio.basis.compiler_share.is_some() { "the compiler was busy" } else { "inconclusive" };
            Phrase::around("", ratio.ratio, &format!(" the {noun} ({why})"))
        }
    }
}

fn line(phrase: Phrase, metric: Metric, ratio: &Ratio) -> Line {
    Line {
        phrase,
        interval: figures::interval_of(ratio),
        figures: figures::pair(metric, ratio.variant_value, ratio.baseline_value),
        verdict: ratio.verdict,
        metric,
    }
}

/// The line of a metric that an answer is about.
fn whole(comparison: &Comparison, metric: Metric, noun: &str) -> Option<Line> {
    let ratio = comparison.ratio(metric)?;
    Some(line(whole_sentence(comparison, ratio, noun), metric, ratio))
}

/// The line of a metric that follows those of the answer.
fn part(comparison: &Comparison, metric: Metric, noun: &str) -> Option<Line> {
    let ratio = comparison.ratio(metric)?;
    Some(line(part_of_sentence(ratio, noun), metric, ratio))
}

fn rate_line(comparison: &Comparison, load: Workload) -> Option<Line> {
    match load.answer() {
        Metric::Rate => whole(comparison, Metric::Rate, noun(load)),
        _ => part(comparison, Metric::Rate, "throughput"),
    }
}

fn at_most(ratio: &Ratio) -> String {
    no_larger_than(ratio).map_or_else(String::new, |bound| format!(", {bound}"))
}

/// The largest difference that the interval does not rule out, if it exceeds the margin.
fn no_larger_than(ratio: &Ratio) -> Option<String> {
    let around_one = ratio.interval.filter(|interval| interval.low <= 1.0 && interval.high >= 1.0)?;
    let largest = around_one.largest_difference();
    (largest > MARGIN).then(|| format!("no difference larger than {}", bound(largest)))
}

/// The number of further runs that would be conclusive.
pub(super) fn needed(ratio: &Ratio) -> String {
    more_runs(ratio)
        .map_or_else(String::new, |runs| format!("; about {} per variant needed", figures::more_runs(runs)))
}

/// The line on response times: its phrase is about the median, its figures show the median and the p99.
fn times_line(comparison: &Comparison, load: Workload) -> Option<Line> {
    let of_metric = if load.answer() == Metric::P50 { whole } else { part };
    let mut line = of_metric(comparison, Metric::P50, "median response time")?;
    line.figures.insert_str(0, "p50 ");
    // A tail that allows no conclusion because requests were lost is not put beside the median.
    let tail = comparison.ratio(Metric::P99);
    if let Some(tail) = tail.filter(|tail| tail.interval.is_some() || !load.expects_losses()) {
        let both = figures::pair(Metric::P99, tail.variant_value, tail.baseline_value);
        line.figures.push_str(&format!(", p99 {both}"));
    }
    Some(line)
}

/// The line on the 99th percentile, if its verdict is decided and differs from the median's.
fn tail_line(comparison: &Comparison) -> Option<Line> {
    let tail = comparison.ratio(Metric::P99)?;
    let is_decided = matches!(tail.verdict, Verdict::Higher | Verdict::Lower);
    let differs = comparison.ratio(Metric::P50).is_none_or(|median| median.verdict != tail.verdict);
    part(comparison, Metric::P99, "99th percentile response time").filter(|_| is_decided && differs)
}

fn memory_line(comparison: &Comparison) -> Option<Line> {
    part(comparison, Metric::MemoryNeeded, "memory needed")
        .or_else(|| part(comparison, Metric::RssPeak, "resident memory"))
}

/// The line on OS threads: a difference and not a ratio, so it has no interval.
fn threads_line(comparison: &Comparison) -> Option<Line> {
    let threads = comparison.ratio(Metric::OsThreads)?;
    let words = more_threads(threads).unwrap_or_else(|| "the same number of OS threads".to_owned());
    let phrase = Phrase::plain(words);
    Some(Line { interval: None, ..line(phrase, Metric::OsThreads, threads) })
}

/// `196 fewer OS threads`; `None` if the number is the same.
pub(super) fn more_threads(threads: &Ratio) -> Option<String> {
    let difference = (threads.variant_value - threads.baseline_value).round();
    let number = figures::count(difference.abs() as u64);
    match difference {
        d if d >= 1.0 => Some(format!("{number} more OS threads")),
        d if d <= -1.0 => Some(format!("{number} fewer OS threads")),
        _ => None,
    }
}

/// A ratio's verdict in words, or the bound on a difference that was not found.
#[must_use]
pub fn ratio_words(ratio: &Ratio) -> String {
    let bound = no_larger_than(ratio).filter(|_| ratio.verdict == Verdict::NoDifference);
    bound.unwrap_or_else(|| verdict_words(ratio.verdict, &ratio.basis))
}

/// A verdict in words, with the reason if even a clear interval proves nothing.
#[must_use]
pub fn verdict_words(verdict: Verdict, basis: &Basis) -> String {
    let words = match verdict {
        _ if basis.compiler_share.is_some() => "no verdict",
        Verdict::Higher => "higher",
        Verdict::Lower => "lower",
        Verdict::NoDifference => "no difference",
        Verdict::NotEnoughRuns => "inconclusive",
    };
    match basis.compiler_share {
        Some(share) => format!("{words}: the JVM's compiler took {} of the CPU", figures::percent(share)),
        None if basis.withheld => format!("{words}: may be chance among all figures"),
        None => words.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use threadcount_model::experiment::{LoadKind, Losses};
    use threadcount_model::interval::Interval;

    fn ratio(metric: Metric, variant: f64, baseline: f64, verdict: Verdict) -> Ratio {
        let ratio = variant / baseline;
        let interval = (verdict != Verdict::NotEnoughRuns).then_some(Interval {
            low: ratio * 0.99,
            high: ratio * 1.01,
            confidence: 0.95,
        });
        Ratio {
            metric,
            variant_value: variant,
            baseline_value: baseline,
            ratio,
            interval,
            verdict,
            runs: (3, 3),
            basis: Basis::default(),
        }
    }

    const CLOSED: Workload = Workload::Http(LoadKind::Closed { clients: 400 });
    const OPEN: Workload = open(Losses::Unexpected);

    const fn open(losses: Losses) -> Workload {
        Workload::Http(LoadKind::Open { rate_per_s: 100.0, clients: 400, losses })
    }

    fn comparison(load: &str, ratios: Vec<Ratio>) -> Comparison {
        Comparison {
            variant: "virtual".to_owned(),
            baseline: "platform".to_owned(),
            load: load.to_owned(),
            differences: Vec::new(),
            ratios,
        }
    }

    fn lines_of(verdict: Verdict, load: Workload) -> Vec<(String, String)> {
        let comparison = comparison(
            "c400",
            vec![
                ratio(Metric::Rate, 7_846.0, 3_961.0, verdict),
                ratio(Metric::P50, 50.4, 100.6, verdict),
                ratio(Metric::RssPeak, 418e6, 304e6, verdict),
                ratio(Metric::OsThreads, 27.0, 223.0, verdict),
            ],
        );
        let lines = in_words(&comparison, load).lines;
        lines.into_iter().map(|line| (line.phrase.text("x"), line.figures)).collect()
    }

    #[test]
    fn a_difference_is_said_with_its_ratio() {
        let lines = lines_of(Verdict::Higher, CLOSED);
        assert_eq!(lines[0].0, "virtual has 1.98x the throughput of platform");
        assert_eq!(lines[0].1, "7,846/s against 3,961/s");
        assert_eq!(lines[1].0, "0.50x the median response time");
        assert_eq!(lines[2].0, "1.38x the resident memory");
        assert_eq!(lines[2].1, "418 MB against 304");
        assert_eq!((lines[3].0.as_str(), lines[3].1.as_str()), ("196 fewer OS threads", "27 against 223"));
    }

    #[test]
    fn a_tail_that_gets_longer_beside_a_shorter_median_has_a_line_of_its_own() {
        let lines = |p99, verdict| {
            let comparison = comparison(
                "c400",
                vec![
                    ratio(Metric::P50, 13.0, 369.0, Verdict::Lower),
                    ratio(Metric::P99, p99, 1_000.0, verdict),
                ],
            );
            let lines = in_words(&comparison, CLOSED).lines.into_iter();
            lines.map(|line| line.phrase.text("x")).collect::<Vec<_>>()
        };
        let both = ["0.0352x the median response time", "1.75x the 99th percentile response time"];
        assert_eq!(lines(1_750.0, Verdict::Higher), both);
        assert_eq!(lines(500.0, Verdict::Lower), both[..1], "it is as the median");
        assert_eq!(lines(1_750.0, Verdict::NotEnoughRuns), both[..1]);
    }

    #[test]
    fn a_capacity_is_said_instead_of_the_rates_and_times_that_the_search_made() {
        let comparison = comparison(
            "capacity",
            vec![
                ratio(Metric::Rate, 9_390.0, 3_880.0, Verdict::Higher),
                ratio(Metric::Capacity, 9_400.0, 3_900.0, Verdict::Higher),
                ratio(Metric::P50, 60.0, 52.0, Verdict::Higher),
                ratio(Metric::RssPeak, 418e6, 304e6, Verdict::Higher),
            ],
        );
        let lines = in_words(&comparison, OPEN).lines;
        assert_eq!(lines[0].phrase.text("x"), "virtual has 2.41x the capacity of platform");
        assert_eq!(lines[0].figures, "9,400/s against 3,900/s");
        assert_eq!(lines[1].phrase.text("x"), "1.38x the resident memory");
        assert_eq!(lines.len(), 2);
    }

    #[test]
    fn of_an_overload_the_goodput_and_the_time_behind_are_said_and_no_response_time() {
        let comparison = comparison(
            "overload",
            vec![
                ratio(Metric::Rate, 71.0, 472.0, Verdict::Lower),
                ratio(Metric::P50, 900.0, 300.0, Verdict::Higher),
                ratio(Metric::P99, 9_000.0, 8_000.0, Verdict::Higher),
                ratio(Metric::TimeBehind, 24_000.0, 12_000.0, Verdict::Higher),
                ratio(Metric::MemoryNeeded, 400e6, 200e6, Verdict::Higher),
            ],
        );
        let lines = in_words(&comparison, open(Losses::OfOverload))
            .lines
            .into_iter()
            .map(|line| line.phrase.text("x"));
        let expected =
            ["virtual has 0.15x the goodput of platform", "2.00x the time behind", "2.00x the memory needed"];
        assert_eq!(lines.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn where_losses_are_expected_response_times_are_said_of_those_that_lose_nothing() {
        let ratios = |times| {
            vec![
                ratio(Metric::Rate, 180.0, 200.0, Verdict::Lower),
                ratio(Metric::P50, 5.0, 10.0, times),
                ratio(Metric::TimeBehind, 7_000.0, 5_000.0, Verdict::Higher),
            ]
        };
        let lines = |times| {
            let answer = in_words(&comparison("stalled", ratios(times)), open(Losses::Expected));
            answer.lines.into_iter().map(|line| line.phrase.text("x")).collect::<Vec<_>>()
        };
        let goodput = "virtual has 0.90x the goodput of platform";
        assert_eq!(
            lines(Verdict::Lower),
            [goodput, "1.40x the time behind", "0.50x the median response time"]
        );
        assert_eq!(lines(Verdict::NotEnoughRuns), [goodput, "1.40x the time behind"]);
        let figures = |tail| {
            let mut ratios = ratios(Verdict::Lower);
            ratios.push(ratio(Metric::P99, 50.0, 100.0, tail));
            let lines = in_words(&comparison("stalled", ratios), open(Losses::Expected)).lines;
            lines.last().map(|line| line.figures.clone()).unwrap_or_default()
        };
        assert!(figures(Verdict::Lower).contains(", p99 "), "{}", figures(Verdict::Lower));
        assert!(!figures(Verdict::NotEnoughRuns).contains("p99"), "few are lost");
    }

    #[test]
    fn of_a_benchmark_the_time_of_one_operation_is_said() {
        let comparison = Comparison {
            variant: "platform".to_owned(),
            baseline: "caller".to_owned(),
            load: "jmh".to_owned(),
            differences: Vec::new(),
            ratios: vec![ratio(Metric::Score, 37.0, 2.0, Verdict::Higher)],
        };
        let lines = in_words(&comparison, OPEN).lines;
        assert_eq!(lines[0].phrase.text("x"), "platform has 18.5x the time per operation of caller");
        assert_eq!(lines[0].figures, "37.0 µs against 2.00");
    }

    #[test]
    fn a_verdict_that_is_withheld_says_why() {
        let mut cpu = ratio(Metric::CpuPerRequest, 150.0, 100.0, Verdict::Higher);
        assert_eq!(ratio_words(&cpu), "higher");
        cpu.verdict = Verdict::NotEnoughRuns;
        cpu.basis.withheld = true;
        assert_eq!(ratio_words(&cpu), "inconclusive: may be chance among all figures");
        cpu.basis = Basis { compiler_share: Some(0.23), ..Basis::default() };
        assert_eq!(ratio_words(&cpu), "no verdict: the JVM's compiler took 23 % of the CPU");
        let line = part(&comparison("c400", vec![cpu]), Metric::CpuPerRequest, "CPU per request")
            .expect("a line")
            .phrase
            .text("x");
        assert_eq!(line, "1.50x the CPU per request (the compiler was busy)");
    }

    #[test]
    fn no_difference_is_said_without_a_ratio() {
        let lines = lines_of(Verdict::NoDifference, CLOSED);
        assert_eq!(lines[0].0, "virtual has the same throughput as platform");
        assert_eq!(lines[2].0, "the same resident memory");
    }

    #[test]
    fn too_few_runs_are_never_a_difference() {
        let lines = lines_of(Verdict::NotEnoughRuns, CLOSED);
        assert!(
            lines[0].0.starts_with("inconclusive: virtual has 1.98x the throughput of platform"),
            "{}",
            lines[0].0
        );
        assert_eq!(lines[1].0, "0.50x the median response time (inconclusive)");
    }

    #[test]
    fn a_wide_interval_around_one_says_how_large_a_difference_could_be() {
        let mut comparison = Comparison {
            variant: "b".to_owned(),
            baseline: "a".to_owned(),
            load: "c4".to_owned(),
            differences: Vec::new(),
            ratios: vec![ratio(Metric::Rate, 100.0, 100.0, Verdict::NoDifference)],
        };
        let headline = |comparison: &Comparison| in_words(comparison, CLOSED).lines[0].phrase.text("x");
        assert_eq!(headline(&comparison), "b has the same throughput as a", "within the margin");
        comparison.ratios[0].interval = Some(Interval { low: 0.97, high: 1.034, confidence: 0.95 });
        assert_eq!(headline(&comparison), "b has the same throughput as a, no difference larger than 4 %");
        comparison.ratios[0].interval = Some(Interval { low: 0.7, high: 1.4, confidence: 0.95 });
        comparison.ratios[0].verdict = Verdict::NotEnoughRuns;
        assert!(
            headline(&comparison).ends_with("; about 25 more runs per variant needed"),
            "{}",
            headline(&comparison)
        );
    }

    #[test]
    fn one_more_run_is_a_run_and_two_are_runs() {
        let needed_with = |low, high| {
            let interval = Some(Interval { low, high, confidence: 0.95 });
            needed(&Ratio { interval, ..ratio(Metric::Rate, 100.0, 100.0, Verdict::NotEnoughRuns) })
        };
        assert_eq!(needed_with(0.9999, 1.11), "; about 1 more run per variant needed");
        assert_eq!(needed_with(0.7, 1.4), "; about 25 more runs per variant needed");
    }

    #[test]
    fn under_an_open_load_the_response_times_come_first() {
        assert_eq!(
            lines_of(Verdict::Lower, OPEN)[0].0,
            "virtual has 0.50x the median response time of platform"
        );
    }
}
