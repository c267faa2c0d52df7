//! The table of a load: a line per variant with its figures and its ratio to the baseline.

use super::headline::headline;
use super::label::label;
use crate::load_words::load_words;
use serde::Serialize;
use threadcount_judge::result::ResultDocument;
use threadcount_judge::unreadable::unreadable;
use threadcount_model::comparison::{Comparison, Verdict};
use threadcount_model::experiment::{LoadSpec, Workload};
use threadcount_model::figures;
use threadcount_model::metric::Metric;
use threadcount_stats::no_overload::BEHIND_MS;
use threadcount_stats::tail::largest_percentile;

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct LoadTable {
    /// The load in words: `400 clients`.
    pub words: String,
    /// The metrics that at least one variant has; the ratio is that of the first.
    pub columns: Vec<Column>,
    /// The variant that the others are compared with; `None` if it has no complete run.
    pub baseline: Option<String>,
    /// The variant that the answer is about.
    pub best: Option<String>,
    /// One row per variant that has a complete run.
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
    /// The variant's threads in a few words.
    pub label: String,
    /// The mean over its runs for each column; `None` if not measured.
    pub cells: Vec<Option<String>>,
    pub ratio: RatioCell,
}

/// A variant's figure divided by the baseline's.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum RatioCell {
    Baseline,
    Ratio {
        value: f64,
        ratio: String,
        /// `None` with one valid run, or too few rounds in which both variants have one.
        interval: Option<String>,
        /// The number of runs of the variant that has fewer.
        runs: u32,
        /// Neither a difference nor its absence was shown.
        inconclusive: bool,
    },
    /// Compared, but nobody should act on the ratio; `why` tells the reason.
    Unreadable {
        why: &'static str,
    },
    /// There is no comparison.
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
            Self::Unreadable { why } => (*why).to_owned(),
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
const MEMORY: Column = column(Metric::MemoryNeeded, "memory");
/// Shown if the memory needed is unknown, because the server is no JVM.
const RESIDENT: Column = column(Metric::RssPeak, "RSS");
const CAPACITY: Column = column(Metric::Capacity, "capacity");
const SCORE: Column = column(Metric::Score, "time/operation");
const THREADS: Column = column(Metric::OsThreads, "threads");

/// All columns of a load; the ratio is that of the first.
#[must_use]
pub fn all_columns(workload: Workload) -> Vec<Column> {
    let columns: &[Column] = match workload.answer() {
        Metric::P50 => &[P50, MEAN, P99, P99_9, P99_99, BEHIND, RATE, CPU, MEMORY, RESIDENT, THREADS],
        Metric::Rate if workload.is_overload() => {
            &[GOODPUT, UNANSWERED, BEHIND, P99, P99_9, P99_99, MEMORY, RESIDENT, THREADS]
        }
        Metric::Rate if workload.expects_losses() => {
            &[GOODPUT, UNANSWERED, BEHIND, P50, MEAN, P99, P99_9, P99_99, MEMORY, RESIDENT, THREADS]
        }
        Metric::Capacity => &[CAPACITY, CPU, MEMORY, RESIDENT, THREADS],
        Metric::Score => &[SCORE, MEMORY, RESIDENT],
        _ => &[RATE, P50, MEAN, P99, P99_9, P99_99, CPU, MEMORY, RESIDENT, THREADS],
    };
    columns.to_vec()
}

/// The columns on the first screen.
#[must_use]
pub fn first_columns(workload: Workload) -> Vec<Column> {
    let mut columns = all_columns(workload);
    columns.retain(|column| ![MEAN, P99_9, P99_99, CPU].contains(column));
    columns
}

/// A function that chooses the columns of a kind of load.
pub type ColumnsOf = fn(Workload) -> Vec<Column>;

/// One table per load. Loads of one kind share their columns: those in which a variant has a figure under any of the loads.
#[must_use]
pub fn tables(document: &ResultDocument, columns_of: ColumnsOf) -> Vec<LoadTable> {
    document.experiment.loads.iter().map(|load| table(document, load, columns_of)).collect()
}

