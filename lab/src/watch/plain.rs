//! The screen as lines, where stdout is no terminal: one a second, and one for each change of the limits.

use super::limits::CurrentLimits;
use super::printed_limits::PrintedLimits;
use super::screen::Screen;
use crate::report::figures::{bytes, count};
use crate::report::live::{self, LimitWords};
use std::time::Instant;

/// Groups of the wait profile in a line.
const MOST_GROUPS: usize = 3;

/// What has been printed.
#[derive(Debug, Default)]
pub struct PlainLines {
    has_head: bool,
    second: Option<u64>,
    said: PrintedLimits,
    dropped_lines: u64,
}

impl PlainLines {
    /// What is new since the last time.
    pub fn next(&mut self, screen: &Screen) -> Vec<String> {
        if screen.sample.is_none() {
            return Vec::new();
        }
        let mut lines = Vec::new();
        let time = format!("{}:{:02}", screen.seconds() / 60, screen.seconds() % 60);
        if !self.has_head {
            self.has_head = true;
            let Screen { pid, java, processors, level, .. } = screen;
            lines.push(format!("process {pid} · Java {java} · {processors} cores · level {level}"));
        }
        if screen.dropped_lines > self.dropped_lines {
            lines.push(format!("{time}  {}", live::dropped(screen.dropped_lines - self.dropped_lines)));
            self.dropped_lines = screen.dropped_lines;
        }
        if let CurrentLimits::Judged { window_s, findings } = &screen.limits
            && self.said.is_news(&screen.limits, Instant::now())
        {
            lines.extend(live::limits(*window_s, findings).iter().map(|limit| limit_line(&time, limit)));
        }
        if self.second != Some(screen.seconds()) {
            self.second = Some(screen.seconds());
            lines.push(format!("{time}  {}", figures(screen)));
        }
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
        work.push_str(&format!("; {:.1} {} ({})", group.threads, group.what, group.place));
    }
    parts.push(work);
    parts.join(" | ")
}
