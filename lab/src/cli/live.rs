//! Shows the progress of a load on stderr: a bar in a terminal, a plain line every few seconds in a log.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{self, IsTerminal, Write};
use threadcount_load::outcome::{Second, SecondTimes};
use threadcount_load::plan::LoadPlan;
use threadcount_model::figures;
use threadcount_model::printable::printable;

/// The number of seconds that one line of a log covers.
const SECONDS_PER_LINE: u32 = 5;

/// The progress of one load.
#[derive(Debug)]
pub enum Live {
    /// A bar in a terminal.
    Bar { bar: ProgressBar, unit: Unit },
    /// Lines in a log.
    Lines(Window),
    /// Nothing, with `--quiet`.
    Quiet,
}

/// The unit of the bar.
#[derive(Clone, Copy, Debug)]
pub enum Unit {
    /// Seconds, if the plan has a duration.
    Seconds,
    /// Requests, if the plan has a number of them.
    Requests,
}

/// The counts since the last line.
#[derive(Clone, Debug, Default)]
pub struct Window {
    /// The beginning of the window, in seconds since the start of the load.
    from_s: f64,
    ok: u64,
    failed: u64,
    /// The number of seconds with a response.
    seconds: u32,
    /// The figures of the worst second.
    worst: Option<SecondTimes>,
}

impl Live {
    /// Follows a plan, with a bar if stderr is a terminal.
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
        // The bar is drawn once per second by `second`. A ticker thread would take time from the generator.
        let bar = ProgressBar::with_draw_target(Some(length), ProgressDrawTarget::stderr());
        if let Ok(style) = ProgressStyle::with_template("{bar:24} {percent:>3} %  {wide_msg}") {
            bar.set_style(style);
        }
        bar.set_message("starting");
        Self::Bar { bar, unit }
    }

    /// Shows one more second. How much of the last second has passed is not known yet.
    pub fn second(&mut self, second: &Second) {
        match self {
            // The bar goes away at once.
            Self::Bar { .. } if second.ends_load => {}
            Self::Bar { bar, unit } => {
                let mut window = Window::from(f64::from(second.index));
                window.add(second);
                bar.set_message(window.in_words(f64::from(second.index) + 1.0));
                match unit {
                    Unit::Seconds => bar.set_position(u64::from(second.index) + 1),
                    Unit::Requests => bar.inc(second.counts.ok + second.counts.failed),
                }
            }
            Self::Lines(window) => print(window.passed(second)),
            Self::Quiet => {}
        }
    }

    /// Removes the bar, so that the result stands alone. `elapsed_s` is how long the load took, if that is known.
    pub fn finish(&mut self, elapsed_s: Option<f64>) {
        match (self, elapsed_s) {
            (Self::Bar { bar, .. }, _) => bar.finish_and_clear(),
            (Self::Lines(window), Some(elapsed_s)) => print(window.ended(elapsed_s)),
            _ => {}
        }
    }
}

/// A closed stderr must not end a measurement.
fn print(line: Option<String>) {
    if let Some(line) = line {
        let _ = writeln!(io::stderr(), "{}", printable(&line));
    }
}

impl Window {
    fn from(from_s: f64) -> Self {
        Self { from_s, ..Self::default() }
    }

    /// Adds a second and returns the line that is due with it.
    fn passed(&mut self, second: &Second) -> Option<String> {
        self.add(second);
        let until_s = second.index + 1;
        let is_due = until_s.is_multiple_of(SECONDS_PER_LINE)
            || f64::from(until_s) - self.from_s >= f64::from(SECONDS_PER_LINE);
        (is_due && !second.ends_load).then(|| self.line(f64::from(until_s)))
    }

    /// The line for the rest at the end of the load. A rest of a moment has no meaningful rate.
    fn ended(&mut self, elapsed_s: f64) -> Option<String> {
        (elapsed_s - self.from_s >= 1.0).then(|| self.line(elapsed_s))
    }

    fn line(&mut self, until_s: f64) -> String {
        let window = std::mem::replace(self, Self::from(until_s));
        let decimals = usize::from(until_s.fract() >= 0.05);
        format!("{until_s:>5.decimals$} s  {}", window.in_words(until_s))
    }

    fn add(&mut self, second: &Second) {
        self.ok += second.counts.ok;
        self.failed += second.counts.failed;
        if let Some(times) = second.response_ms {
            self.seconds += 1;
            let worst = self.worst.get_or_insert(times);
            worst.p50 = worst.p50.max(times.p50);
            worst.p99 = worst.p99.max(times.p99);
            worst.max = worst.max.max(times.max);
        }
    }

