//! What the pictures show, as plain numbers: for each load and variant one line per run and the median of the runs.

use crate::compare::metric::Metric;
use crate::record::{CurvePoint, Record};
use crate::report::html::method::ran;
use crate::report::published::mean;
use crate::report::summary::load_words;
use crate::result::ResultDocument;
use serde::Serialize;
use std::cmp::Ordering;

/// Steps of the latency curve for each further nine (90 %, 99 %, ...).
const STEPS_PER_NINE: usize = 16;

/// Everything the page's script draws.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Pictures {
    /// Names of those that ran, in the experiment's order.
    pub variants: Vec<String>,
    /// One for each load that has runs.
    pub loads: Vec<LoadPictures>,
    /// Rate and response times of each variant over the loads.
    pub sweep: Vec<SweepPoint>,
}

/// The pictures of one load.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LoadPictures {
    /// In words.
    pub words: String,
    /// x of the latency curve: log10(1 / (1 − p)), 0 for the fastest, 2 for p99.
    pub nines: Vec<f64>,
    /// One for each variant, in the order of [`Pictures::variants`].
    pub variants: Vec<VariantPictures>,
}

/// The lines of one variant. Over time, index 0 is the first second of the measured window.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct VariantPictures {
    /// Response time by percentile, ms.
    pub curve_ms: Lines,
    /// Expected answers per second.
    pub rate_per_s: Lines,
    /// Failures per second.
    pub failed_per_s: Lines,
    /// Median response time, ms.
    pub p50_ms: Lines,
    /// 99th percentile, ms.
    pub p99_ms: Lines,
    /// Slowest, ms.
    pub max_ms: Lines,
    /// Resident memory, MB (10^6 bytes): the highest reading of each second.
    pub rss_mb: Lines,
    /// OS threads: the highest reading of each second.
    pub os_threads: Lines,
    /// CPU of the server, cores: the mean of each second's readings.
    pub cpu_cores: Lines,
}

/// One line for each run, and their median at each place.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Lines {
    /// The median run at each place.
    pub median: Vec<Option<f64>>,
    /// Each run.
    pub runs: Vec<Vec<Option<f64>>>,
}

/// One variant under one load, means over the runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SweepPoint {
    /// Index of the variant.
    pub variant: usize,
    /// The load in words.
    pub load: String,
    /// Requests per second.
    pub rate_per_s: f64,
    /// Median response time, ms.
    pub p50_ms: f64,
    /// 99th percentile, ms.
    pub p99_ms: f64,
}

/// Reads the pictures out of a result.
#[must_use]
pub fn pictures(document: &ResultDocument) -> Pictures {
    let variants: Vec<String> = ran(document).cloned().collect();
    let loads = document.experiment.loads.iter();
    let loads = loads.filter_map(|load| {
        let runs = |variant: &String| -> Vec<&Record> {
            let wanted = |record: &&Record| record.load == load.name && record.variant == *variant;
            document.records.iter().filter(wanted).filter(|record| record.measured.is_some()).collect()
        };
        let groups: Vec<Vec<&Record>> = variants.iter().map(runs).collect();
        let longest = groups.iter().flatten().map(|record| answers(record)).max()?;
        let nines = grid(longest);
        let variants = groups.iter().map(|runs| variant_pictures(runs, &nines)).collect();
        Some(LoadPictures { words: load_words(load), nines, variants })
    });
    let loads = loads.collect();
    Pictures { sweep: sweep(document, &variants), variants, loads }
}

fn answers(record: &Record) -> u64 {
    record.measured.as_ref().map_or(0, |load| load.requests.ok)
}

