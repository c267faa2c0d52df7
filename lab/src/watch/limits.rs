//! The current limits of a running JVM, found with the same rules as in a run, applied to the last seconds.

use super::window::LiveWindow;
use std::time::{Duration, Instant};
use threadcount_judge::explain::explain_window;
use threadcount_judge::finding::{Finding, Rule};
use threadcount_machine::probe::line::Line;
use threadcount_report::live::{self, LimitWords};

/// The time between two judgements. Each reads /proc and adds up ten seconds of lines, which takes some milliseconds.
const INTERVAL: Duration = Duration::from_millis(500);

/// The latest judgement on the JVM's limits.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum CurrentLimits {
    /// Too few seconds have been watched.
    #[default]
    TooEarly,
    /// The limits in the last seconds. Without findings, there is no limit that shows without a load.
    Judged {
        window_s: f64,
        findings: Vec<Finding>,
        /// Requests that have waited five seconds or longer for a response.
        old_requests: u32,
    },
}

impl CurrentLimits {
    /// The latest findings.
    #[must_use]
    pub fn findings(&self) -> &[Finding] {
        match self {
            Self::TooEarly => &[],
            Self::Judged { findings, .. } => findings,
        }
    }

    #[must_use]
    pub fn words(&self) -> Vec<LimitWords> {
        match self {
            Self::TooEarly => vec![live::too_early()],
            Self::Judged { window_s, findings, old_requests } => {
                live::limits(*window_s, findings, *old_requests)
            }
        }
    }

    /// This judgement with other findings.
    #[must_use]
    pub fn with_findings(self, findings: Vec<Finding>) -> Self {
        match self {
            Self::TooEarly => Self::TooEarly,
            Self::Judged { window_s, old_requests, .. } => Self::Judged { window_s, findings, old_requests },
        }
    }

    /// Whether requests have waited long for a response.
    #[must_use]
    pub const fn has_old_requests(&self) -> bool {
        matches!(self, Self::Judged { old_requests, .. } if *old_requests > 0)
    }

    /// The rules that found something of this kind; `None` if it is too early.
    #[must_use]
    pub fn rules_where(&self, is_wanted: impl Fn(&Finding) -> bool) -> Option<Vec<Rule>> {
        match self {
            Self::TooEarly => None,
            Self::Judged { findings, .. } => {
                let wanted = findings.iter().filter(|finding| is_wanted(finding));
                Some(wanted.map(Finding::rule).collect())
            }
        }
    }
}

/// Judges a JVM twice a second.
pub struct Judge {
    window: LiveWindow,
    again: Instant,
}

impl Judge {
    #[must_use]
    pub fn of_process(pid: u32) -> Self {
        Self { window: LiveWindow::of_process(pid), again: Instant::now() }
    }

    /// Adds a line of the probe.
    pub fn add(&mut self, line: &Line) {
        self.window.add(line);
    }

    /// A new judgement; `None` if the next one is not due yet.
    pub fn judge(&mut self) -> Option<CurrentLimits> {
        if Instant::now() < self.again {
            return None;
        }
        self.again = Instant::now() + INTERVAL;
        self.window.read_process();
        let record = self.window.record();
        Some(record.map_or(CurrentLimits::TooEarly, |(record, window_s)| CurrentLimits::Judged {
            window_s,
            findings: explain_window(&record),
            old_requests: record.server_sockets.map_or(0, |it| it.old_requests),
        }))
    }
}
