//! A comparison in words: one phrase for each thing a reader asks about, with its interval and its two figures.

use crate::model::metric::Metric;
use crate::model::result::{Comparison, Ratio, Verdict};
use crate::report::figures;
use crate::stats::ratio::{MARGIN, more_runs};
use serde::Serialize;

/// What one comparison says.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Answer {
    /// The variant.
    pub variant: String,
    /// What it is compared with.
    pub baseline: String,
    /// The load's name.
    pub load: String,
    /// The most important first.
    pub lines: Vec<Line>,
}

/// One phrase and the figures under it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Line {
    /// In words.
    pub phrase: Phrase,
    /// The interval of the ratio, e.g. `[1.96 .. 2.00]`; `None`: too few runs.
    pub interval: Option<String>,
    /// Both figures, e.g. `7,846/s against 3,961/s`.
    pub figures: String,
    /// What may be said of it.
    pub verdict: Verdict,
    /// What the ratio is of.
    #[serde(skip)]
    pub metric: Metric,
}

/// A phrase around a ratio, in three parts so that each report can set the ratio as it likes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Phrase {
    /// Before the ratio.
    pub before: String,
    /// The ratio without a unit; `None`: all is in `before`.
    pub ratio: Option<String>,
    /// After the ratio.
    pub after: String,
}

impl Phrase {
    /// The whole phrase, the ratio followed by this sign (`x`, `×`).
    #[must_use]
    pub fn text(&self, times: &str) -> String {
        match &self.ratio {
            Some(ratio) => format!("{}{ratio}{times}{}", self.before, self.after),
            None => self.before.clone(),
        }
    }

    fn plain(text: String) -> Self {
        Self { before: text, ..Self::default() }
    }

    fn around(before: &str, ratio: f64, after: &str) -> Self {
        Self { before: before.to_owned(), ratio: Some(figures::ratio(ratio)), after: after.to_owned() }
    }
}

/// A comparison in words. Under an open load, where the rate is given, the response times come first.
#[must_use]
pub fn answer(comparison: &Comparison, open_load: bool) -> Answer {
    let name = comparison.variant.as_str();
    if let Some(score) = score_line(comparison) {
        return of(comparison, [Some(score), memory_line(comparison)].into_iter());
    }
    if let Some(capacity) = capacity_line(comparison) {
        // Rates and response times are those at each variant's own capacity: the search made them what they are.
        let rest = [memory_line(comparison), cpu_line(comparison)];
        return of(comparison, std::iter::once(Some(capacity)).chain(rest));
    }
    let times = times_line(comparison, if open_load { name } else { "and each" });
    let rate = rate_line(comparison);
    let first = if open_load { [times, rate] } else { [rate, times] };
    of(comparison, first.into_iter().chain([memory_line(comparison), cpu_line(comparison)]))
}

fn of(comparison: &Comparison, lines: impl Iterator<Item = Option<Line>>) -> Answer {
    Answer {
        variant: comparison.variant.clone(),
        baseline: comparison.baseline.clone(),
        load: comparison.load.clone(),
        lines: lines.flatten().collect(),
    }
}

