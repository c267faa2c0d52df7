//! The tables of the page, each cell already text.

use crate::compare::metric::Metric;
use crate::record::{NativeMemory, Record};
use crate::report::answer::verdict_words;
use crate::report::published;
use crate::report::summary::load_words;
use crate::report::{figures, summary};
use crate::result::{Comparison, Ratio, ResultDocument, Verdict};
use serde::Serialize;

/// All ratios of one comparison.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RatioTable {
    /// The variant.
    pub variant: String,
    /// What it is compared with.
    pub baseline: String,
    /// The load in words.
    pub load: String,
    /// One for each metric.
    pub rows: Vec<RatioRow>,
}

/// One ratio.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RatioRow {
    pub metric: String,
    pub variant: String,
    pub baseline: String,
    pub ratio: String,
    pub interval: String,
    pub verdict: &'static str,
    pub runs: String,
    /// Where ratio and interval lie in the little picture, in per cent of its width (50: equal).
    pub bar: Option<Bar>,
}

/// Places in per cent.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Bar {
    pub low: f64,
    pub at: f64,
    pub high: f64,
    /// A difference was shown.
    pub decided: bool,
}

/// The tables of ratios, in the order of the comparisons.
#[must_use]
pub fn ratios(document: &ResultDocument) -> Vec<RatioTable> {
    let reach = reach(&document.comparisons);
    document.comparisons.iter().map(|comparison| ratio_table(document, comparison, reach)).collect()
}

fn ratio_table(document: &ResultDocument, comparison: &Comparison, reach: f64) -> RatioTable {
    let load = document.experiment.loads.iter().find(|load| load.name == comparison.load);
    RatioTable {
        variant: comparison.variant.clone(),
        baseline: comparison.baseline.clone(),
        load: load.map_or_else(|| comparison.load.clone(), load_words),
        rows: comparison.ratios.iter().map(|ratio| ratio_row(ratio, reach)).collect(),
    }
}

fn ratio_row(ratio: &Ratio, reach: f64) -> RatioRow {
    let metric = Metric::from_name(&ratio.metric);
    let figure =
        |value| metric.map_or_else(|| figures::number(value), |metric| figures::figure(metric, value));
    RatioRow {
        metric: metric.map_or_else(|| ratio.metric.clone(), |metric| metric.label().to_owned()),
        variant: figure(ratio.variant_value),
        baseline: figure(ratio.baseline_value),
        ratio: figures::ratio(ratio.ratio),
        interval: figures::interval_of(ratio).unwrap_or_else(|| "–".to_owned()),
        verdict: verdict_words(ratio.verdict),
        runs: format!("{} and {}", ratio.runs.0, ratio.runs.1),
        bar: bar(ratio, reach),
    }
}

/// The largest ratio that the little pictures must show, as a logarithm: between 1.25 and 8 times.
fn reach(comparisons: &[Comparison]) -> f64 {
    let ends = comparisons.iter().flat_map(|comparison| &comparison.ratios).flat_map(|ratio| {
        let interval = ratio.interval.map_or([ratio.ratio; 2], |interval| [interval.low, interval.high]);
        interval.map(|end| end.ln().abs())
    });
    ends.filter(|end| end.is_finite()).fold(0.0, f64::max).clamp(1.25_f64.ln(), 8_f64.ln()) * 1.08
}

fn bar(ratio: &Ratio, reach: f64) -> Option<Bar> {
    let interval = ratio.interval?;
    let place = |value: f64| {
        let place = 50.0 + 50.0 * value.ln() / reach;
        (place.clamp(0.0, 100.0) * 10.0).round() / 10.0
    };
    let all_positive = interval.low > 0.0 && ratio.ratio > 0.0 && interval.high.is_finite();
    let decided = matches!(ratio.verdict, Verdict::Higher | Verdict::Lower);
    let (low, at, high) = (place(interval.low), place(ratio.ratio), place(interval.high));
    all_positive.then_some(Bar { low, at, high, decided })
}

/// A table as text: what it shows, its columns, its rows (the first cell is the row's head).
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Table {
    /// What it shows.
    pub caption: String,
    /// Column heads.
    pub columns: Vec<String>,
    /// Cells.
    pub rows: Vec<Vec<String>>,
    /// How many columns at the left are words; the others are figures.
    pub words: usize,
}

impl Table {
    fn new(caption: &str, columns: &[&str], words: usize, rows: Vec<Vec<String>>) -> Self {
        let columns = columns.iter().map(|&column| column.to_owned()).collect();
        Self { caption: caption.to_owned(), columns, rows, words }
    }
}

/// Published against measured.
#[must_use]
pub fn published(document: &ResultDocument) -> Table {
    let rows = published::rows(document).into_iter().map(|row| {
        let load = document.experiment.loads.iter().find(|load| load.name == row.load);
        vec![
            row.variant.clone(),
            load.map_or_else(|| row.load.clone(), load_words),
            row.metric.label().to_owned(),
            row.source.clone().unwrap_or_default(),
            figures::figure(row.metric, row.published),
            row.measured
                .map_or_else(|| "not measured".to_owned(), |value| figures::figure(row.metric, value)),
            row.ratio().map_or_else(|| "–".to_owned(), figures::ratio),
        ]
    });
    let columns = ["variant", "load", "figure", "where", "published", "measured", "measured / published"];
    Table::new(
        "Published figures and what was measured here (mean over the runs).",
        &columns,
        4,
        rows.collect(),
    )
}

