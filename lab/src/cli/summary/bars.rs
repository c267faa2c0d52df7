//! A compact picture of a distribution: one bar for each step of time up to p99, and one for everything above.

use threadcount_load::times::Times;
use threadcount_model::figures;

/// The largest number of bars between the shortest time and p99.
const MOST_BARS: f64 = 12.0;
/// The smallest step, as a part of p99, so that three digits can tell its ends apart.
const LEAST_STEP: f64 = 0.01;
/// The length of the longest bar, in characters.
const WIDTH: f64 = 40.0;
/// The characters from one eighth of a block to a whole one.
const EIGHTHS: [char; 8] = ['▏', '▎', '▍', '▌', '▋', '▊', '▉', '█'];

#[derive(Clone, Copy, Debug, PartialEq)]
struct Bar {
    /// The lower bound of its times, in milliseconds.
    from_ms: f64,
    /// The upper bound of its times, in milliseconds. The last bar reaches to the longest time.
    to_ms: f64,
    count: u64,
}

/// The lines of the picture, or none if nothing was recorded.
#[must_use]
pub fn lines(times: &Times) -> Vec<String> {
    let bars = bars(times);
    let most = bars.iter().map(|bar| bar.count).max().unwrap_or(0);
    let total = times.count() as f64;
    let line = |bar: &Bar| {
        let share = bar.count as f64 / total * 100.0;
        let from = if bar.from_ms > 0.0 { figures::milliseconds(bar.from_ms) } else { "0".to_owned() };
        let to = figures::milliseconds(bar.to_ms);
        let drawn = draw(bar.count as f64 / most as f64 * WIDTH);
        format!("{from:>8} .. {to:<8} {share:>5.1} % {drawn}").trim_end().to_owned()
    };
    bars.iter().map(line).collect()
}

fn bars(times: &Times) -> Vec<Bar> {
    let Some(summary) = times.summary() else { return Vec::new() };
    // The figure of a bucket is its upper end, as in the percentiles.
    let recorded: Vec<(f64, u64)> = (times.histogram().iter_recorded())
        .map(|step| (step.value_iterated_to() as f64 / 1e6, step.count_at_value()))
        .collect();
    let min_ms = recorded.first().map_or(summary.min, |&(ms, _)| ms);
    let step_ms = nice_step(((summary.p99 - min_ms) / MOST_BARS).max(summary.p99 * LEAST_STEP));
    let first = (min_ms / step_ms).floor();
    let in_body = (summary.p99 / step_ms).floor() - first + 1.0;
    let start_of = |index: usize| (first + index as f64) * step_ms;
    let mut counts = vec![0; in_body as usize + 1];
    for (ms, count) in recorded {
        let index = (ms / step_ms).floor() - first;
        counts[(index as usize).min(in_body as usize)] += count;
    }
    let rest = counts.len() - 1;
    let bar = |(index, count): (usize, u64)| {
        let to_ms = if index == rest { summary.max } else { start_of(index + 1) };
        Bar { from_ms: start_of(index), to_ms, count }
    };
    // If the longest time is p99 itself, nothing is above it.
    counts
        .into_iter()
        .enumerate()
        .map(bar)
        .filter(|bar| bar.count > 0 || bar.from_ms < start_of(rest))
        .collect()
}

/// The next of 1, 2, 2.5, 5, 10 times a power of ten, and at least one microsecond.
fn nice_step(least_ms: f64) -> f64 {
    let least_ms = least_ms.max(0.001);
    let power = 10_f64.powf(least_ms.log10().floor());
    let nice = [1.0, 2.0, 2.5, 5.0].into_iter().map(|factor| factor * power);
    nice.into_iter().find(|step| *step >= least_ms * 0.999_999).unwrap_or(10.0 * power)
}

/// Draws a bar of this length in characters, to an eighth. A length above zero gives at least an eighth.
fn draw(length: f64) -> String {
    let eighths = if length > 0.0 { ((length * 8.0).round() as usize).max(1) } else { 0 };
    let mut bar = "█".repeat(eighths / 8);
    if !eighths.is_multiple_of(8) {
        bar.push(EIGHTHS[eighths % 8 - 1]);
    }
    bar
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(values_us: impl IntoIterator<Item = u64>) -> Times {
        let mut times = Times::default();
        values_us.into_iter().for_each(|us| times.record_ns(us * 1_000));
        times
    }

    #[test]
    fn every_time_is_in_exactly_one_bar() {
        for values in [vec![50_000], vec![1, 1, 1], (1..=1_000).collect(), vec![10, 20, 1_000_000]] {
            let times = times(values);
            let bars = bars(&times);
            assert_eq!(bars.iter().map(|bar| bar.count).sum::<u64>(), times.count());
            assert!(bars.len() <= 14, "{bars:?}");
            assert!(bars.windows(2).all(|pair| pair[0].to_ms <= pair[1].from_ms + 1e-9), "{bars:?}");
        }
    }

    #[test]
    fn steps_are_round_and_the_rest_reaches_to_the_longest() {
        let bars = bars(&times((0..990).map(|i| 50_000 + i * 10).chain((0..10).map(|_| 90_000))));
        assert!((bars[0].from_ms - 50.0).abs() < 1e-9, "{bars:?}");
        assert!((bars[0].to_ms - 51.0).abs() < 1e-9, "{bars:?}");
        let rest = bars.last().unwrap();
        assert_eq!(rest.count, 10);
        assert!((rest.to_ms - 90.0).abs() < 0.1, "{bars:?}");
    }

    #[test]
    fn the_longest_bar_is_full_and_the_smallest_still_shows() {
        let lines = lines(&times((0..9_999).map(|_| 1_000).chain([9_000])));
        assert!(lines[0].ends_with(&"█".repeat(40)), "{lines:?}");
        assert!(lines.last().unwrap().ends_with('▏'), "{lines:?}");
        assert!(super::lines(&Times::default()).is_empty());
    }
}
