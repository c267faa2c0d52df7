//! What is known about one of several processes.

use super::account::{ShareBegin, ShareEnd, ShareSecond, Throttling};
use crate::clock::{NANOS_PER_S, Nanos};
use crate::counts::{Counts, SecondCounts};
use crate::health::{self, Bottleneck, Health};
use crate::plan::{LoadPlan, LoadShare};
use crate::pods::{PodGeneratorReport, PodReport};
use crate::setting::Setting;
use crate::times::TimesSummary;

/// One process.
#[derive(Debug)]
pub(super) struct Pod {
    pub share: LoadShare,
    pub begin: Option<ShareBegin>,
    pub error: Option<String>,
    pub clock_ahead_ns: Option<i64>,
    next_line: u32,
    /// The number of lines that never arrived.
    pub lost_lines: u32,
    seconds: Seconds,
    ended: Option<Ended>,
}

/// The sums of the seconds that have arrived.
#[derive(Clone, Copy, Debug, Default)]
struct Seconds {
    count: u32,
    /// The number after the last second that has arrived.
    next: u32,
    requests: Counts,
}

/// The part of an account that is kept.
#[derive(Debug)]
struct Ended {
    times: PodTimes,
    requests: Counts,
    response_time_ms: Option<TimesSummary>,
    own_lag_p99_ms: Option<f64>,
    health: Health,
    throttling: Option<Throttling>,
    cores_busy: Vec<f64>,
    interrupted: bool,
}

/// The times of a process: its start on the clock of its machine, the others relative to its start.
#[derive(Clone, Copy, Debug)]
pub(super) struct PodTimes {
    pub started_unix_ns: u64,
    pub elapsed_ns: Nanos,
    pub last_sent_ns: Nanos,
}

impl Pod {
    pub fn new(share: LoadShare) -> Self {
        Self {
            share,
            begin: None,
            error: None,
            clock_ahead_ns: None,
            next_line: 0,
            lost_lines: 0,
            seconds: Seconds::default(),
            ended: None,
        }
    }

    /// Counts a line; returns `false` if it was there before.
    pub const fn is_new(&mut self, number: u32) -> bool {
        if number < self.next_line {
            return false;
        }
        self.lost_lines = self.lost_lines.saturating_add(number - self.next_line);
        self.next_line = number.saturating_add(1);
        true
    }

    pub fn second(&mut self, second: &ShareSecond) {
        let &ShareSecond { index, counts: SecondCounts { sent, ok, failed }, .. } = second;
        self.seconds.count += 1;
        self.seconds.next = index.saturating_add(1);
        self.seconds.requests.add(Counts { sent, ok, failed, ..Counts::default() });
    }

    /// The first second about which lines may still come.
    pub fn seconds_over(&self) -> u32 {
        if self.has_ended() || self.error.is_some() { u32::MAX } else { self.seconds.next }
    }

    /// Takes the final account of the process, given the plan of the whole load.
    pub fn end(&mut self, end: &ShareEnd, mut plan: LoadPlan) {
        plan.share = self.share;
        let outcome = &end.outcome;
        self.ended = Some(Ended {
            times: PodTimes {
                started_unix_ns: outcome.started_unix_ns,
                elapsed_ns: outcome.ended_ns,
                last_sent_ns: outcome.last_sent_ns,
            },
            requests: outcome.counts,
            response_time_ms: outcome.response_time.summary(),
            own_lag_p99_ms: health::own_lag_p99_ms(outcome),
            health: health::judge(outcome, &plan.own_part()),
            throttling: end.throttling,
            cores_busy: outcome.cores_busy.clone(),
            interrupted: outcome.interrupted,
        });
    }

    pub const fn has_ended(&self) -> bool {
        self.ended.is_some()
    }

    /// Whether the process ended before it should.
    pub fn is_interrupted(&self) -> bool {
        self.ended.as_ref().is_some_and(|ended| ended.interrupted)
    }

    pub fn times(&self) -> Option<PodTimes> {
        self.ended.as_ref().map(|ended| ended.times)
    }

    /// When the process began, on the reader's clock as far as the difference is known.
    pub fn started_unix_ns(&self) -> Option<u64> {
        let ahead_ns = self.clock_ahead_ns.unwrap_or_default();
        self.times().map(|times| times.started_unix_ns.saturating_add_signed(-ahead_ns))
    }

    /// The name of the process, or else its share.
    pub fn name(&self) -> String {
        self.begin.as_ref().map_or_else(|| format!("share {}", self.share), |begin| begin.pod.clone())
    }

    /// The reason why the process was the bottleneck, if it was.
    pub fn bottleneck(&self) -> Option<&Bottleneck> {
        self.ended.as_ref()?.health.bottleneck.as_ref()
    }

    /// The share of a core that its busiest thread used, by which the most suspicious process is found.
    pub fn cpu_share(&self) -> f64 {
        self.ended.as_ref().map_or(0.0, |ended| ended.health.cpu_share)
    }

    /// How long a CPU limit held the process back, and in which share of the limit's periods.
    pub fn throttled(&self) -> Option<(Nanos, f64)> {
        let throttling = self.ended.as_ref()?.throttling.filter(|it| it.throttled_periods > 0)?;
        let share = throttling.throttled_periods as f64 / throttling.periods.max(1) as f64;
        Some((throttling.throttled_ns, share))
    }

    pub fn report(self, plan: &LoadPlan, first_unix_ns: u64) -> PodReport {
        let started_unix_ns = self.started_unix_ns();
        let ms = |ns: u64| ns as f64 / 1e6;
        let elapsed_s = match &self.ended {
            Some(ended) => ended.times.elapsed_ns as f64 / NANOS_PER_S as f64,
            None => f64::from(self.seconds.count),
        };
        let begin = self.begin.unwrap_or_default();
        PodReport {
            share: self.share.index(),
            pod: begin.pod,
            node: begin.node,
            complete: self.ended.is_some(),
            error: self.error,
            lost_lines: self.lost_lines,
            connections: self.share.connections(plan.all_connections()),
            started_ms: started_unix_ns.map(|started| ms(started.saturating_sub(first_unix_ns))),
            clock_ahead_ms: self.clock_ahead_ns.map(|ns| ns as f64 / 1e6),
            elapsed_s,
            requests: self.ended.as_ref().map_or(self.seconds.requests, |ended| ended.requests),
            response_time_ms: self.ended.as_ref().and_then(|ended| ended.response_time_ms),
            interrupted: self.ended.as_ref().is_some_and(|ended| ended.interrupted),
            generator: self.ended.map(|ended| PodGeneratorReport {
                cpu_share: ended.health.cpu_share,
                cpu_cores: ended.health.cpu_cores,
                own_lag_p99_ms: ended.own_lag_p99_ms,
                throttled_ms: ended.throttling.map(|it| ms(it.throttled_ns)),
                cores_busy: ended.cores_busy,
                bottleneck: ended.health.bottleneck.is_some(),
                why: ended.health.bottleneck.map(|it| it.sentence(Setting::field)),
            }),
        }
    }
}