/// Native memory before and after the load, means over the runs.
#[must_use]
pub fn native_memory(document: &ResultDocument) -> Table {
    let mut rows = Vec::new();
    for load in &document.experiment.loads {
        for variant in &document.experiment.variants {
            let mine = |record: &&Record| record.variant == variant.name && record.load == load.name;
            let runs = document.records.iter().filter(mine).filter_map(|record| record.native_memory);
            let (before, after): (Vec<_>, Vec<_>) = runs.map(|memory| (memory.before, memory.after)).unzip();
            for (when, readings) in [("before", before), ("after", after)] {
                if !readings.is_empty() {
                    let mut row = vec![variant.name.clone(), load_words(load), when.to_owned()];
                    row.extend(native_cells(&readings));
                    rows.push(row);
                }
            }
        }
    }
    let columns = [
        "variant",
        "load",
        "when",
        "threads",
        "stacks reserved",
        "stacks committed",
        "heap committed",
        "all reserved",
        "all committed",
    ];
    let caption = "Native memory as the JVM itself counts it (VM.native_memory summary), before and after the load; \
                   means over the runs.";
    Table::new(caption, &columns, 3, rows)
}

fn native_cells(readings: &[NativeMemory]) -> [String; 6] {
    let mean = |figure: &dyn Fn(&NativeMemory) -> u64| {
        readings.iter().map(figure).sum::<u64>() / readings.len() as u64
    };
    [
        figures::count(mean(&|memory| u64::from(memory.threads))),
        figures::bytes(mean(&|memory| memory.stack_reserved_bytes)),
        figures::bytes(mean(&|memory| memory.stack_committed_bytes)),
        figures::bytes(mean(&|memory| memory.heap_committed_bytes)),
        figures::bytes(mean(&|memory| memory.reserved_bytes)),
        figures::bytes(mean(&|memory| memory.committed_bytes)),
    ]
}

/// Claims and their verdicts.
#[must_use]
pub fn claims(document: &ResultDocument) -> Table {
    let number = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), figures::plain);
    let rows = document.claims.iter().map(|claim| {
        let why = claim.why.as_ref().map_or_else(String::new, |why| format!(": {why}"));
        let verdict = format!("{}{why}", summary::claim_words(claim));
        vec![claim.claim.clone(), verdict, number(claim.published), number(claim.measured)]
    });
    let columns = ["claim", "verdict", "published", "measured"];
    Table::new("What was claimed, and whether it holds here.", &columns, 2, rows.collect())
}

const RUN_METRICS: [(Metric, &str); 9] = [
    (Metric::Rate, "rate"),
    (Metric::P50, "p50"),
    (Metric::P99, "p99"),
    (Metric::P99_9, "p99.9"),
    (Metric::Max, "max"),
    (Metric::CpuPerRequest, "CPU per request"),
    (Metric::RssPeak, "memory (RSS)"),
    (Metric::OsThreads, "OS threads"),
    (Metric::ReadyAfter, "ready after"),
];

/// Every run.
#[must_use]
pub fn runs(document: &ResultDocument) -> Table {
    let mut columns = vec!["run", "load", "variant", "round", "started"];
    columns.extend(RUN_METRICS.map(|(_, column)| column));
    columns.extend(["failed", "generator"]);
    let rows = document.records.iter().map(run_cells).collect();
    let caption =
        "Every run, in the order in which they ran. Generator: its busiest thread's share of a core.";
    Table::new(caption, &columns, 5, rows)
}

fn run_cells(record: &Record) -> Vec<String> {
    let none = || "–".to_owned();
    let mut cells = vec![
        record.position.to_string(),
        record.load.clone(),
        record.variant.clone(),
        record.round.to_string(),
        figures::moment(&record.started_at),
    ];
    let figure = |metric: Metric| metric.of(record).map_or_else(none, |value| figures::figure(metric, value));
    cells.extend(RUN_METRICS.map(|(metric, _)| figure(metric)));
    let load = record.measured.as_ref();
    cells.push(load.map_or_else(none, |load| figures::count(load.requests.failed)));
    cells.push(load.map_or_else(none, |load| figures::percent(load.generator.cpu_share)));
    cells
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::Interval;

    fn ratio(low: f64, ratio: f64, high: f64) -> Ratio {
        Ratio {
            metric: "rate_per_s".to_owned(),
            variant_value: ratio,
            baseline_value: 1.0,
            ratio,
            interval: Some(Interval { low, high, confidence: 0.95 }),
            verdict: Verdict::Higher,
            runs: (3, 3),
        }
    }

    #[test]
    fn equal_lies_in_the_middle_and_twice_as_far_from_it_as_half() {
        let bar = bar(&ratio(0.5, 1.0, 2.0), 4_f64.ln()).unwrap();
        assert_eq!((bar.low, bar.at, bar.high), (25.0, 50.0, 75.0));
    }

    #[test]
    fn a_ratio_that_is_no_number_has_no_bar() {
        assert_eq!(bar(&ratio(-0.1, 1.0, 2.0), 1.0), None);
        assert_eq!(bar(&ratio(f64::NAN, f64::NAN, f64::NAN), 1.0), None);
    }
}
