//! The table of one load: a line for each variant with its figures and its ratio to the baseline.

use crate::model::experiment::{LoadKind, LoadSpec};
use crate::model::metric::Metric;
use crate::model::result::{Comparison, ResultDocument, Verdict};
use crate::report::figures;
use crate::report::load_words::load_words;
use crate::stats::runs::{complete, figures as figures_of, mean};
use serde::Serialize;

/// The lines of one load.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct LoadTable {
    /// In words: `400 clients`.
    pub words: String,
    /// Those of which some variant has a figure. The first is what the ratio is of.
    pub columns: Vec<Column>,
    /// One for each variant that has a complete run.
    pub rows: Vec<Row>,
}

/// A metric and its short name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "the names are the definition")]
pub struct Column {
    pub metric: Metric,
    pub title: &'static str,
}

/// One variant.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[expect(missing_docs, reason = "the names are the definition")]
pub struct Row {
    pub variant: String,
    /// The mean of its runs, one for each column; `None`: not measured.
    pub cells: Vec<Option<String>>,
    pub ratio: RatioCell,
}

/// A variant's figure divided by the baseline's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
#[expect(missing_docs, reason = "the names are the definition")]
pub enum RatioCell {
    /// It is the baseline.
    Baseline,
    /// It was compared.
    Ratio {
        ratio: String,
        /// `None`: one valid run.
        interval: Option<String>,
        /// Neither a difference nor its absence is shown.
        inconclusive: bool,
    },
    /// There is nothing to compare it with.
    None,
}

impl RatioCell {
    /// `baseline`, `1.97x [1.94, 2.01]`, `4.51x (1 run)`.
    #[must_use]
    pub fn text(&self) -> String {
        match self {
            Self::Baseline => "baseline".to_owned(),
            Self::Ratio { ratio, interval: Some(interval), .. } => format!("{ratio}x {interval}"),
            Self::Ratio { ratio, interval: None, .. } => format!("{ratio}x (1 run)"),
            Self::None => String::new(),
        }
    }
}

const fn column(metric: Metric, title: &'static str) -> Column {
    Column { metric, title }
}

const RATE: Column = column(Metric::Rate, "throughput");
const P50: Column = column(Metric::P50, "p50");
const P99: Column = column(Metric::P99, "p99");
const CPU: Column = column(Metric::CpuPerRequest, "CPU/request");
const MEMORY: Column = column(Metric::RssPeak, "memory");
const CAPACITY: Column = column(Metric::Capacity, "capacity");
const SCORE: Column = column(Metric::Score, "time/operation");
const THREADS: Column = column(Metric::OsThreads, "OS threads");

/// What a load is about, the most important first.
#[must_use]
pub const fn columns(kind: LoadKind) -> &'static [Column] {
    match kind {
        LoadKind::Closed { .. } => &[RATE, P50, P99, CPU, MEMORY, THREADS],
        LoadKind::Open { .. } => &[P50, P99, RATE, CPU, MEMORY, THREADS],
        LoadKind::Capacity(_) => &[CAPACITY, CPU, MEMORY, THREADS],
        LoadKind::Benchmark(_) => &[SCORE, MEMORY],
    }
}

/// The table of a load.
#[must_use]
pub fn table(document: &ResultDocument, load: &LoadSpec) -> LoadTable {
    let figure = |variant: &str, metric: Metric| {
        mean(&figures_of(&complete(&document.records, variant, &load.name), metric))
    };
    let variants = document.experiment.variants.iter().map(|variant| variant.name.as_str());
    let ran: Vec<&str> =
        variants.filter(|name| !complete(&document.records, name, &load.name).is_empty()).collect();
    let columns: Vec<Column> = columns(load.kind)
        .iter()
        .filter(|column| ran.iter().any(|name| figure(name, column.metric).is_some()))
        .copied()
        .collect();
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
    let here = || document.comparisons_under(&load.name);
    if here().any(|comparison| comparison.baseline == variant) {
        return RatioCell::Baseline;
    }
    let compared: Option<&Comparison> = here().find(|comparison| comparison.variant == variant);
    let ratio = compared.and_then(|comparison| comparison.ratio(columns(load.kind)[0].metric));
    ratio.map_or(RatioCell::None, |ratio| RatioCell::Ratio {
        ratio: figures::ratio(ratio.ratio),
        interval: figures::interval_of(ratio),
        inconclusive: ratio.verdict == Verdict::NotEnoughRuns,
    })
}
