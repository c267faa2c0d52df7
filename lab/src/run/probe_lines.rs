//! The probe's reports from a JVM that already ran, read beside a load until the load's last events have arrived.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread;
use std::time::{Duration, Instant};
use threadcount_load::clock::{Nanos, now_ns};
use threadcount_machine::probe::Attached;
use threadcount_machine::probe::line::Line;
use threadcount_machine::read_limit::ReadLimit;

/// How long a line of the probe is waited for.
const REACTION: Duration = Duration::from_millis(100);
/// The flight recorder's events arrive up to two seconds late, and later on a busy machine.
const EVENTS_LIMIT: Duration = Duration::from_secs(5);
/// Enough for a load of ten minutes at about 400 lines per second.
const MOST_LINES: usize = 250_000;
/// The most lines that are kept by a reader that needs only the last seconds.
pub const MOST_LATEST: usize = 50_000;
/// Lines up to this length are never left out.
const SHORT_LINE_BYTES: usize = 400;
/// Lines waiting to be read. If the reader is slower, the probe has to wait; it then drops lines and reports that.
const MOST_WAITING: usize = 64;

/// The value of `ended_ns` while the load goes on.
pub const NOT_OVER: Nanos = Nanos::MAX;

/// Receives lines as they are written, until the probe is detached or the JVM ends.
#[must_use]
pub fn follow(mut attached: Attached) -> Receiver<String> {
    sent(std::iter::from_fn(move || attached.next_line()))
}

/// Like [`follow`], for a reader that keeps only the [`MOST_LATEST`] lines. Long lines are left out while the latest lines are too long
/// together. The first time, a `problem` line says so.
#[must_use]
pub fn follow_latest(mut attached: Attached) -> Receiver<String> {
    sent(limited(std::iter::from_fn(move || attached.next_line())))
}

fn sent(mut from: impl Iterator<Item = String> + Send + 'static) -> Receiver<String> {
    let (sender, lines) = sync_channel(MOST_WAITING);
    thread::spawn(move || from.try_for_each(|line| sender.send(line)));
    lines
}

fn limited(from: impl Iterator<Item = String>) -> impl Iterator<Item = String> {
    let (mut latest, mut bytes, mut is_said) = (VecDeque::new(), 0, false);
    from.filter_map(move |line| {
        let error = ReadLimit::LATEST_PROBE_LINES.check(bytes + line.len()).err();
        if let Some(error) = error.filter(|_| line.len() > SHORT_LINE_BYTES) {
            let (what, why) = ("all lines of the probe", error.to_string());
            let problem = serde_json::json!({"type": "problem", "t_ns": now_ns(), "what": what, "why": why});
            return (!std::mem::replace(&mut is_said, true)).then(|| problem.to_string());
        }
        if latest.len() >= MOST_LATEST {
            bytes -= latest.pop_front().unwrap_or_default();
        }
        bytes += line.len();
        latest.push_back(line.len());
        Some(line)
    })
}

/// The parsed lines; unknown lines are skipped.
#[must_use]
pub fn parsed(lines: Receiver<String>) -> Receiver<Line> {
    let (sender, parsed) = sync_channel(MOST_WAITING);
    thread::spawn(move || {
        for line in lines {
            if let Ok(line) = serde_json::from_str(&line)
                && sender.send(line).is_err()
            {
                break;
            }
        }
    });
    parsed
}

/// The probe's lines during a load.
#[derive(Debug, Default)]
pub struct ProbeLines {
    lines: Vec<Line>,
    /// The length of all lines as text.
    bytes: usize,
    is_cut: bool,
    /// Every event that ended before this time has been read.
    events_until_ns: Nanos,
}

