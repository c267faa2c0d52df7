//! How long runnable threads waited for a core in the last seconds, measured by the probe's canary.

use super::work::REMEMBERED_S;
use std::collections::VecDeque;
use threadcount_load::clock::NANOS_PER_S;
use threadcount_machine::probe::run_delay::RunDelayLine;
use threadcount_machine::probe::sampled::run_delays;
use threadcount_model::record::run_delay::RunDelays;

/// The limit for a screen that nobody draws. There are two kinds of thread with two lines a second each.
const MOST_LINES: usize = 1_000;

/// The canary's lines of the last seconds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CanaryDelays {
    lines: VecDeque<RunDelayLine>,
}

impl CanaryDelays {
    pub fn read(&mut self, line: RunDelayLine) {
        let began_ns = line.t_ns.saturating_sub(REMEMBERED_S * NANOS_PER_S);
        while self.lines.len() >= MOST_LINES || self.lines.front().is_some_and(|it| it.t_ns < began_ns) {
            self.lines.pop_front();
        }
        self.lines.push_back(line);
    }

    /// The delays of the last seconds; `None` if no line has been read.
    #[must_use]
    pub fn now(&self) -> Option<RunDelays> {
        run_delays(self.lines.iter())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(at_s: u64, is_virtual: bool, longest_ms: u64, waiting_ms: u64) -> RunDelayLine {
        let longest_ns = longest_ms * 1_000_000;
        let at_most_us = vec![(longest_ms * 1_000, 50)];
        let waiting_ns = waiting_ms * 1_000_000;
        RunDelayLine {
            t_ns: at_s * NANOS_PER_S,
            is_virtual,
            longest_ns,
            waiting_ns,
            period_ns: 10_000_000,
            at_most_us,
        }
    }

    fn longest_ms(canary: &CanaryDelays) -> Option<(f64, Option<f64>)> {
        let delays = canary.now()?;
        Some((delays.platform_threads?.max_ms, delays.virtual_threads.map(|it| it.max_ms)))
    }

    #[test]
    fn the_longest_delay_of_the_last_seconds_is_known_by_kind_of_thread_and_what_is_long_ago_is_forgotten() {
        let mut canary = CanaryDelays::default();
        assert_eq!(longest_ms(&canary), None);
        canary.read(line(1, false, 3, 0));
        assert_eq!(longest_ms(&canary), Some((3.0, None)));
        canary.read(line(2, true, 1_800, 0));
        canary.read(line(8, false, 4, 0));
        canary.read(line(8, true, 2, 0));
        assert_eq!(longest_ms(&canary), Some((4.0, Some(1_800.0))));
        canary.read(line(15, false, 1, 0));
        assert_eq!(longest_ms(&canary), Some((4.0, Some(2.0))));
    }

    #[test]
    fn who_waits_now_counts_with_the_time_it_has_waited_so_far() {
        let mut canary = CanaryDelays::default();
        canary.read(line(1, false, 1, 0));
        canary.read(line(1, true, 0, 700));
        assert_eq!(longest_ms(&canary), Some((1.0, Some(700.0))));
    }

    #[test]
    fn it_does_not_grow() {
        let mut canary = CanaryDelays::default();
        (0..5_000).for_each(|_| canary.read(line(1, true, 1, 0)));
        assert_eq!(canary.lines.len(), MOST_LINES);
    }
}
