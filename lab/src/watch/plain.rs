//! The screen as plain lines, for a stdout that is not a terminal: the figures every ten seconds, and a line for each change of the limits.

use super::limits::CurrentLimits;
use super::printed_limits::PrintedLimits;
use super::screen::Screen;
use std::time::Instant;
use threadcount_model::figures::{bytes, count};
use threadcount_report::live;
use threadcount_report::live::LimitWords;

/// The largest number of wait-profile groups in a line.
const MOST_GROUPS: usize = 3;

/// The seconds between two lines of figures.
const FIGURES_EVERY_S: u64 = 10;

/// Keeps track of what has been printed.
#[derive(Debug, Default)]
pub struct PlainLines {
    has_head: bool,
    second: Option<u64>,
    printed_limits: PrintedLimits,
    dropped_lines: u64,
    /// The number of problems printed so far.
    problems: usize,
}

impl PlainLines {
    /// The lines that are new since the last call.
    pub fn next(&mut self, screen: &Screen) -> Vec<String> {
        let time = format!("{}:{:02}", screen.seconds() / 60, screen.seconds() % 60);
        if screen.sample.is_none() {
            // The JVM may have ended before its first reading.
            return if screen.ended { self.problems(screen, &time) } else { Vec::new() };
        }
        let mut lines = Vec::new();
        if !self.has_head {
            self.has_head = true;
            let Screen { pid, java, processors, .. } = screen;
            lines.push(format!("process {pid} · Java {java} · {processors} cores"));
        }
        if screen.dropped_lines > self.dropped_lines {
            lines.push(format!("{time}  {}", live::dropped(screen.dropped_lines - self.dropped_lines)));
            self.dropped_lines = screen.dropped_lines;
        }
        lines.extend(self.problems(screen, &time));
        if screen.limits != CurrentLimits::TooEarly
            && self.printed_limits.is_news(&screen.limits, Instant::now())
        {
            lines.extend(screen.limits.words().iter().map(|limit| limit_line(&time, limit)));
        }
        let is_due = self.second.is_none_or(|second| screen.seconds() >= second + FIGURES_EVERY_S);
        // CPU is known from the second reading on.
        if is_due && screen.cpu.last().is_some() {
            self.second = Some(screen.seconds());
            lines.push(format!("{time}  {}", figures(screen)));
        }
        lines
    }

    fn problems(&mut self, screen: &Screen, time: &str) -> Vec<String> {
        let new = screen.problems.all().iter().skip(self.problems);
        let lines = new.map(|it| format!("{time}  {}", live::problem(&it.what, &it.why))).collect();
        self.problems = screen.problems.all().len();
        lines
    }
}

fn limit_line(time: &str, limit: &LimitWords) -> String {
    let advice = limit.advice.as_ref().map(|it| format!(". {it}")).unwrap_or_default();
    format!("{time}  limit: {}{advice}", limit.sentence)
}

fn figures(screen: &Screen) -> String {
    let mut parts = vec![screen.thread_model()];
    if let Some(cpu) = screen.cpu.last() {
        parts.push(format!("CPU {cpu:.2} of {} cores", screen.processors));
    }
    if let Some(sample) = &screen.sample {
        let (used, committed) = (bytes(sample.heap_used_bytes), bytes(sample.heap_committed_bytes));
        parts.push(format!("heap {used} of {committed}"));
    }
    if let Some(carriers) = screen.carriers.as_ref().filter(|it| it.queued > 0) {
        parts.push(format!("{} virtual threads queued", count(carriers.queued)));
    }
    parts.extend(screen.canary.now().map(|delays| live::delays(&delays)));
    let (head, doing) = screen.work.now();
    let mut work = head;
    for group in doing.iter().take(MOST_GROUPS) {
        let place = Some(&group.place).filter(|place| !place.is_empty());
        let place = place.map_or_else(String::new, |place| format!(" ({place})"));
        work.push_str(&format!("; {:.1} {}{place}", group.threads, group.what));
    }
    parts.push(work);
    parts.join(" | ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use threadcount_machine::probe::line::parse;

    #[test]
    fn what_cannot_be_read_is_said_once() {
        let line = |t_ns: u64| {
            format!(
                "{{\"type\":\"sample\",\"t_ns\":{t_ns},\"heap_used_bytes\":5,\"heap_committed_bytes\":6,\"allocated_bytes\":7,\
                 \"process_cpu_ns\":8,\"rss_bytes\":9,\"os_threads\":4,\"platform_threads\":3}}\n\
                 {{\"type\":\"problem\",\"t_ns\":{t_ns},\"what\":\"shop:type=Pool\",\"why\":\"closed\"}}\n"
            )
        };
        let (mut screen, mut plain, mut printed) = (Screen::new(7), PlainLines::default(), Vec::new());
        for second in 1..=3 {
            parse(&line(second * 1_000_000_000)).0.into_iter().for_each(|line| screen.read(line));
            printed.extend(plain.next(&screen));
        }
        let problems: Vec<&String> = printed.iter().filter(|line| line.contains("cannot read")).collect();
        assert_eq!(problems, ["0:00  cannot read shop:type=Pool: closed"], "{printed:#?}");
    }

    #[test]
    fn why_the_probe_left_is_said_though_it_read_nothing() {
        let (mut screen, mut plain) = (Screen::new(7), PlainLines::default());
        let line = r#"{"type":"problem","t_ns":5,"what":"visit","why":"java.lang.OutOfMemoryError"}"#;
        parse(line).0.into_iter().for_each(|line| screen.read(line));
        assert!(plain.next(&screen).is_empty(), "its readings may still come");
        screen.ended = true;
        assert_eq!(plain.next(&screen), ["0:00  the probe has left the JVM: java.lang.OutOfMemoryError"]);
    }
}
