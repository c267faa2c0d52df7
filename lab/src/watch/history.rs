//! The last readings of one figure, and their picture in one line.

use std::collections::VecDeque;

/// More than half a minute at the probe's two readings a second.
const KEPT: usize = 80;

const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// The last readings of one figure.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct History(VecDeque<f64>);

impl History {
    /// Adds a reading and drops the oldest if there are too many.
    pub fn add(&mut self, value: f64) {
        if self.0.len() == KEPT {
            self.0.pop_front();
        }
        self.0.push_back(value);
    }

    #[must_use]
    pub fn last(&self) -> Option<f64> {
        self.0.back().copied()
    }

    /// The last `width` readings as bars between 0 and the highest of them (at least `full`), the newest at the right.
    #[must_use]
    pub fn spark(&self, width: usize, full: f64) -> String {
        let shown = self.0.iter().skip(self.0.len().saturating_sub(width));
        let highest = shown.clone().fold(full, |highest, &value| highest.max(value));
        let bar = |&value: &f64| {
            let share = if highest > 0.0 { (value / highest).clamp(0.0, 1.0) } else { 0.0 };
            BARS[(share * (BARS.len() - 1) as f64).round() as usize]
        };
        let bars: String = shown.map(bar).collect();
        format!("{bars:>width$}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_readings_stand_at_the_right_between_nothing_and_the_highest() {
        let mut history = History::default();
        assert_eq!(history.spark(3, 1.0), "   ");
        [9.0, 0.0, 1.0, 2.0].into_iter().for_each(|value| history.add(value));
        assert_eq!(history.spark(3, 1.0), "▁▅█");
        assert_eq!(history.spark(6, 1.0), "  █▁▂▃");
        assert_eq!(history.spark(3, 4.0), "▁▃▅", "a scale that is known is kept");
    }

    #[test]
    fn it_does_not_grow() {
        let mut history = History::default();
        (0..1_000).for_each(|value| history.add(f64::from(value)));
        assert_eq!((history.0.len(), history.last()), (KEPT, Some(999.0)));
    }
}
