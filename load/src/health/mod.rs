//! Judges from its CPU use and lateness whether the generator was the bottleneck, and finds what else a reader must know before believing
//! the figures.

mod bottleneck;
pub mod cores;
#[cfg(test)]
mod sentences;
mod warning;

use crate::failure::FailureCause;
use crate::outcome::{ConnectionsAtStart, LoadOutcome};
use crate::plan::{Arrivals, LoadPlan, Pacing, RateShape, Stop};
pub use bottleneck::Bottleneck;
pub use warning::Warning;

/// A thread that uses more of its core than this has no room left, so it measures itself.
pub const FULL_CORE: f64 = 0.90;
/// Over a shorter time the share of a core is not known: the kernel counts in ticks of 10 ms, and starting a thread is work too.
const LEAST_BUSY_S: f64 = 0.1;
/// A shorter lateness comes from the timer and the scheduler and does not change printed figures.
const LATE_MS: f64 = 1.0;
/// Lateness matters only if it is at least this share of the usual service time.
const LATE_SHARE_OF_SERVICE: f64 = 0.05;
/// A stop for more than this share of a load shows in its rate and in its percentiles.
const STOPPED_SHARE: f64 = 0.01;
/// A rate below this share of the requested one counts as missed.
pub const RATE_REACHED: f64 = 0.99;

impl LoadOutcome {
    /// Whether the load was long enough to tell shares of cores and the CPU per request.
    #[must_use]
    pub fn is_measurable(&self) -> bool {
        self.elapsed_s() >= LEAST_BUSY_S
    }

    /// Whether requests were begun although no connection was ever made.
    #[must_use]
    pub fn is_without_connection(&self) -> bool {
        self.counts.sent > 0 && self.counts.ok == 0 && self.connections_opened == 0 && self.status.is_empty()
    }
}

/// The generator's own health, and the warnings in the order of their importance.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Health {
    /// The reason why the figures describe the generator rather than the server.
    pub bottleneck: Option<Bottleneck>,
    /// CPU time of all generator threads per request that ended, in microseconds; zero if none ended.
    pub cpu_us_per_request: f64,
    /// The busiest thread's share of one core, 0..=1.
    pub cpu_share: f64,
    /// CPU of all generator threads, in cores.
    pub cpu_cores: f64,
    /// The warnings, the most important first.
    pub warnings: Vec<Warning>,
}

/// Judges a load. The same outcome always gives the same result.
#[must_use]
pub fn judge(outcome: &LoadOutcome, plan: &LoadPlan) -> Health {
    let elapsed_ns = outcome.ended_ns.saturating_sub(outcome.started_ns) as f64;
    let per_elapsed = |ns: u64| if elapsed_ns > 0.0 { ns as f64 / elapsed_ns } else { 0.0 };
    let ended = outcome.counts.ok.saturating_add(outcome.counts.failed);
    let cpu_us = outcome.cost.cpu_ns as f64 / 1e3;
    // The CPU is read a little before the load begins and after it ends, so the share may exceed 1.
    let cpu_share = per_elapsed(outcome.cost.busiest_thread_cpu_ns).min(1.0);
    let missed = rate_missed(outcome, plan);
    let stopped = generator_stopped(outcome);
    // Under an open load, lateness shows a stop better, so it comes first.
    let long_stop = stopped.filter(|_| per_elapsed(outcome.stopped_ns) > STOPPED_SHARE);
    let own = [generator_busy(outcome, cpu_share), generator_late(outcome, plan), long_stop];
    let warnings: Vec<Warning> = own
        .into_iter()
        .chain([
            stopped.filter(|_| long_stop.is_none()),
            missed,
            rate_exceeded(outcome, plan),
            not_sent(outcome),
        ])
        .chain([
            failures(outcome),
            closed_at_once(outcome, plan),
            unsolicited(outcome),
            no_port_left(outcome),
            unfinished(outcome),
            endless_bodies(outcome),
        ])
        .chain([begun_partly(outcome, plan), only_redirects(outcome, plan), fewer_threads(outcome, plan)])
        .chain([outcome.log_failure.map(|kind| Warning::LogIncomplete { kind })])
        .chain([matches!(plan.pacing, Pacing::Closed).then_some(Warning::ClosedLoop)])
        .flatten()
        .collect();
    let bottleneck = own.into_iter().flatten().next().map(Bottleneck::Generator);
    Health {
        bottleneck: bottleneck.or_else(|| outcome.pods.iter().find_map(bottleneck::limited)),
        cpu_us_per_request: if ended == 0 { 0.0 } else { cpu_us / ended as f64 },
        cpu_share,
        cpu_cores: per_elapsed(outcome.cost.cpu_ns).min(f64::from(outcome.cost.threads)),
        warnings,
    }
}