impl ProbeLines {
    /// Reads until the load is over and its last events have arrived. While the load goes on, `each` is called with every line, or with
    /// none after a pause.
    pub fn read(from: &Receiver<String>, ended_ns: &AtomicU64, each: &mut dyn FnMut(Option<&Line>)) -> Self {
        let mut read = Self::default();
        let mut give_up = None;
        loop {
            let ended_ns = ended_ns.load(Ordering::Relaxed);
            if ended_ns != NOT_OVER {
                let give_up = *give_up.get_or_insert_with(|| Instant::now() + EVENTS_LIMIT);
                if read.events_until_ns >= ended_ns || Instant::now() > give_up {
                    return read;
                }
            }
            let text = match from.recv_timeout(REACTION) {
                Ok(text) => text,
                Err(RecvTimeoutError::Timeout) => String::new(),
                Err(RecvTimeoutError::Disconnected) => return read,
            };
            // Unknown lines are skipped.
            let line = serde_json::from_str(&text).ok();
            if ended_ns == NOT_OVER {
                each(line.as_ref());
            }
            line.into_iter().for_each(|line| read.add(line, text.len()));
        }
    }

    fn add(&mut self, line: Line, bytes: usize) {
        if let Line::EventsUntil { events_until_ns, .. } = &line {
            self.events_until_ns = self.events_until_ns.max(*events_until_ns);
        }
        self.bytes = self.bytes.saturating_add(bytes);
        if self.lines.len() < MOST_LINES && ReadLimit::PROBE_LINES.check(self.bytes).is_ok() {
            self.lines.push(line);
        } else {
            self.is_cut = true;
        }
    }

    /// The lines of the whole load; none if lines were cut, because a part must not be divided by the whole time.
    #[must_use]
    pub fn whole(&self) -> &[Line] {
        if self.is_cut { &[] } else { &self.lines }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn events_until(t_ns: Nanos) -> String {
        format!("{{\"type\":\"events_until\",\"t_ns\":{t_ns},\"events_until_ns\":{t_ns}}}")
    }

    fn parsed(text: &str) -> Line {
        serde_json::from_str(text).unwrap()
    }

    fn read(lines: &Receiver<String>, ended_ns: Nanos) -> ProbeLines {
        ProbeLines::read(lines, &AtomicU64::new(ended_ns), &mut |_| {})
    }

    #[test]
    fn lines_of_a_part_of_the_load_are_not_taken_for_those_of_the_whole() {
        let mut lines = ProbeLines::default();
        lines.add(parsed(&events_until(5)), 100);
        assert_eq!((lines.whole().len(), lines.events_until_ns), (1, 5));
        lines.lines = vec![parsed(&events_until(5)); MOST_LINES];
        lines.add(parsed(&events_until(6)), 100);
        assert_eq!((lines.whole().len(), lines.events_until_ns), (0, 6));
    }

    #[test]
    fn few_lines_that_are_too_long_together_are_not_kept() {
        let mut lines = ProbeLines::default();
        lines.add(parsed(&events_until(5)), 1 << 20);
        lines.add(parsed(&events_until(6)), 1 << 30);
        assert_eq!((lines.lines.len(), lines.whole().len()), (1, 0));
    }

    #[test]
    fn a_jvm_that_sends_long_lines_without_end_fills_no_memory_and_it_is_said_once() {
        let long = (0..2_000).map(|number| format!("{number}{}", "x".repeat(60_000)));
        let short = (0..MOST_LATEST).map(|number| number.to_string());
        let kept: Vec<String> = limited(long.chain(short)).collect();
        let bytes: usize = kept.iter().map(String::len).sum();
        assert!((16 << 20..18 << 20).contains(&bytes), "{bytes}");
        assert!(kept.iter().filter(|line| line.len() <= 5).count() == MOST_LATEST, "short lines stay");
        let problems: Vec<&String> = kept.iter().filter(|line| line.contains("problem")).collect();
        assert!(problems.len() == 1 && problems[0].contains("longer than 16 MiB"), "{problems:?}");
    }

    #[test]
    fn the_last_events_are_waited_for_and_the_end_of_the_jvm_ends_it() {
        let (sender, lines) = sync_channel(MOST_WAITING);
        [4, 9].into_iter().for_each(|t_ns| sender.send(events_until(t_ns)).unwrap());
        assert_eq!(read(&lines, 7).events_until_ns, 9);
        drop(sender);
        assert_eq!(read(&lines, NOT_OVER).lines, []);
    }
}