    /// `4,998/s  worst second: p50 412 us  p99 1.20 ms  max 5.00 ms  3 failed`
    fn in_words(&self, until_s: f64) -> String {
        let mut words = figures::rate(self.ok as f64 / (until_s - self.from_s));
        match self.worst {
            Some(SecondTimes { p50, p99, max, .. }) => {
                let [p50, p99, max] = [p50, p99, max].map(figures::milliseconds);
                let of = if self.seconds > 1 { "worst second: " } else { "" };
                words += &format!("  {of}p50 {p50}  p99 {p99}  max {max}");
            }
            None => words += "  no expected response",
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
    use proptest::collection::vec;
    use proptest::prelude::*;
    use threadcount_load::outcome::SecondCounts;

    fn second(index: u32, ok: u64, failed: u64, p99: f64) -> Second {
        let mut times = SecondTimes::default();
        (times.p50, times.p99, times.max) = (p99 / 2.0, p99, p99 * 2.0);
        let mut second = Second::default();
        (second.index, second.length_s) = (index, 1.0);
        second.counts = SecondCounts { sent: ok + failed, ok, failed };
        second.response_ms = (ok > 0).then_some(times);
        second
    }

    fn last(second: Second) -> Second {
        let mut second = second;
        second.ends_load = true;
        second
    }

    fn lines(seconds: &[Second], elapsed_s: f64) -> Vec<String> {
        let mut window = Window::default();
        let mut lines: Vec<String> = seconds.iter().filter_map(|second| window.passed(second)).collect();
        lines.extend(window.ended(elapsed_s));
        lines
    }

    #[test]
    fn a_line_gives_the_rate_over_its_seconds_and_the_times_of_the_worst() {
        assert_eq!(
            lines(&[second(0, 1_000, 0, 2.0), second(1, 3_000, 7, 4.0)], 2.0),
            ["    2 s  2,000/s  worst second: p50 2.00 ms  p99 4.00 ms  max 8.00 ms  7 failed"]
        );
    }

    #[test]
    fn a_second_without_an_expected_response_says_so() {
        assert_eq!(lines(&[second(0, 0, 2, 0.0)], 1.0), ["    1 s  0/s  no expected response  2 failed"]);
    }

    #[test]
    fn a_part_of_a_second_at_the_end_is_no_second_and_seconds_in_which_nothing_came_are() {
        let four: Vec<Second> = (0..4).map(|index| second(index, 378, 0, 2.0)).collect();
        let late = last(second(4, 1, 0, 2.0));
        let printed = lines(&[four.clone(), vec![late.clone()]].concat(), 4.01);
        assert!(printed.len() == 1 && printed[0].starts_with("    4 s  377/s  worst"), "{printed:?}");
        // A line is due after five seconds. The rest of the load is shorter than a second.
        let printed = lines(&[four, vec![second(4, 378, 0, 2.0), last(second(5, 1, 0, 2.0))]].concat(), 5.01);
        assert!(printed.len() == 1 && printed[0].starts_with("    5 s  378/s  worst"), "{printed:?}");
        let stalled = lines(&[second(0, 100, 0, 2.0), second(9, 100, 0, 2.0)], 10.0);
        assert!(stalled.len() == 1 && stalled[0].starts_with("   10 s  20.0/s  worst"), "{stalled:?}");
    }

    /// The figure before a unit, with any digits.
    fn figure(line: &str, unit: &str) -> Option<f64> {
        let number = line[..line.find(unit)?].rsplit(' ').next()?;
        number.replace(',', "").parse().ok()
    }

    fn seconds() -> impl Strategy<Value = (Vec<Second>, f64)> {
        let counts = (0_u64..2_000, 0_u64..20, any::<bool>());
        (vec(counts, 1..40), 0.001_f64..1.0).prop_map(|(counts, part_s)| {
            let count = counts.len() as u32;
            let seconds = (0..).zip(counts).map(|(index, (ok, failed, is_silent))| {
                let ok = if is_silent { 0 } else { ok };
                let one = second(index, ok, failed, 2.0);
                if index + 1 == count { last(one) } else { one }
            });
            // A second in which nothing happened sends nothing.
            let seconds = seconds.filter(|it| it.counts.ok + it.counts.failed > 0 || it.ends_load).collect();
            (seconds, f64::from(count - 1) + part_s)
        })
    }

    proptest! {
        #[test]
        fn no_line_contradicts_what_was_counted((seconds, elapsed_s) in seconds()) {
            let (mut window, mut from_s, mut shown_failed) = (Window::default(), 0.0, 0);
            let mut check = |line: String, until_s: f64| {
                let is_in = |second: &&Second| {
                    let began_s = f64::from(second.index);
                    from_s <= began_s && began_s < until_s
                };
                let ok: u64 = seconds.iter().filter(is_in).map(|it| it.counts.ok).sum();
                let failed: u64 = seconds.iter().filter(is_in).map(|it| it.counts.failed).sum();
                let rate = ok as f64 / (until_s - from_s);
                let shown = figure(&line, "/s").unwrap();
                prop_assert!((shown - rate).abs() <= rate * 0.006 + 0.5, "{line}: {rate}/s");
                prop_assert!((figure(&line, " s  ").unwrap() - until_s).abs() <= 0.05, "{line}: {until_s} s");
                prop_assert_eq!(line.contains("no expected response"), ok == 0, "{}", line);
                prop_assert_eq!(figure(&line, " failed").unwrap_or_default(), failed as f64, "{}", line);
                (from_s, shown_failed) = (until_s, shown_failed + failed);
                Ok(())
            };
            for second in &seconds {
                if let Some(line) = window.passed(second) {
                    check(line, f64::from(second.index) + 1.0)?;
                }
            }
            if let Some(line) = window.ended(elapsed_s) {
                check(line, elapsed_s)?;
            }
            prop_assert!(elapsed_s - from_s < 1.0, "{from_s} of {elapsed_s} s");
            prop_assert!(shown_failed <= seconds.iter().map(|it| it.counts.failed).sum());
        }
    }
}
