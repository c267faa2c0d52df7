//! Intervals of time, cut to a window.

use threadcount_load::clock::{NANOS_PER_S, Nanos};
use threadcount_model::record::jvm::Total;
use threadcount_model::record::jvm_log::Stopped;
use threadcount_model::window::Window;

/// A part of a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are the definition")]
pub struct Interval {
    pub from_ns: Nanos,
    pub to_ns: Nanos,
}

impl Interval {
    /// The part of an interval ending at `end_ns` that lies within the window; `None` if no part does.
    #[must_use]
    pub fn within(window: Window, end_ns: Nanos, duration_ns: Nanos) -> Option<Self> {
        let from_ns = end_ns.saturating_sub(duration_ns).max(window.started_ns);
        let to_ns = end_ns.min(window.ended_ns);
        (from_ns < to_ns).then_some(Self { from_ns, to_ns })
    }

    /// The length in milliseconds.
    #[must_use]
    pub fn ms(self) -> f64 {
        (self.to_ns - self.from_ns) as f64 / 1e6
    }

    /// Adds the interval's parts to the seconds of the window that they lie in.
    pub fn by_second(self, window: Window, seconds_ms: &mut [f64]) {
        let mut from_ns = self.from_ns - window.started_ns;
        let to_ns = self.to_ns - window.started_ns;
        while from_ns < to_ns {
            let second = from_ns / NANOS_PER_S;
            let until_ns = to_ns.min((second + 1) * NANOS_PER_S);
            if let Some(ms) = usize::try_from(second).ok().and_then(|second| seconds_ms.get_mut(second)) {
                *ms += (until_ns - from_ns) as f64 / 1e6;
            }
            from_ns = until_ns;
        }
    }
}

/// Adds up intervals that arrive in the order of their ends, and the time covered by at least one.
#[derive(Debug, Default)]
pub struct Union {
    total: Total,
    /// The merged intervals, which do not touch, in the order of time.
    apart: Vec<Interval>,
}

impl Union {
    pub fn add(&mut self, mut interval: Interval) {
        add(&mut self.total, interval.ms());
        while let Some(last) = self.apart.last().filter(|last| last.to_ns >= interval.from_ns) {
            interval.from_ns = interval.from_ns.min(last.from_ns);
            interval.to_ns = interval.to_ns.max(last.to_ns);
            self.apart.pop();
        }
        self.apart.push(interval);
    }

    /// The merged intervals; intervals that touch became one.
    #[must_use]
    pub fn into_intervals(self) -> Vec<Interval> {
        self.apart
    }

    /// The count and length of the intervals, and the share of the window that they cover.
    #[must_use]
    pub fn stopped(&self, window: Window) -> Stopped {
        let covered_ms: f64 = self.apart.iter().map(|interval| interval.ms()).sum();
        let length_ms = window.length_ns() as f64 / 1e6;
        let Total { count, total_ms, longest_ms } = self.total;
        let share = if length_ms > 0.0 { covered_ms / length_ms } else { 0.0 };
        // `+ 0.0` because an empty sum is -0.
        Stopped { count, total_ms: total_ms + 0.0, longest_ms, share: share + 0.0 }
    }
}

/// Adds one occurrence of `ms` milliseconds.
pub fn add(total: &mut Total, ms: f64) {
    total.count += 1;
    total.total_ms += ms;
    total.longest_ms = total.longest_ms.max(ms);
}

#[cfg(test)]
mod tests {
    use super::*;

    const WINDOW: Window = Window { started_ns: 1_000_000_000, ended_ns: 2_000_000_000 };
    const MS: Nanos = 1_000_000;

    #[test]
    fn what_crosses_an_edge_of_the_window_counts_with_its_part_inside() {
        let ms = |end_ms: Nanos, duration_ms: Nanos| {
            Interval::within(WINDOW, end_ms * MS, duration_ms * MS).map(Interval::ms)
        };
        assert_eq!(ms(1_500, 100), Some(100.0));
        assert_eq!(ms(1_030, 100), Some(30.0));
        assert_eq!(ms(2_060, 100), Some(40.0));
        assert_eq!(ms(5_000, 5_000), Some(1_000.0));
        assert_eq!((ms(1_000, 100), ms(2_100, 100)), (None, None));
    }

    #[test]
    fn what_crosses_the_border_of_two_seconds_counts_in_both() {
        let long = Window { started_ns: NANOS_PER_S / 2, ended_ns: 10 * NANOS_PER_S };
        let mut seconds_ms = [0.0; 3];
        Interval::within(long, 1_600 * MS, 300 * MS).unwrap().by_second(long, &mut seconds_ms);
        Interval::within(long, 2_000 * MS, 100 * MS).unwrap().by_second(long, &mut seconds_ms);
        assert_eq!(seconds_ms, [200.0, 200.0, 0.0]);
        Interval::within(long, 9_000 * MS, 100 * MS).unwrap().by_second(long, &mut seconds_ms);
        assert_eq!(seconds_ms, [200.0, 200.0, 0.0], "no room for that second");
    }

    #[test]
    fn intervals_that_overlap_are_added_up_and_their_time_is_counted_once() {
        let mut union = Union::default();
        for (end_ms, duration_ms) in [(1_100, 100), (1_150, 100), (1_160, 10), (1_400, 50), (1_500, 200)] {
            union.add(Interval::within(WINDOW, end_ms * MS, duration_ms * MS).unwrap());
        }
        let stopped = union.stopped(WINDOW);
        assert_eq!((stopped.count, stopped.total_ms, stopped.longest_ms), (5, 460.0, 200.0));
        assert!((stopped.share - 0.36).abs() < 1e-9, "{stopped:?}");
        assert_eq!(Union::default().stopped(WINDOW), Stopped::default());
    }
}