fn capacity_line(comparison: &Comparison) -> Option<Line> {
    let ratio = comparison.ratio(Metric::Capacity)?;
    let (variant, baseline) = (&comparison.variant, &comparison.baseline);
    let phrase = match ratio.verdict {
        Verdict::Higher | Verdict::Lower => {
            Phrase::around(&format!("{variant} sustains "), ratio.ratio, &format!(" the rate of {baseline}"))
        }
        Verdict::NoDifference => Phrase::plain(format!("{variant} sustains the same rate as {baseline}")),
        Verdict::NotEnoughRuns => Phrase::around(
            &format!("{variant} sustains "),
            ratio.ratio,
            &format!(" the rate of {baseline} so far (not enough runs to say)"),
        ),
    };
    Some(line(phrase, Metric::Capacity, ratio))
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

fn rate_line(comparison: &Comparison) -> Option<Line> {
    let ratio = comparison.ratio(Metric::Rate)?;
    let (variant, baseline) = (&comparison.variant, &comparison.baseline);
    let phrase = match ratio.verdict {
        Verdict::Higher | Verdict::Lower => Phrase::around(
            &format!("{variant} answers "),
            ratio.ratio,
            &format!(" as many requests as {baseline}"),
        ),
        Verdict::NoDifference => {
            Phrase::plain(format!("{variant} answers as many requests as {baseline}{}", at_most(ratio)))
        }
        Verdict::NotEnoughRuns => Phrase::around(
            &format!(
                "not enough runs to say whether {variant} answers more or fewer requests than {baseline} ("
            ),
            ratio.ratio,
            &format!(" so far{})", wanted(ratio)),
        ),
    };
    Some(line(phrase, Metric::Rate, ratio))
}

/// How large a difference is not ruled out, where that is more than the margin.
fn at_most(ratio: &Ratio) -> String {
    let around_one = ratio.interval.filter(|interval| interval.low <= 1.0 && interval.high >= 1.0);
    match around_one.map(|interval| interval.largest_difference()) {
        Some(largest) if largest > MARGIN => {
            format!(", no difference larger than {:.0} %", (largest * 100.0).ceil())
        }
        _ => String::new(),
    }
}

/// How many more runs would tell.
fn wanted(ratio: &Ratio) -> String {
    more_runs(ratio).map_or_else(String::new, |runs| {
        format!("; about {} more runs of each would tell", figures::count(runs.into()))
    })
}

/// Of a benchmark.
fn score_line(comparison: &Comparison) -> Option<Line> {
    let ratio = comparison.ratio(Metric::Score)?;
    let (variant, baseline) = (&comparison.variant, &comparison.baseline);
    let after = format!(" as long as {baseline} for one operation");
    let phrase = match ratio.verdict {
        Verdict::Higher | Verdict::Lower => Phrase::around(&format!("{variant} takes "), ratio.ratio, &after),
        Verdict::NoDifference => Phrase::plain(format!("{variant} takes{after}")),
        Verdict::NotEnoughRuns => {
            Phrase::around(&format!("{variant} takes "), ratio.ratio, &format!("{after} (not decided)"))
        }
    };
    Some(line(phrase, Metric::Score, ratio))
}

/// Both the median and the 99th percentile are shown; the sentence is about the median.
fn times_line(comparison: &Comparison, subject: &str) -> Option<Line> {
    let median = comparison.ratio(Metric::P50)?;
    let phrase = match median.verdict {
        Verdict::Higher | Verdict::Lower => {
            Phrase::around(&format!("{subject} waits "), median.ratio, " as long")
        }
        Verdict::NoDifference => Phrase::plain(format!("{subject} waits as long")),
        Verdict::NotEnoughRuns => {
            Phrase::around(&format!("{subject} waits "), median.ratio, " as long (not decided)")
        }
    };
    let mut line = line(phrase, Metric::P50, median);
    line.figures.insert_str(0, "p50 ");
    if let Some(tail) = comparison.ratio(Metric::P99) {
        let both = figures::pair(Metric::P99, tail.variant_value, tail.baseline_value);
        line.figures.push_str(&format!(", p99 {both}"));
    }
    Some(line)
}

fn memory_line(comparison: &Comparison) -> Option<Line> {
    let memory = comparison.ratio(Metric::RssPeak)?;
    let mut phrase = match memory.verdict {
        Verdict::Higher | Verdict::Lower => Phrase::around("for ", memory.ratio, " the memory"),
        Verdict::NoDifference => Phrase::plain("for the same memory".to_owned()),
        Verdict::NotEnoughRuns => Phrase::around("for ", memory.ratio, " the memory (not decided)"),
    };
    let threads = comparison.ratio(Metric::OsThreads);
    if let Some(threads) = threads {
        let end = if phrase.ratio.is_some() { &mut phrase.after } else { &mut phrase.before };
        end.push_str(&format!(" and {}", thread_words(threads.variant_value - threads.baseline_value)));
    }
    let mut line = line(phrase, Metric::RssPeak, memory);
    if let Some(threads) = threads {
        let both = figures::pair(Metric::OsThreads, threads.variant_value, threads.baseline_value);
        let both = both.replacen(" against ", " threads against ", 1);
        line.figures.push_str(&format!(", {both}"));
    }
    Some(line)
}

fn thread_words(difference: f64) -> String {
    let number = figures::count(difference.abs().round() as u64);
    match difference.round() {
        d if d >= 1.0 => format!("{number} more OS threads"),
        d if d <= -1.0 => format!("{number} fewer OS threads"),
        _ => "as many OS threads".to_owned(),
    }
}

fn cpu_line(comparison: &Comparison) -> Option<Line> {
    let cpu = comparison.ratio(Metric::CpuPerRequest)?;
    let phrase = match cpu.verdict {
        Verdict::Higher | Verdict::Lower => Phrase::around("with ", cpu.ratio, " the CPU for each request"),
        Verdict::NoDifference => Phrase::plain("with the same CPU for each request".to_owned()),
        Verdict::NotEnoughRuns => {
            Phrase::around("with ", cpu.ratio, " the CPU for each request (not decided)")
        }
    };
    Some(line(phrase, Metric::CpuPerRequest, cpu))
}

/// What may be said of a ratio, in words.
#[must_use]
pub fn verdict_words(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Higher => "higher",
        Verdict::Lower => "lower",
        Verdict::NoDifference => "no difference",
        Verdict::NotEnoughRuns => "not enough runs to say",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::result::Interval;

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
        }
    }

    fn said(verdict: Verdict, open_load: bool) -> Vec<(String, String)> {
        let comparison = Comparison {
            variant: "virtual".to_owned(),
            baseline: "platform".to_owned(),
            load: "c400".to_owned(),
            differences: Vec::new(),
            ratios: vec![
                ratio(Metric::Rate, 7_846.0, 3_961.0, verdict),
                ratio(Metric::P50, 50.4, 100.6, verdict),
                ratio(Metric::RssPeak, 418e6, 304e6, verdict),
                ratio(Metric::OsThreads, 27.0, 223.0, verdict),
            ],
        };
        let lines = answer(&comparison, open_load).lines;
        lines.into_iter().map(|line| (line.phrase.text("x"), line.figures)).collect()
    }

    #[test]
    fn a_difference_is_said_with_its_ratio() {
        let said = said(Verdict::Higher, false);
        assert_eq!(said[0].0, "virtual answers 1.98x as many requests as platform");
        assert_eq!(said[0].1, "7,846/s against 3,961/s");
        assert_eq!(said[1].0, "and each waits 0.50x as long");
        assert_eq!(said[2].0, "for 1.38x the memory and 196 fewer OS threads");
        assert_eq!(said[2].1, "418 MB against 304, 27 threads against 223");
    }

    #[test]
    fn a_capacity_is_said_instead_of_the_rates_and_times_that_the_search_made() {
        let comparison = Comparison {
            variant: "virtual".to_owned(),
            baseline: "platform".to_owned(),
            load: "capacity".to_owned(),
            differences: Vec::new(),
            ratios: vec![
                ratio(Metric::Rate, 9_390.0, 3_880.0, Verdict::Higher),
                ratio(Metric::Capacity, 9_400.0, 3_900.0, Verdict::Higher),
                ratio(Metric::P50, 60.0, 52.0, Verdict::Higher),
                ratio(Metric::RssPeak, 418e6, 304e6, Verdict::Higher),
            ],
        };
        let lines = answer(&comparison, true).lines;
        assert_eq!(lines[0].phrase.text("x"), "virtual sustains 2.41x the rate of platform");
        assert_eq!(lines[0].figures, "9,400/s against 3,900/s");
        assert_eq!(lines[1].phrase.text("x"), "for 1.38x the memory");
        assert_eq!(lines.len(), 2);
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
        let lines = answer(&comparison, true).lines;
        assert_eq!(lines[0].phrase.text("x"), "platform takes 18.5x as long as caller for one operation");
        assert_eq!(lines[0].figures, "37.0 µs against 2.00");
    }

    #[test]
    fn no_difference_is_said_without_a_ratio() {
        let said = said(Verdict::NoDifference, false);
        assert_eq!(said[0].0, "virtual answers as many requests as platform");
        assert_eq!(said[2].0, "for the same memory and 196 fewer OS threads");
    }

    #[test]
    fn too_few_runs_are_never_a_difference() {
        let said = said(Verdict::NotEnoughRuns, false);
        assert!(said[0].0.starts_with("not enough runs to say whether virtual answers"), "{}", said[0].0);
        assert_eq!(said[1].0, "and each waits 0.50x as long (not decided)");
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
        let said = |comparison: &Comparison| answer(comparison, false).lines[0].phrase.text("x");
        assert_eq!(said(&comparison), "b answers as many requests as a", "within the margin");
        comparison.ratios[0].interval = Some(Interval { low: 0.97, high: 1.034, confidence: 0.95 });
        assert_eq!(said(&comparison), "b answers as many requests as a, no difference larger than 4 %");
        comparison.ratios[0].interval = Some(Interval { low: 0.7, high: 1.4, confidence: 0.95 });
        comparison.ratios[0].verdict = Verdict::NotEnoughRuns;
        assert!(
            said(&comparison).ends_with("(1.00x so far; about 23 more runs of each would tell)"),
            "{}",
            said(&comparison)
        );
    }

    #[test]
    fn under_an_open_load_the_response_times_come_first() {
        assert_eq!(said(Verdict::Lower, true)[0].0, "virtual waits 0.50x as long");
    }
}
