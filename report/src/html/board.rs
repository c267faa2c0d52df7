//! A table on the first screen: each variant's throughput as a bar from zero, and its ratios to the baseline with their intervals drawn.

use crate::crossover;
use crate::html::colour::{COLOURS, colour};
use crate::html::method::ran;
use crate::html::tables::ratios::{Bar, bar, reach, reach_of};
use crate::view::table::{Column, LoadTable, RatioCell, first_columns, table};
use serde::Serialize;
use threadcount_judge::result::ResultDocument;
use threadcount_model::comparison::Verdict;
use threadcount_model::experiment::LoadSpec;
use threadcount_model::figures;
use threadcount_model::interval::Interval;
use threadcount_model::metric::Metric;
use threadcount_stats::crossover::CrossoverRatio;
use threadcount_stats::crossover::comparison::{CrossoverDocument, TreatmentComparison, TreatmentFigures};
use threadcount_stats::runs::mean;

/// The figures whose ratios are drawn beside that of the first one.
const DRAWN: [Metric; 3] = [Metric::P50, Metric::P99, Metric::CpuPerRequest];

/// The bars of one load.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Board {
    /// The columns in which at least one variant has a figure; the first is the headline.
    pub columns: Vec<&'static str>,
    /// One for each variant that has a figure.
    pub rows: Vec<BoardRow>,
    pub words: String,
    /// The baseline, if there are other variants.
    pub baseline: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BoardRow {
    pub variant: String,
    /// The variant's threads in a few words.
    pub label: String,
    /// The variant's colour in the pictures, from 1.
    pub colour: usize,
    /// The first column's ratio to the baseline.
    pub ratio: RatioCell,
    /// One cell per column.
    pub cells: Vec<Option<Cell>>,
}

/// One figure. The headline has a bar, whose positions are per cent of this figure's longest bar on the page.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Cell {
    /// The mean of the runs, with its unit.
    pub figure: String,
    pub has_bar: bool,
    pub mean: f64,
    /// The baseline's mean, marked on the bars of the other variants.
    pub baseline: Option<f64>,
    /// Each run's figure, if there are several runs.
    pub runs: Vec<f64>,
    /// The ratio to the baseline, if it has an interval.
    pub ratio: Option<DrawnRatio>,
}

/// A ratio whose interval is drawn.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DrawnRatio {
    /// `0.42x`.
    pub ratio: String,
    /// `[0.40, 0.44]`.
    pub interval: String,
    pub bar: Bar,
}

impl DrawnRatio {
    /// `None` without an interval, or if it is too wide to act on.
    fn new(ratio: f64, interval: Option<Interval>, verdict: Verdict, reach: f64) -> Option<Self> {
        let interval = interval.filter(|it| it.is_readable(ratio))?;
        let bar = bar(ratio, Some(interval), verdict, reach)?;
        Some(Self {
            ratio: format!("{}x", figures::ratio(ratio)),
            interval: figures::interval(interval),
            bar,
        })
    }
}

/// The bars of a load. A column keeps one scale on the whole page, so that bars of two loads can be compared.
#[must_use]
pub fn board(document: &ResultDocument, load: &LoadSpec) -> Board {
    let LoadTable { words, columns, baseline, rows, .. } = table(document, load, first_columns);
    let scales: Vec<f64> = columns.iter().map(|column| longest(document, column.metric)).collect();
    let several = rows.len() > 1;
    let reach = reach(&document.comparisons);
    let row = |row: crate::view::table::Row| {
        let mut compared = document.comparisons_with_baseline(load, true);
        let comparison = compared.find(|it| it.variant == row.variant);
        let other = baseline.as_ref().filter(|baseline| **baseline != row.variant);
        let cell = |(place, &Column { metric, .. }): (usize, &Column)| {
            let other = other.and_then(|baseline| document.mean(baseline, &load.name, metric));
            let runs = document.figures(&row.variant, &load.name, metric);
            let ratio =
                comparison.and_then(|it| it.ratio(metric)).filter(|_| place == 0 || DRAWN.contains(&metric));
            let ratio = ratio.and_then(|it| DrawnRatio::new(it.ratio, it.interval, it.verdict, reach));
            Some(Cell { ratio, ..cell(metric, &runs, other, scales[place], place == 0)? })
        };
        let cells = columns.iter().enumerate().map(cell).collect();
        let colour = colour(document, &row.variant);
        BoardRow { variant: row.variant, label: row.label, colour, cells, ratio: row.ratio }
    };
    let rows: Vec<BoardRow> = rows.into_iter().map(row).collect();
    Board {
        columns: columns.iter().map(|column| column.title).collect(),
        words,
        baseline: baseline.clone().filter(|_| several),
        rows,
    }
}

/// The highest figure of any run, over all loads whose bars show this metric.
fn longest(document: &ResultDocument, metric: Metric) -> f64 {
    let loads = document.experiment.loads.iter();
    let loads =
        loads.filter(|load| first_columns(load.workload).iter().any(|column| column.metric == metric));
    let all = loads
        .flat_map(|load| ran(document).flat_map(|variant| document.figures(variant, &load.name, metric)));
    all.fold(0.0, f64::max)
}

fn cell(metric: Metric, runs: &[f64], baseline: Option<f64>, longest: f64, has_bar: bool) -> Option<Cell> {
    let value = mean(runs)?;
    let place = |value: f64| {
        let share = if longest > 0.0 { value / longest } else { 0.0 };
        (share.clamp(0.0, 1.0) * 1_000.0).round() / 10.0
    };
    Some(Cell {
        figure: figures::figure(metric, value),
        has_bar,
        mean: place(value),
        baseline: baseline.map(place),
        runs: if runs.len() > 1 { runs.iter().copied().map(place).collect() } else { Vec::new() },
        ratio: None,
    })
}

