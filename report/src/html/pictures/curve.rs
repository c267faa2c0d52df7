//! The curve of response time by percentile.

use super::lines::{Lines, median, rounded};
use std::cmp::Ordering;
use threadcount_model::record::{CurvePoint, Record};

/// Steps of the latency curve for each further nine (90 %, 99 %, ...).
const STEPS_PER_NINE: usize = 16;

/// Number of responses of a run.
pub fn answers(record: &Record) -> u64 {
    record.measured.as_ref().map_or(0, |load| load.requests.ok)
}

/// The positions (in nines) of the latency curve, up to the highest that this number of responses can show.
pub fn grid(answers: u64) -> Vec<f64> {
    let last = (answers.max(1) as f64).log10();
    let steps = (last * STEPS_PER_NINE as f64).floor() as usize;
    let mut grid: Vec<f64> = (0..=steps).map(|step| step as f64 / STEPS_PER_NINE as f64).collect();
    grid.push(2_f64.log10().min(last));
    grid.push(last);
    grid.sort_by(f64::total_cmp);
    grid.dedup_by(|a, b| (*a - *b).abs() < 1e-4);
    grid
}

/// Each run's curve and the median curve.
pub fn lines(runs: &[&Record], nines: &[f64]) -> Lines {
    let curves: Vec<_> = runs.iter().map(|run| curve(&run.latency_curve, answers(run), nines)).collect();
    let median = median_curve(&curves);
    Lines { median, ..Lines::from_runs(curves) }
}

/// The median at each place where every run has a value, ending with the median of the slowest responses. Only some runs
/// reach the places beyond, where a median would jump.
fn median_curve(curves: &[Vec<Option<f64>>]) -> Vec<Option<f64>> {
    let measured: Vec<&Vec<Option<f64>>> =
        curves.iter().filter(|it| it.iter().any(Option::is_some)).collect();
    let Some(places) = measured.first().map(|it| it.len()) else { return Vec::new() };
    let at = |place: usize| -> Option<f64> {
        let values: Option<Vec<f64>> = measured.iter().map(|it| it[place]).collect();
        median(values?)
    };
    let mut line: Vec<Option<f64>> = (0..places).map(at).collect();
    let mut ends: Vec<usize> =
        measured.iter().filter_map(|it| it.iter().rposition(Option::is_some)).collect();
    ends.sort_unstable();
    if let Some(&end) = ends.get(ends.len() / 2) {
        line[end] =
            median(measured.iter().filter_map(|it| it.iter().rev().flatten().next().copied()).collect());
        line[end + 1..].fill(None);
    }
    line
}

/// The response time at each place of the grid, taken from the first recorded point at or beyond it. The curve ends with
/// the slowest response, at the last place that this number of responses reaches; there is no data just before that end.
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

#[cfg(test)]
mod tests {
    use super::*;

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
    fn the_median_curve_never_jumps_where_only_some_runs_have_a_figure() {
        let runs = [
            vec![Some(1.0), Some(5.0), None, Some(30.0), None],
            vec![Some(1.0), Some(6.0), Some(9.0), None, Some(40.0)],
            vec![Some(1.0), Some(7.0), Some(20.0), None, None],
        ];
        assert_eq!(median_curve(&runs), [Some(1.0), Some(6.0), None, Some(30.0), None]);
        assert!(median_curve(&[]).is_empty());
    }
}