/// The places of the latency curve, up to the nines that so many answers can show.
fn grid(answers: u64) -> Vec<f64> {
    let last = (answers.max(1) as f64).log10();
    let steps = (last * STEPS_PER_NINE as f64).floor() as usize;
    let mut grid: Vec<f64> = (0..=steps).map(|step| step as f64 / STEPS_PER_NINE as f64).collect();
    grid.push(2_f64.log10().min(last));
    grid.push(last);
    grid.sort_by(f64::total_cmp);
    grid.dedup_by(|a, b| (*a - *b).abs() < 1e-4);
    grid
}

fn variant_pictures(runs: &[&Record], nines: &[f64]) -> VariantPictures {
    let lines =
        |line: &dyn Fn(&Record) -> Vec<Option<f64>>| Lines::of(runs.iter().map(|run| line(run)).collect());
    let load = |figure: fn(&crate::record::LoadSample) -> Option<f64>| {
        lines(&|run: &Record| {
            by_second(run.load_series.iter().map(|sample| (sample.t_s, figure(sample))), Fold::Mean)
        })
    };
    let process = |figure: fn(&crate::record::ProcessSample) -> f64, fold: Fold| {
        lines(&|run: &Record| {
            by_second(run.process_series.iter().map(|sample| (sample.t_s, Some(figure(sample)))), fold)
        })
    };
    VariantPictures {
        curve_ms: lines(&|run: &Record| curve(&run.latency_curve, answers(run), nines)),
        rate_per_s: load(|sample| Some(sample.rate_per_s)),
        failed_per_s: load(|sample| Some(sample.failed_per_s)),
        p50_ms: load(|sample| sample.p50_ms),
        p99_ms: load(|sample| sample.p99_ms),
        max_ms: load(|sample| sample.max_ms),
        rss_mb: process(|sample| sample.rss_bytes as f64 / 1e6, Fold::Max),
        os_threads: process(|sample| f64::from(sample.os_threads), Fold::Max),
        cpu_cores: process(|sample| sample.cpu_cores, Fold::Mean),
    }
}

/// The response time at each place of the grid: that of the first point at or beyond it. The curve ends with the
/// slowest answer, at the last place that so many answers reach; between the last recorded percentile and that end
/// nothing is known, so nothing is said.
fn curve(points: &[CurvePoint], answers: u64, nines: &[f64]) -> Vec<Option<f64>> {
    let last = (answers.max(1) as f64).log10() + 1e-9;
    let end = nines.iter().rposition(|at| *at <= last).unwrap_or(0);
    let at = |(place, nines): (usize, &f64)| {
        let percentile = 100.0 * (1.0 - 10_f64.powf(-nines));
        let point = match place.cmp(&end) {
            Ordering::Less => points
                .iter()
                .find(|point| point.percentile >= percentile - 1e-9)
                .filter(|point| point.percentile < 100.0),
            Ordering::Equal => points.last(),
            Ordering::Greater => None,
        };
        point.map(|point| rounded(point.response_ms))
    };
    nines.iter().enumerate().map(at).collect()
}

/// How several readings within one second become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fold {
    Mean,
    Max,
}

/// One figure for each second of the window; readings before it are left out.
fn by_second(samples: impl Iterator<Item = (f64, Option<f64>)>, fold: Fold) -> Vec<Option<f64>> {
    /// Longer series than a day are cut, so that a broken time cannot ask for all memory.
    const LONGEST_S: f64 = 86_400.0;
    let mut seconds: Vec<(f64, u32)> = Vec::new();
    for (t_s, value) in samples {
        let Some(value) = value.filter(|value| value.is_finite() && (0.0..LONGEST_S).contains(&t_s)) else {
            continue;
        };
        let second = t_s as usize;
        if seconds.len() <= second {
            seconds.resize(second + 1, (0.0, 0));
        }
        let (figure, readings) = &mut seconds[second];
        *figure = match fold {
            Fold::Mean => *figure + value,
            Fold::Max => figure.max(value),
        };
        *readings += 1;
    }
    let one = |(figure, readings): (f64, u32)| match (fold, readings) {
        (_, 0) => None,
        (Fold::Mean, _) => Some(rounded(figure / f64::from(readings))),
        (Fold::Max, _) => Some(rounded(figure)),
    };
    seconds.into_iter().map(one).collect()
}

