//! The progress of a load, on stderr: a bar in a terminal, a plain line every few seconds in a log.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{self, IsTerminal, Write};
use threadcount_load::outcome::{Second, SecondTimes};
use threadcount_load::plan::LoadPlan;
use threadcount_model::figures;

/// A line in a log covers this many seconds.
const SECONDS_PER_LINE: u32 = 5;

/// The progress of one load.
#[derive(Debug)]
pub enum Live {
    /// A terminal.
    Bar { bar: ProgressBar, unit: Unit },
    /// A log.
    Lines(Window),
    /// `--quiet`.
    Quiet,
}

/// The unit of the bar.
#[derive(Clone, Copy, Debug)]
pub enum Unit {
    /// Seconds, by the plan's duration.
    Seconds,
    /// Requests, by the plan's number.
    Requests,
}

/// The seconds since the last line.
#[derive(Clone, Debug, Default)]
pub struct Window {
    seconds: u32,
    ok: u64,
    failed: u64,
    /// The worst second's figures.
    worst: Option<SecondTimes>,
}

impl Live {
    /// Follows a plan in the way that fits where stderr goes.
    #[must_use]
    pub fn new(plan: &LoadPlan, quiet: bool) -> Self {
        if quiet {
            return Self::Quiet;
        }
        if !io::stderr().is_terminal() {
            return Self::Lines(Window::default());
        }
        let (length, unit) = match plan.stop.duration() {
            Some(time) => (time.as_secs_f64().ceil() as u64, Unit::Seconds),
            None => (plan.stop.requests().unwrap_or(0), Unit::Requests),
        };
        // Drawn once a second, from on_second: a ticker of its own would take time from the generator.
        let bar = ProgressBar::with_draw_target(Some(length), ProgressDrawTarget::stderr());
        if let Ok(style) = ProgressStyle::with_template("{bar:24} {percent:>3} %  {wide_msg}") {
            bar.set_style(style);
        }
        bar.set_message("starting");
        Self::Bar { bar, unit }
    }

    /// Shows one more second.
    pub fn second(&mut self, second: &Second) {
        match self {
            Self::Bar { bar, unit } => {
                bar.set_message(Window::from_second(second).in_words());
                match unit {
                    Unit::Seconds => bar.set_position(u64::from(second.index) + 1),
                    Unit::Requests => bar.inc(second.ok + second.failed),
                }
            }
            Self::Lines(window) => {
                window.add(second);
                let passed = second.index + 1;
                if passed.is_multiple_of(SECONDS_PER_LINE) || window.seconds >= SECONDS_PER_LINE {
                    // A closed stderr must not end a measurement.
                    let _ = writeln!(io::stderr(), "{passed:>5} s  {}", std::mem::take(window).in_words());
                }
            }
            Self::Quiet => {}
        }
    }

    /// Takes the bar away, so that the result stands alone.
    pub fn finish(&self) {
        if let Self::Bar { bar, .. } = self {
            bar.finish_and_clear();
        }
    }
}

impl Window {
    fn from_second(second: &Second) -> Self {
        let mut window = Self::default();
        window.add(second);
        window
    }

    fn add(&mut self, second: &Second) {
        self.seconds += 1;
        self.ok += second.ok;
        self.failed += second.failed;
        if let Some(times) = second.response_ms {
            let worst = self.worst.get_or_insert(times);
            worst.p50 = worst.p50.max(times.p50);
            worst.p99 = worst.p99.max(times.p99);
            worst.max = worst.max.max(times.max);
        }
    }

    /// `4,998/s  worst second: p50 412 us  p99 1.20 ms  max 5.00 ms  3 failed`
    fn in_words(&self) -> String {
        let mut words = figures::rate(self.ok as f64 / f64::from(self.seconds.max(1)));
        match self.worst {
            Some(SecondTimes { p50, p99, max, .. }) => {
                let [p50, p99, max] = [p50, p99, max].map(figures::milliseconds);
                let of = if self.seconds > 1 { "worst second: " } else { "" };
                words += &format!("  {of}p50 {p50}  p99 {p99}  max {max}");
            }
            None => words += "  no answer",
        }
        if self.failed > 0 {
            words += &format!("  {} failed", figures::count(self.failed));
        }
        words
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn second(index: u32, ok: u64, failed: u64, p99: f64) -> Second {
        let mut times = SecondTimes::default();
        (times.p50, times.p99, times.max) = (p99 / 2.0, p99, p99 * 2.0);
        let mut second = Second::default();
        (second.index, second.length_s) = (index, 1.0);
        (second.sent, second.ok, second.failed) = (ok + failed, ok, failed);
        second.response_ms = (ok > 0).then_some(times);
        second
    }

    #[test]
    fn a_line_gives_the_rate_over_its_seconds_and_the_times_of_the_worst() {
        let mut window = Window::default();
        window.add(&second(0, 1_000, 0, 2.0));
        window.add(&second(1, 3_000, 7, 4.0));
        assert_eq!(
            window.in_words(),
            "2,000/s  worst second: p50 2.00 ms  p99 4.00 ms  max 8.00 ms  7 failed"
        );
    }

    #[test]
    fn a_second_without_an_answer_says_so() {
        assert_eq!(Window::from_second(&second(0, 0, 2, 0.0)).in_words(), "0/s  no answer  2 failed");
    }
}
