//! Turns readings over time into lines with a bounded number of places.

use serde::Serialize;

/// Most places of a line: a chart is about a thousand pixels wide, and more places cannot be seen but make the page heavy.
const MOST_PLACES: f64 = 300.0;

/// Series are cut after a day, so that a wrong timestamp cannot exhaust the memory.
pub(super) const LONGEST_S: f64 = 86_400.0;

/// The division of a window into steps; each step becomes one place of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Steps {
    /// Seconds per step; 1 unless the window is long.
    pub seconds: u32,
    /// The number of steps in the window; a reading taken just after its end belongs to none of them.
    pub most: usize,
}

/// The way in which several readings within one step become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fold {
    Mean,
    Max,
    Sum,
}

impl Steps {
    /// The steps of a window of this length.
    pub fn for_window(window_s: f64) -> Self {
        let window_s = window_s.min(LONGEST_S);
        let seconds = (window_s / MOST_PLACES).ceil().max(1.0) as u32;
        Self { seconds, most: (window_s / f64::from(seconds)).round().max(1.0) as usize }
    }

    /// One figure for each step of the window; readings before it are left out.
    pub fn fold(self, samples: impl Iterator<Item = (f64, Option<f64>)>, fold: Fold) -> Vec<Option<f64>> {
        let mut steps: Vec<(f64, u32)> = Vec::new();
        for (t_s, value) in samples {
            let Some(value) = value.filter(|value| value.is_finite() && (0.0..LONGEST_S).contains(&t_s))
            else {
                continue;
            };
            let step = (t_s / f64::from(self.seconds)) as usize;
            if step >= self.most {
                continue;
            }
            if steps.len() <= step {
                steps.resize(step + 1, (0.0, 0));
            }
            let (figure, readings) = &mut steps[step];
            *figure = match fold {
                Fold::Mean | Fold::Sum => *figure + value,
                Fold::Max => figure.max(value),
            };
            *readings += 1;
        }
        let one = |(figure, readings): (f64, u32)| match (fold, readings) {
            (_, 0) => None,
            (Fold::Mean, _) => Some(rounded(figure / f64::from(readings))),
            (Fold::Max | Fold::Sum, _) => Some(rounded(figure)),
        };
        steps.into_iter().map(one).collect()
    }
}

/// One line per run, and their median at each place.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Lines {
    /// The median of the runs at each place; for rare events the mean, see [`Lines::mean`].
    pub median: Vec<Option<f64>>,
    /// Each run's line; empty if there is only one run, which is then the median.
    pub runs: Vec<Vec<Option<f64>>>,
}

impl Lines {
    /// Collects the runs' lines and computes their median.
    pub fn from_runs(runs: Vec<Vec<Option<f64>>>) -> Self {
        let longest = runs.iter().map(Vec::len).max().unwrap_or(0);
        let at =
            |place: usize| median(runs.iter().filter_map(|run| run.get(place).copied().flatten()).collect());
        let median = (0..longest).map(at).collect();
        let measured = runs.iter().filter(|run| run.iter().any(Option::is_some)).count();
        Self { median, runs: if measured > 1 { runs } else { Vec::new() } }
    }

    /// Replaces the median by the mean, because a median run often shows none of a rare event.
    pub fn mean(mut self) -> Self {
        let runs = &self.runs;
        let measured = runs.iter().filter(|run| run.iter().any(Option::is_some)).count().max(1) as f64;
        if !runs.is_empty() {
            let sum = |place: usize| runs.iter().filter_map(|run| *run.get(place)?).sum::<f64>();
            let any = |place: usize| runs.iter().any(|run| run.get(place).is_some_and(Option::is_some));
            let at = |place| any(place).then(|| rounded(sum(place) / measured));
            self.median = (0..self.median.len()).map(at).collect();
        }
        self
    }