/// Warns of a busy generator thread. A load that ends at once is left out, because there a thread's start and end take more CPU than its
/// requests.
fn generator_busy(outcome: &LoadOutcome, share: f64) -> Option<Warning> {
    (outcome.is_measurable() && share > FULL_CORE)
        .then_some(Warning::GeneratorBusy { share, threads: outcome.cost.threads })
}

fn generator_stopped(outcome: &LoadOutcome) -> Option<Warning> {
    let share = outcome.stopped_ns as f64 / 1e9 / outcome.elapsed_s();
    (outcome.stopped_ns > 0 && share.is_finite())
        .then_some(Warning::GeneratorStopped { ms: outcome.stopped_ns as f64 / 1e6, share })
}

/// Warns if the generator's own lateness is a noticeable part of what is measured.
fn generator_late(outcome: &LoadOutcome, plan: &LoadPlan) -> Option<Warning> {
    if plan.pacing == Pacing::Closed {
        return None;
    }
    let p99_ms = own_lag_p99_ms(outcome)?;
    let service_ms = outcome.service_time.at_quantile(0.5).as_secs_f64() * 1e3;
    let asked_ms = plan.lateness.as_secs_f64() * 1e3;
    let allowed_ms = asked_ms + LATE_MS.max(LATE_SHARE_OF_SERVICE * service_ms);
    (p99_ms > allowed_ms).then_some(Warning::GeneratorLate { p99_ms })
}

/// How late the generator itself was at the 99th percentile, in milliseconds, without the waits for a connection when all were busy. `None`
/// if nothing was sent.
#[must_use]
pub fn own_lag_p99_ms(outcome: &LoadOutcome) -> Option<f64> {
    (outcome.own_lag.count() > 0).then(|| outcome.own_lag.at_quantile(0.99).as_secs_f64() * 1e3)
}

/// The rate of the schedule during counting; `None` for a closed loop, or if nothing was counted.
fn asked_per_s(outcome: &LoadOutcome, plan: &LoadPlan) -> Option<f64> {
    let Pacing::Open { shape, arrivals } = &plan.pacing else { return None };
    (outcome.elapsed_s() > 0.0).then(|| match (shape, arrivals) {
        (RateShape::Constant { rate_per_s }, Arrivals::Constant) => *rate_per_s,
        // With random arrivals, the number of due requests comes from the schedule, so a small number is not missed by the generator.
        _ => outcome.counts.due() as f64 / sent_for_s(outcome, plan),
    })
}

/// Whether the requested rate was reached, by requests sent and by responses completed. Requests of the lead-in do not count, because they
/// cannot make up for missing ones.
fn rate_missed(outcome: &LoadOutcome, plan: &LoadPlan) -> Option<Warning> {
    let counts = outcome.counts;
    let asked_per_s = asked_per_s(outcome, plan)?;
    let sending_s = sending_s(outcome, plan, asked_per_s);
    let reached = |requests: u64, over_s: f64| {
        let asked = asked_per_s * over_s;
        requests as f64 >= RATE_REACHED * asked || asked - requests as f64 <= 1.0
    };
    // Requests that have been in flight for less than p90 are not missing.
    let usual_ns = outcome.response_time.histogram().value_at_quantile(0.9);
    let on_their_way = outcome.unfinished_age.histogram().count_between(0, usual_ns);
    // As many requests may wait at the end as waited at the start.
    let sent_reached = reached(counts.sent.min(counts.due()), sending_s);
    let ended = (counts.ok.saturating_add(counts.failed).saturating_add(on_their_way))
        .saturating_sub(counts.in_flight_at_start);
    let ended_reached = reached(ended, sending_s);
    (!sent_reached || !ended_reached).then_some(Warning::RateMissed {
        asked_per_s,
        sent_per_s: if outcome.is_without_connection() { 0.0 } else { counts.sent as f64 / sending_s },
        completed_per_s: counts.ok as f64 / outcome.elapsed_s(),
    })
}

/// Whether more requests were sent than fell due, because the server worked off those that waited when counting began.
fn rate_exceeded(outcome: &LoadOutcome, plan: &LoadPlan) -> Option<Warning> {
    let asked_per_s = asked_per_s(outcome, plan)?;
    let counts = outcome.counts;
    let sending_s = sent_for_s(outcome, plan);
    let more = counts.waiting_at_start.saturating_sub(counts.not_sent);
    (more as f64 > (1.0 - RATE_REACHED) * asked_per_s * sending_s && more > 1).then_some(
        Warning::RateExceeded {
            asked_per_s,
            sent_per_s: counts.sent as f64 / sending_s,
            waiting: counts.waiting_at_start,
        },
    )
}

/// How long requests were being sent: until the end, or, if a number of requests ended the load, until the last one was sent and its gap
/// was over. The wait for the last responses does not count.
fn sending_s(outcome: &LoadOutcome, plan: &LoadPlan, asked_per_s: f64) -> f64 {
    let all_were_sent = match plan.stop {
        Stop::Requests(requests) | Stop::Either(requests, _) => outcome.counts.sent >= requests.get(),
        Stop::Duration(_) => false,
    };
    if all_were_sent && asked_per_s > 0.0 {
        outcome.last_sent_ns.saturating_sub(outcome.started_ns) as f64 / 1e9 + 1.0 / asked_per_s
    } else {
        sent_for_s(outcome, plan)
    }
}