impl Lines {
    fn of(runs: Vec<Vec<Option<f64>>>) -> Self {
        let longest = runs.iter().map(Vec::len).max().unwrap_or(0);
        let at =
            |place: usize| median(runs.iter().filter_map(|run| run.get(place).copied().flatten()).collect());
        Self { median: (0..longest).map(at).collect(), runs }
    }
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let upper = *values.get(values.len() / 2)?;
    let lower = *values.get((values.len() - 1) / 2)?;
    Some(rounded(f64::midpoint(lower, upper)))
}

/// Four significant digits: what a picture can show, and a file stays small.
fn rounded(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return value;
    }
    let decimals = (3.0 - value.abs().log10().floor()).clamp(0.0, 9.0);
    let scale = 10_f64.powf(decimals);
    (value * scale).round() / scale
}

fn sweep(document: &ResultDocument, variants: &[String]) -> Vec<SweepPoint> {
    let mut points = Vec::new();
    for load in &document.experiment.loads {
        for (index, variant) in variants.iter().enumerate() {
            let figure = |metric| mean(document, variant, &load.name, metric).map(rounded);
            let figures = (figure(Metric::Rate), figure(Metric::P50), figure(Metric::P99));
            if let (Some(rate_per_s), Some(p50_ms), Some(p99_ms)) = figures {
                points.push(SweepPoint {
                    variant: index,
                    load: load_words(load),
                    rate_per_s,
                    p50_ms,
                    p99_ms,
                });
            }
        }
    }
    points
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_run_is_taken_at_each_place() {
        let lines = Lines::of(vec![
            vec![Some(1.0), Some(10.0)],
            vec![Some(3.0), None, Some(7.0)],
            vec![Some(2.0), Some(20.0)],
        ]);
        assert_eq!(lines.median, [Some(2.0), Some(15.0), Some(7.0)]);
    }

    #[test]
    fn readings_of_one_second_become_one_and_those_before_the_window_none() {
        let samples = [(-0.4, 99.0), (0.1, 1.0), (0.6, 3.0), (2.1, 5.0)];
        let mean = by_second(samples.iter().map(|&(t, value)| (t, Some(value))), Fold::Mean);
        assert_eq!(mean, [Some(2.0), None, Some(5.0)]);
        let max = by_second(samples.iter().map(|&(t, value)| (t, Some(value))), Fold::Max);
        assert_eq!(max, [Some(3.0), None, Some(5.0)]);
    }

    #[test]
    fn the_curve_has_the_recorded_time_at_each_percentile_and_ends_at_the_last_answer() {
        let point = |percentile, response_ms| CurvePoint { percentile, response_ms };
        let points = [point(0.0, 1.0), point(50.0, 5.0), point(99.0, 9.0), point(100.0, 50.0)];
        let two = 2_f64.log10();
        assert_eq!(
            curve(&points, 1_000, &[0.0, two, 2.0, 2.5, 3.0, 4.0]),
            [Some(1.0), Some(5.0), Some(9.0), None, Some(50.0), None]
        );
    }

    #[test]
    fn a_thousand_answers_show_no_more_than_three_nines() {
        let grid = grid(1_000);
        assert_eq!(grid.first(), Some(&0.0));
        assert!((grid.last().unwrap() - 3.0).abs() < 1e-9);
        assert!(grid.iter().any(|at| (at - 2_f64.log10()).abs() < 1e-9), "the median is a place of its own");
    }

    #[test]
    fn four_digits_are_kept() {
        assert_eq!(rounded(7_846.34), 7_846.0);
        assert_eq!(rounded(18_579.6), 18_580.0);
        assert_eq!(rounded(0.586_12), 0.5861);
        assert_eq!(rounded(50.4267), 50.43);
    }
}