    pub fn divide(&mut self, by: f64) {
        let all = self.runs.iter_mut().chain([&mut self.median]).flatten().flatten();
        all.for_each(|value| *value = rounded(*value / by));
    }
}

/// The median, rounded; of an even number of values the midpoint of the middle two.
pub fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let upper = *values.get(values.len() / 2)?;
    let lower = *values.get((values.len() - 1) / 2)?;
    Some(rounded(f64::midpoint(lower, upper)))
}

/// Rounds to four significant digits, which is as much as a picture can show and keeps the file small.
pub fn rounded(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return value;
    }
    let decimals = (3.0 - value.abs().log10().floor()).clamp(0.0, 9.0);
    let scale = 10_f64.powf(decimals);
    (value * scale).round() / scale
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_run_is_taken_at_each_place() {
        let lines = Lines::from_runs(vec![
            vec![Some(1.0), Some(10.0)],
            vec![Some(3.0), None, Some(7.0)],
            vec![Some(2.0), Some(20.0)],
        ]);
        assert_eq!(lines.median, [Some(2.0), Some(15.0), Some(7.0)]);
        assert_eq!(lines.runs.len(), 3);
    }

    #[test]
    fn rare_events_of_one_run_are_seen_in_the_mean() {
        let runs = vec![vec![Some(0.0), Some(9.0)], vec![Some(0.0), Some(0.0)], vec![Some(0.0)]];
        assert_eq!(Lines::from_runs(runs.clone()).median, [Some(0.0), Some(4.5)]);
        assert_eq!(Lines::from_runs(runs).mean().median, [Some(0.0), Some(3.0)]);
    }

    #[test]
    fn a_single_run_is_not_written_twice() {
        let lines = Lines::from_runs(vec![vec![Some(1.0)], Vec::new()]);
        assert_eq!((lines.median, lines.runs), (vec![Some(1.0)], Vec::new()));
    }

    #[test]
    fn readings_of_one_second_become_one_and_those_before_the_window_none() {
        let samples = [(-0.4, 99.0), (0.1, 1.0), (0.6, 3.0), (2.1, 5.0)];
        let folded = |seconds, fold| {
            let samples = samples.iter().map(|&(t, value)| (t, Some(value)));
            Steps { seconds, most: 3 }.fold(samples, fold)
        };
        assert_eq!(folded(1, Fold::Mean), [Some(2.0), None, Some(5.0)]);
        assert_eq!(folded(1, Fold::Max), [Some(3.0), None, Some(5.0)]);
        assert_eq!(folded(1, Fold::Sum), [Some(4.0), None, Some(5.0)]);
        assert_eq!(folded(2, Fold::Sum), [Some(4.0), Some(5.0)]);
    }

    #[test]
    fn a_reading_just_after_the_window_is_no_second_of_its_own() {
        let samples = [(0.5, 1.0), (1.5, 2.0), (2.01, 3.0)].map(|(t, value)| (t, Some(value)));
        assert_eq!(Steps::for_window(2.02).fold(samples.into_iter(), Fold::Max), [Some(1.0), Some(2.0)]);
        assert_eq!(
            Steps::for_window(2.6).fold(samples.into_iter(), Fold::Max),
            [Some(1.0), Some(2.0), Some(3.0)]
        );
    }

    #[test]
    fn ten_minutes_have_steps_of_two_seconds_and_a_day_no_more_places() {
        assert_eq!(Steps::for_window(0.0).seconds, 1);
        assert_eq!(Steps::for_window(300.0).seconds, 1);
        assert_eq!(Steps::for_window(600.0).seconds, 2);
        assert_eq!(Steps::for_window(1e12).seconds, 288);
    }

    #[test]
    fn four_digits_are_kept() {
        assert_eq!(rounded(7_846.34), 7_846.0);
        assert_eq!(rounded(18_579.6), 18_580.0);
        assert_eq!(rounded(0.586_12), 0.5861);
        assert_eq!(rounded(50.4267), 50.43);
    }
}
