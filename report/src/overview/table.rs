//! The table of one load: a line for each variant with its figures and its ratio to the baseline.

use crate::load_words::load_words;
use serde::Serialize;
use threadcount_judge::result::ResultDocument;
use threadcount_model::comparison::{Comparison, Verdict};
use threadcount_model::experiment::{LoadSpec, Workload};
use threadcount_model::figures;
use threadcount_model::metric::Metric;
use threadcount_stats::no_overload::BEHIND_MS;
use threadcount_stats::runs::{complete, figures as figures_of, mean};
use threadcount_stats::tail::largest_percentile;

/// The lines of one load.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct LoadTable {
    /// In words: `400 clients`.
    pub words: String,
    /// Metrics that some variant has; the first is the one of the ratio.
    pub columns: Vec<Column>,
    /// One for each variant that has a complete run.
    pub rows: Vec<Row>,
}

/// A metric and its short name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Column {
    pub metric: Metric,
    pub title: &'static str,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    pub variant: String,
    /// The mean of its runs, one for each column; `None`: not measured.
    pub cells: Vec<Option<String>>,
    pub ratio: RatioCell,
}

/// A variant's figure divided by the baseline's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum RatioCell {
    Baseline,
    Ratio {
        ratio: String,
        /// `None`: one valid run, or too few rounds in which both have one.
        interval: Option<String>,
        /// Of the side that has fewer.
        runs: u32,
        /// Neither a difference nor its absence was shown.
        inconclusive: bool,
    },
    /// Not compared.
    None,
}

impl RatioCell {
    /// `baseline`, `1.97x [1.94, 2.01]`, `4.51x (1 run)`, `4.51x (no interval)`.
    #[must_use]
    pub fn text(&self) -> String {
        match self {
            Self::Baseline => "baseline".to_owned(),
            Self::Ratio { ratio, interval: Some(interval), .. } => format!("{ratio}x {interval}"),
            Self::Ratio { ratio, runs: 0 | 1, .. } => format!("{ratio}x (1 run)"),
            Self::Ratio { ratio, .. } => format!("{ratio}x (no interval)"),
            Self::None => String::new(),
        }
    }
}

const fn column(metric: Metric, title: &'static str) -> Column {
    Column { metric, title }
}

const RATE: Column = column(Metric::Rate, "throughput");
const P50: Column = column(Metric::P50, "p50");
const MEAN: Column = column(Metric::Mean, "mean");
const P99: Column = column(Metric::P99, "p99");
const P99_9: Column = column(Metric::P99_9, "p99.9");
const P99_99: Column = column(Metric::P99_99, "p99.99");
const GOODPUT: Column = column(Metric::Rate, "goodput");
const UNANSWERED: Column = column(Metric::Unanswered, "unanswered");
const BEHIND: Column = column(Metric::TimeBehind, "time behind");
const CPU: Column = column(Metric::CpuPerRequest, "CPU/request");
const MEMORY: Column = column(Metric::MemoryNeeded, "memory needed");
/// Where the memory needed is unknown: no JVM.
const RESIDENT: Column = column(Metric::RssPeak, "RSS");
const CAPACITY: Column = column(Metric::Capacity, "capacity");
const SCORE: Column = column(Metric::Score, "time/operation");
const THREADS: Column = column(Metric::OsThreads, "OS threads");

/// The metrics of a load, the most important first.
#[must_use]
pub const fn columns(workload: Workload) -> &'static [Column] {
    match workload.answer() {
        Metric::P50 => &[P50, MEAN, P99, P99_9, P99_99, BEHIND, RATE, CPU, MEMORY, RESIDENT, THREADS],
        Metric::Rate if workload.is_overload() => {
            &[GOODPUT, UNANSWERED, BEHIND, P99, P99_9, P99_99, MEMORY, RESIDENT, THREADS]
        }
        Metric::Rate if workload.expects_losses() => {
            &[GOODPUT, UNANSWERED, BEHIND, P50, MEAN, P99, P99_9, P99_99, MEMORY, RESIDENT, THREADS]
        }
        Metric::Capacity => &[CAPACITY, CPU, MEMORY, RESIDENT, THREADS],
        Metric::Score => &[SCORE, MEMORY, RESIDENT],
        _ => &[RATE, MEAN, P50, P99, P99_9, P99_99, CPU, MEMORY, RESIDENT, THREADS],
    }
}