/// How long requests were sent, without the grace time, which is only for responses.
fn sent_for_s(outcome: &LoadOutcome, plan: &LoadPlan) -> f64 {
    let lasts_s = plan.stop.duration().map_or(f64::MAX, |duration| duration.as_secs_f64());
    outcome.elapsed_s().min(lasts_s)
}

fn not_sent(outcome: &LoadOutcome) -> Option<Warning> {
    let oldest_ms = outcome.not_sent_age.histogram().max() as f64 / 1e6;
    let has_times = outcome.counts.ok > 0;
    (outcome.counts.not_sent > 0).then_some(Warning::NotSent {
        count: outcome.counts.not_sent,
        oldest_ms,
        has_times,
    })
}

fn failures(outcome: &LoadOutcome) -> Option<Warning> {
    let cause = outcome.failures.iter().max_by_key(|&(_, &count)| count).map(|(&cause, _)| cause);
    let counts = outcome.counts;
    (counts.failed > 0).then_some(Warning::Failures {
        failed: counts.failed,
        sent: counts.of_window(),
        cause,
    })
}

/// Warns if every connection was closed at once: a TLS server may close a connection that does not speak TLS without sending an alert.
fn closed_at_once(outcome: &LoadOutcome, plan: &LoadPlan) -> Option<Warning> {
    let is_closed = |cause: &FailureCause| {
        matches!(cause, FailureCause::ClosedBeforeAnswer | FailureCause::ConnectionReset)
    };
    let all = !outcome.failures.is_empty() && outcome.failures.keys().all(is_closed);
    let nothing_came = outcome.counts.ok == 0 && outcome.bytes.received == 0;
    (all && nothing_came && !plan.requests.origin().tls).then_some(Warning::ClosedAtOnce)
}

fn endless_bodies(outcome: &LoadOutcome) -> Option<Warning> {
    let count = outcome.begun_unfinished;
    (count > 0 && outcome.counts.ok == 0).then_some(Warning::EndlessBodies { count })
}

fn begun_partly(outcome: &LoadOutcome, plan: &LoadPlan) -> Option<Warning> {
    let ConnectionsAtStart { open, wanted } = outcome.connections_at_start?;
    let has_lead_in = !plan.lead_in.is_zero();
    (open < wanted && !outcome.is_without_connection()).then_some(Warning::BegunPartly {
        open,
        wanted,
        has_lead_in,
    })
}

/// Warns if fewer threads were used than requested. Processes that share a load have threads of their own, so it does not apply to them.
fn fewer_threads(outcome: &LoadOutcome, plan: &LoadPlan) -> Option<Warning> {
    let used = outcome.cost.threads;
    let asked = plan.threads?.get();
    (outcome.pods.is_empty() && 0 < used && used < asked).then_some(Warning::FewerThreads { asked, used })
}

fn no_port_left(outcome: &LoadOutcome) -> Option<Warning> {
    outcome.failures.get(&FailureCause::NoPortLeft).map(|&count| Warning::NoPortLeft { count })
}

fn unsolicited(outcome: &LoadOutcome) -> Option<Warning> {
    (outcome.unsolicited > 0).then_some(Warning::Unsolicited { count: outcome.unsolicited })
}

/// Warns if all responses were redirects. 304 is not one: it is the response to a conditional request. If redirects are followed, a
/// redirect that is not followed is a failure with a cause of its own.
fn only_redirects(outcome: &LoadOutcome, plan: &LoadPlan) -> Option<Warning> {
    let is_redirect = |status: u16| (300..400).contains(&status) && status != 304;
    let all = outcome.status.keys().all(|&status| is_redirect(status));
    let (&status, &count) = outcome.status.iter().max_by_key(|&(_, &count)| count)?;
    let has_times = outcome.counts.ok > 0;
    (all && !plan.follow_redirects).then_some(Warning::OnlyRedirects { status, count, has_times })
}

fn unfinished(outcome: &LoadOutcome) -> Option<Warning> {
    let count = outcome.counts.unfinished;
    let oldest_ms = outcome.unfinished_age.histogram().max() as f64 / 1e6;
    // A closed loop that ends by the clock always has one request in flight per connection. That is worth a warning only if one of them is
    // far older than any response was.
    let usual_ms = outcome.response_time.histogram().max() as f64 / 1e6;
    if count == 0 || oldest_ms <= usual_ms {
        return None;
    }
    let has_answer = outcome.response_time.count() > 0;
    Some(if has_answer {
        Warning::Unfinished { count, oldest_ms }
    } else {
        Warning::NothingAnswered { count, oldest_ms }
    })
}

#[cfg(test)]
mod tests;