#[must_use]
pub fn table(document: &ResultDocument, load: &LoadSpec, columns_of: ColumnsOf) -> LoadTable {
    let columns = shown_columns(document, load, columns_of);
    let row = |name: &&str| Row {
        variant: (*name).to_owned(),
        label: label(document, load, name),
        cells: columns
            .iter()
            .map(|column| {
                Some(figures::figure(column.metric, document.mean(name, &load.name, column.metric)?))
            })
            .collect(),
        ratio: ratio_cell(document, load, name),
    };
    let rows: Vec<Row> = ran(document, load).iter().map(row).collect();
    let baseline = document.experiment.baseline(load).map(|variant| variant.name.clone());
    let baseline = baseline.filter(|name| rows.iter().any(|row| row.variant == *name));
    let best = headline(document, load).map(|it| it.comparison.variant.clone());
    LoadTable { words: load_words(load), columns, baseline, best, rows }
}

/// The variants that have a complete run under a load.
fn ran<'a>(document: &'a ResultDocument, load: &LoadSpec) -> Vec<&'a str> {
    let variants = document.experiment.variants.iter().map(|variant| variant.name.as_str());
    variants.filter(|name| !document.counted_runs(name, &load.name).is_empty()).collect()
}

fn shown_columns(document: &ResultDocument, load: &LoadSpec, columns_of: ColumnsOf) -> Vec<Column> {
    let mut columns = columns_of(load.workload);
    let alike = document.experiment.loads.iter().filter(|it| columns_of(it.workload) == columns);
    let alike: Vec<&LoadSpec> = alike.collect();
    let runs: Vec<(&LoadSpec, &str)> =
        alike.iter().flat_map(|it| ran(document, it).into_iter().map(|name| (*it, name))).collect();
    let with = |metric: Metric| {
        runs.iter().filter(|(it, name)| document.mean(name, &it.name, metric).is_some()).count()
    };
    let all_know_need = with(Metric::MemoryNeeded) == runs.len();
    let compiled = alike.iter().flat_map(|it| document.comparisons_under(&it.name)).any(|comparison| {
        comparison.ratio(Metric::CpuPerRequest).is_some_and(|cpu| cpu.basis.compiler_share.is_some())
    });
    let is_tail =
        |metric| alike.iter().any(|it| largest_percentile(&document.records, &it.name) == Some(metric));
    let is_behind = || {
        let behind = |(it, name): &(&LoadSpec, &str)| document.mean(name, &it.name, Metric::TimeBehind);
        runs.iter().any(|run| behind(run) >= Some(BEHIND_MS))
    };
    let is_shown = |column: &Column| match column.metric {
        Metric::CpuPerRequest if compiled => false,
        Metric::P99_9 | Metric::P99_99 if !is_tail(column.metric) => false,
        Metric::TimeBehind => is_behind(),
        Metric::MemoryNeeded => all_know_need && !runs.is_empty(),
        Metric::RssPeak if all_know_need => false,
        metric => with(metric) > 0,
    };
    columns.retain(is_shown);
    columns
}

fn ratio_cell(document: &ResultDocument, load: &LoadSpec, variant: &str) -> RatioCell {
    let here = || document.comparisons_with_baseline(load, true);
    if here().any(|comparison| comparison.baseline == variant) {
        return RatioCell::Baseline;
    }
    let compared: Option<&Comparison> = here().find(|comparison| comparison.variant == variant);
    let ratio = compared.and_then(|comparison| comparison.ratio(load.workload.answer()));
    let shown = ratio.filter(|ratio| ratio.ratio.is_finite() && ratio.ratio > 0.0);
    if let Some(why) = shown.zip(compared).and_then(|(ratio, it)| unreadable(document, it, ratio)) {
        return RatioCell::Unreadable { why };
    }
    shown.map_or(RatioCell::None, |ratio| RatioCell::Ratio {
        value: ratio.ratio,
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
            all_columns(load.into()).iter().map(|column| column.metric).collect::<Vec<_>>()
        };
        assert!(!shown(Losses::Unexpected).contains(&Metric::Unanswered));
        for losses in [Losses::Expected, Losses::OfOverload] {
            let first = [Metric::Rate, Metric::Unanswered, Metric::TimeBehind];
            assert_eq!(shown(losses)[..3], first, "{losses:?}");
        }
    }
}