#[must_use]
pub fn table(document: &ResultDocument, load: &LoadSpec) -> LoadTable {
    let figure = |variant: &str, metric: Metric| {
        mean(&figures_of(&complete(&document.records, variant, &load.name), metric))
    };
    let variants = document.experiment.variants.iter().map(|variant| variant.name.as_str());
    let ran: Vec<&str> =
        variants.filter(|name| !complete(&document.records, name, &load.name).is_empty()).collect();
    let tail = largest_percentile(&document.records, &load.name);
    let has = |name: &str, metric: Metric| figure(name, metric).is_some();
    let all_know_need = ran.iter().all(|name| has(name, Metric::MemoryNeeded));
    let compiled = document.comparisons_under(&load.name).any(|comparison| {
        comparison.ratio(Metric::CpuPerRequest).is_some_and(|cpu| cpu.basis.compiler_share.is_some())
    });
    let is_shown = |column: &&Column| match column.metric {
        Metric::CpuPerRequest if compiled => false,
        Metric::P99_9 | Metric::P99_99 if tail != Some(column.metric) => false,
        Metric::TimeBehind => ran.iter().any(|name| figure(name, Metric::TimeBehind) >= Some(BEHIND_MS)),
        Metric::MemoryNeeded => all_know_need,
        Metric::RssPeak if all_know_need => false,
        metric => ran.iter().any(|name| has(name, metric)),
    };
    let columns: Vec<Column> = columns(load.workload).iter().filter(is_shown).copied().collect();
    let row = |name: &&str| Row {
        variant: (*name).to_owned(),
        cells: columns
            .iter()
            .map(|column| Some(figures::figure(column.metric, figure(name, column.metric)?)))
            .collect(),
        ratio: ratio_cell(document, load, name),
    };
    LoadTable { words: load_words(load), rows: ran.iter().map(row).collect(), columns }
}

fn ratio_cell(document: &ResultDocument, load: &LoadSpec, variant: &str) -> RatioCell {
    let here = || document.comparisons_with_baseline(load, true);
    if here().any(|comparison| comparison.baseline == variant) {
        return RatioCell::Baseline;
    }
    let compared: Option<&Comparison> = here().find(|comparison| comparison.variant == variant);
    let ratio = compared.and_then(|comparison| comparison.ratio(load.workload.answer()));
    let shown = ratio.filter(|ratio| ratio.ratio.is_finite() && ratio.ratio > 0.0);
    shown.map_or(RatioCell::None, |ratio| RatioCell::Ratio {
        ratio: figures::ratio(ratio.ratio),
        interval: figures::interval_of(ratio),
        runs: ratio.runs.0.min(ratio.runs.1),
        inconclusive: ratio.verdict == Verdict::NotEnoughRuns,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use threadcount_model::experiment::{LoadKind, Losses};

    #[test]
    fn what_is_lost_is_a_column_where_it_is_a_part_of_the_answer() {
        let shown = |losses| {
            let load = LoadKind::Open { rate_per_s: 200.0, clients: 400, losses };
            columns(load.into()).iter().map(|column| column.metric).collect::<Vec<_>>()
        };
        assert!(!shown(Losses::Unexpected).contains(&Metric::Unanswered));
        for losses in [Losses::Expected, Losses::OfOverload] {
            let first = [Metric::Rate, Metric::Unanswered, Metric::TimeBehind];
            assert_eq!(shown(losses)[..3], first, "{losses:?}");
        }
    }
}