/// The kinds of thread of a crossover.
#[must_use]
pub fn crossover_board(found: &CrossoverDocument) -> Board {
    let compared = |of: &TreatmentFigures| found.comparisons.iter().find(|it| it.treatment == of.treatment);
    let ratios = found.comparisons.iter().flat_map(all_ratios).flatten();
    let reach = reach_of(ratios.map(|it| (it.ratio, it.interval)));
    let longest = found.figures.iter().map(|it| it.rate_per_s).fold(0.0, f64::max);
    let baseline = found.figures.iter().find(|it| compared(it).is_none());
    let row = |(place, of): (usize, &TreatmentFigures)| {
        let [name, figure, _, others @ ..] = crossover::cells(found, of);
        let comparison = compared(of);
        let ratios = comparison.map_or([None; 4], all_ratios);
        let drawn = ratios.map(|it| DrawnRatio::new(it?.ratio, it?.interval, it?.verdict, reach));
        let other = comparison.and(baseline).map(|it| it.rate_per_s);
        let first = cell(Metric::Rate, &[of.rate_per_s], other, longest, true);
        let first = first.map(|it| Cell { figure, ..it });
        let [rate, times @ ..] = drawn;
        let ratio = match (comparison, &rate) {
            (None, _) => RatioCell::Baseline,
            (_, None) => RatioCell::Unreadable { why: "too few blocks" },
            (Some(it), Some(rate)) => RatioCell::Ratio {
                value: it.rate.ratio,
                ratio: figures::ratio(it.rate.ratio),
                interval: Some(rate.interval.clone()),
                runs: it.rate.blocks as u32,
                inconclusive: it.rate.verdict == Verdict::NotEnoughRuns,
            },
        };
        let others = others.into_iter().zip(times.into_iter().chain(std::iter::repeat(None)));
        let others = others.map(|(figure, ratio)| {
            Some(Cell { figure, ratio, has_bar: false, mean: 0.0, baseline: None, runs: Vec::new() })
        });
        let cells = [first.map(|it| Cell { ratio: rate, ..it })].into_iter().chain(others).collect();
        BoardRow { variant: name, label: String::new(), colour: place % COLOURS + 1, ratio, cells }
    };
    let mut columns = vec!["throughput", "p50", "p99", "CPU/request", "memory", "threads"];
    let mut rows: Vec<BoardRow> = found.figures.iter().enumerate().map(row).collect();
    if found.crossover.alone.is_empty() {
        // Memory and threads are those of a whole JVM.
        columns.truncate(4);
        rows.iter_mut().for_each(|row| row.cells.truncate(4));
    }
    Board {
        columns,
        words: String::new(),
        baseline: Some(crossover::name(&found.crossover, crossover::baseline(&found.crossover))),
        rows,
    }
}

/// Throughput, median, p99 and CPU per request.
fn all_ratios(of: &TreatmentComparison) -> [Option<&CrossoverRatio>; 4] {
    [Some(&of.rate), of.p50.as_ref(), of.p99.as_ref(), of.cpu_per_request.as_ref()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;
    use threadcount_model::record::Record;
    use threadcount_model::sample::run;

    fn document(loads: &str, records: &[Record]) -> ResultDocument {
        sample::document("{a: {}, b: {}, c: {}}", loads, records)
    }

    #[test]
    fn a_bar_is_as_long_as_its_share_of_the_longest_of_all_loads_and_shows_the_baseline_and_the_runs() {
        let records = [
            run("a", "c4", 100.0, 40.0),
            run("b", "c4", 180.0, 20.0),
            run("b", "c4", 220.0, 20.0),
            run("b", "c8", 400.0, 30.0),
        ];
        let document = document("[{clients: [4, 8], duration: 1s}]", &records);
        let Board { columns, rows, baseline, .. } = board(&document, &document.experiment.loads[0]);
        assert_eq!(
            (&columns[..4], baseline.as_deref()),
            (&["throughput", "p50", "p99", "RSS"][..], Some("a"))
        );
        let names: Vec<_> = rows.iter().map(|row| (row.variant.as_str(), row.colour)).collect();
        assert_eq!(names, [("a", 1), ("b", 2)], "c did not run");
        let rate = |row: usize| rows[row].cells[0].clone().expect("a rate");
        let a = Cell {
            figure: "100/s".into(),
            has_bar: true,
            mean: 25.0,
            baseline: None,
            runs: Vec::new(),
            ratio: None,
        };
        let b = Cell {
            figure: "200/s".into(),
            has_bar: true,
            mean: 50.0,
            baseline: Some(25.0),
            runs: vec![45.0, 55.0],
            ratio: None,
        };
        assert_eq!((rate(0), rate(1)), (a, b));
        let second = board(&document, &document.experiment.loads[1]);
        assert_eq!((second.rows.len(), second.baseline), (1, None), "nothing to be compared with");
        assert_eq!(second.rows[0].cells[0].as_ref().map(|cell| cell.mean), Some(100.0));
    }

    #[test]
    fn under_an_open_load_the_waiting_comes_first_and_without_runs_there_is_no_bar() {
        let document = document("[{rate: 10/s, duration: 1s}]", &[run("a", "r10", 10.0, 5.0)]);
        assert_eq!(
            board(&document, &document.experiment.loads[0]).columns[..3],
            ["p50", "p99", "throughput"]
        );
        let empty = ResultDocument { records: Vec::new(), ..document };
        assert!(board(&empty, &empty.experiment.loads[0]).rows.is_empty());
    }
}
