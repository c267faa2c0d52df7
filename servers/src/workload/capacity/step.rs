//! The figures of a step, and the judgement whether it was sustained.

use threadcount_load::health::{FULL_CORE, Warning, own_lag_p99_ms};
use threadcount_load::outcome::LoadOutcome;
use threadcount_load::report::{LoadReport, most_frequent_failure};
use threadcount_load::times::{Times, TimesSummary};
use threadcount_model::experiment::capacity::Capacity;
use threadcount_model::metric::Metric;
use threadcount_model::record::capacity::{StepFailure, StepVerdict};

/// A rate counts as reached from this share on, and a backlog as growing if a smaller share of the due requests is answered.
const REACHED: f64 = 0.98;

/// The figures by which a step is judged.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StepFigures {
    /// The requested rate.
    pub asked_per_s: f64,
    /// The length of the step.
    pub length_s: f64,
    /// Requests that were due.
    pub due: u64,
    /// Requests that were begun.
    pub sent: u64,
    /// Expected answers.
    pub ok: u64,
    /// Failures.
    pub failed: u64,
    /// The most frequent failure.
    pub cause: Option<String>,
    /// Requests without an answer yet that are no older than the limit.
    pub on_their_way: u64,
    /// Response times, including the ages of unanswered requests that are older than the limit and will take longer still.
    pub times_ms: Option<TimesSummary>,
    /// Requests that were due in the first half, which ends with a whole second.
    pub due_in_first_half: f64,
    /// Requests that had ended by the end of the first half.
    pub ended_in_first_half: u64,
    /// The reason why the load generator is considered the bottleneck, if it is.
    pub generator: Option<StepFailure>,
    /// The load generator's send lag at the 99th percentile, ms; `None` if it had no CPU left, so that its effect on the
    /// times is unknown.
    pub generator_lag_ms: Option<f64>,
}

/// The verdict on a step, and the reason why it was not sustained.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the names are the definition")]
pub struct Judgement {
    pub verdict: StepVerdict,
    pub why: Option<StepFailure>,
}

impl StepFigures {
    /// The figures of a load at a constant rate.
    #[must_use]
    pub fn of(
        spec: &Capacity,
        asked_per_s: f64,
        outcome: &LoadOutcome,
        report: &LoadReport,
        warnings: &[Warning],
    ) -> Self {
        let limit_ns = (spec.limit_ms * 1e6) as u64;
        let length_s = outcome.elapsed_s();
        let half_s = (length_s / 2.0).floor().max(1.0);
        let ended = |index_below: f64| {
            let seconds = outcome.seconds.iter().filter(|second| f64::from(second.index) < index_below);
            seconds.map(|second| second.counts.ok + second.counts.failed).sum()
        };
        let young = |ages: &Times| ages.histogram().count_between(0, limit_ns);
        let generator = warnings.iter().find_map(generator_limit);
        Self {
            asked_per_s,
            length_s,
            due: outcome.counts.sent + outcome.counts.not_sent,
            sent: outcome.counts.sent,
            ok: outcome.counts.ok,
            failed: outcome.counts.failed,
            cause: most_frequent_failure([report]).map(|it| it.to_string()),
            on_their_way: young(&outcome.unfinished_age) + young(&outcome.not_sent_age),
            times_ms: with_the_late(outcome, limit_ns).summary(),
            due_in_first_half: asked_per_s * half_s,
            ended_in_first_half: ended(half_s),
            generator,
            generator_lag_ms: own_lag_p99_ms(outcome).filter(|_| report.generator.cpu_share <= FULL_CORE),
        }
    }

    /// Answers per second, including the requests that are still on their way.
    #[must_use]
    pub fn reached_per_s(&self) -> f64 {
        if self.length_s > 0.0 { (self.ok + self.on_their_way) as f64 / self.length_s } else { 0.0 }
    }

    /// The number of requests by which the backlog grew in the second half, if that exceeds chance. Chance is twice the square
    /// root of the requests on their way (answers come a little earlier or later), plus the share by which a rate may be missed.
    fn growth(&self) -> Option<f64> {
        let (due, ended) = (self.due as f64, (self.ok + self.failed) as f64);
        let waiting_then = (self.due_in_first_half - self.ended_in_first_half as f64).max(0.0);
        let grown = due - ended - waiting_then;
        let missed = (1.0 - REACHED) * (due - self.due_in_first_half);
        let chance = 2.0 * (waiting_then + 1.0).sqrt();
        (grown > missed + chance).then_some(grown)
    }
}

/// The response times, with the ages of requests that have already waited longer than the limit.
fn with_the_late(outcome: &LoadOutcome, limit_ns: u64) -> Times {
    let mut times = outcome.response_time.clone();
    for ages in [&outcome.unfinished_age, &outcome.not_sent_age] {
        for age in ages.histogram().iter_recorded().filter(|age| age.value_iterated_to() > limit_ns) {
            (0..age.count_at_value()).for_each(|_| times.record_ns(age.value_iterated_to()));
        }
    }
    times
}

/// The reason why the load generator is the bottleneck, if the warning is about that.
fn generator_limit(warning: &Warning) -> Option<StepFailure> {
    match *warning {
        Warning::GeneratorBusy { share, .. } => Some(StepFailure::GeneratorBusy { cpu_share: share }),
        Warning::GeneratorLate { p99_ms } => Some(StepFailure::GeneratorLate { send_lag_p99_ms: p99_ms }),
        _ => None,
    }
}

/// Judges a step. It was sustained if few enough requests failed, the limit was held, the rate was reached and the backlog
/// did not grow. A late generator does not weaken that verdict, because a request waits from the moment it was due. But a
/// failure counts against the server only if the generator kept up, or its lateness cannot have made the difference.
#[must_use]
pub fn judge(spec: &Capacity, step: &StepFigures) -> Judgement {
    let far_beyond = is_far_beyond(spec, step);
    let backlog = || step.growth().map(|requests| StepFailure::BacklogGrew { requests });
    let why = failures(spec, step).or_else(|| limit(spec, step)).or_else(|| rate(step)).or_else(backlog);
    match (why, &step.generator) {
        (None, _) => Judgement { verdict: StepVerdict::Sustained, why: None },
        (Some(_), Some(late)) if !far_beyond => {
            Judgement { verdict: StepVerdict::Generator, why: Some(late.clone()) }
        }
        (Some(why), _) => Judgement { verdict: StepVerdict::Broken, why: Some(why) },
    }
}

/// Whether the limit is exceeded even after subtracting twice the generator's lateness. Always false for the tail beyond
/// the 99th percentile, where that lateness is unknown.
fn is_far_beyond(spec: &Capacity, step: &StepFigures) -> bool {
    let Some((times, lag_ms)) = step.times_ms.as_ref().zip(step.generator_lag_ms) else { return false };
    let is_tail = spec.metric == Metric::Max || spec.metric.percent() > Some(99.0);
    let time_ms = spec.metric.response_time_in(times).filter(|_| !is_tail);
    time_ms.is_some_and(|time_ms| time_ms - 2.0 * lag_ms > spec.limit_ms)
}

fn failures(spec: &Capacity, step: &StepFigures) -> Option<StepFailure> {
    let too_many = step.failed as f64 > spec.failures * step.sent as f64;
    too_many.then(|| StepFailure::RequestsFailed {
        failed: step.failed,
        sent: step.sent,
        cause: step.cause.clone(),
    })
}

fn limit(spec: &Capacity, step: &StepFigures) -> Option<StepFailure> {
    let time_ms = step.times_ms.as_ref().and_then(|times| spec.metric.response_time_in(times));
    let Some(time_ms) = time_ms else { return Some(StepFailure::NoResponse) };
    (time_ms > spec.limit_ms).then_some(StepFailure::LimitExceeded { time_ms })
}

fn rate(step: &StepFigures) -> Option<StepFailure> {
    let missed = ((step.ok + step.on_their_way) as f64) < REACHED * step.due as f64;
    missed.then(|| StepFailure::RateMissed {
        reached_per_s: step.reached_per_s(),
        asked_per_s: step.asked_per_s,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use threadcount_load::outcome::Second;
    use threadcount_model::sample;

    fn spec() -> Capacity {
        Capacity::under(Metric::P99, 200.0)
    }

    /// A good step: 1,000/s for 4 s, each request answered after 50 ms.
    fn good() -> StepFigures {
        StepFigures {
            asked_per_s: 1_000.0,
            length_s: 4.0,
            due: 4_000,
            sent: 4_000,
            ok: 3_950,
            on_their_way: 50,
            times_ms: Some(sample::times(50.0)),
            due_in_first_half: 2_000.0,
            ended_in_first_half: 1_950,
            ..StepFigures::default()
        }
    }

    fn judged(step: &StepFigures) -> (StepVerdict, Option<StepFailure>) {
        let Judgement { verdict, why } = judge(&spec(), step);
        (verdict, why)
    }

    fn busy() -> StepFailure {
        StepFailure::GeneratorBusy { cpu_share: 0.97 }
    }

    fn exceeded(time_ms: f64) -> Option<StepFailure> {
        Some(StepFailure::LimitExceeded { time_ms })
    }

    #[test]
    fn a_step_that_holds_everything_is_sustained() {
        assert_eq!(judged(&good()), (StepVerdict::Sustained, None));
    }

    #[test]
    fn each_thing_that_is_not_held_breaks_it_and_is_named_with_its_figures() {
        let broken = |step: StepFigures, why: StepFailure| {
            assert_eq!(judged(&step), (StepVerdict::Broken, Some(why)));
        };
        let slow = sample::times(200.1);
        let time_ms = slow.p99;
        broken(StepFigures { times_ms: Some(slow), ..good() }, StepFailure::LimitExceeded { time_ms });
        broken(StepFigures { times_ms: None, ..good() }, StepFailure::NoResponse);
        broken(
            StepFigures { failed: 1, cause: Some("timeout".into()), ..good() },
            StepFailure::RequestsFailed { failed: 1, sent: 4_000, cause: Some("timeout".into()) },
        );
        broken(
            StepFigures { ok: 3_860, ..good() },
            StepFailure::RateMissed { reached_per_s: 977.5, asked_per_s: 1_000.0 },
        );
        broken(
            StepFigures { ok: 3_850, on_their_way: 150, ..good() },
            StepFailure::BacklogGrew { requests: 100.0 },
        );
    }

    #[test]
    fn failures_within_the_share_that_may_fail_are_allowed() {
        let step = StepFigures { failed: 4, ok: 3_946, ..good() };
        let spec = Capacity { failures: 0.001, ..spec() };
        assert_eq!(judge(&spec, &step).verdict, StepVerdict::Sustained);
        assert_eq!(judge(&Capacity { failures: 0.0009, ..spec }, &step).verdict, StepVerdict::Broken);
    }

    #[test]
    fn what_a_late_generator_broke_is_never_the_servers_fault() {
        let step = StepFigures {
            generator: Some(busy()),
            times_ms: Some(sample::times(900.0)),
            failed: 7,
            ..good()
        };
        assert_eq!(judged(&step), (StepVerdict::Generator, Some(busy())));
        let late = StepFigures { generator_lag_ms: Some(8.0), failed: 0, ..step.clone() };
        let p99_ms = late.times_ms.expect("times").p99;
        assert_eq!(judged(&late), (StepVerdict::Broken, exceeded(p99_ms)), "8 ms did not do that");
        let near = StepFigures { times_ms: Some(sample::times(210.0)), ..late.clone() };
        assert_eq!(judged(&near).0, StepVerdict::Generator, "16 ms may have");
        assert_eq!(judge(&Capacity::under(Metric::Max, 200.0), &late).verdict, StepVerdict::Generator);
        let held = StepFigures { times_ms: good().times_ms, failed: 0, ..step };
        assert_eq!(judged(&held), (StepVerdict::Sustained, None), "what was held was held");
    }

    #[test]
    fn the_limit_is_that_of_the_metric_that_was_named() {
        let mut times = sample::times(50.0);
        (times.p50, times.max) = (60.0, 5_000.0);
        let step = StepFigures { times_ms: Some(times), ..good() };
        let under = |metric, limit_ms| judge(&Capacity::under(metric, limit_ms), &step).why;
        assert_eq!(under(Metric::P99, 55.0), None);
        assert_eq!(under(Metric::P50, 55.0), exceeded(60.0));
        assert_eq!(under(Metric::Max, 200.0), exceeded(5_000.0));
    }

    #[test]
    fn requests_without_an_answer_count_with_their_age_once_they_are_late() {
        let mut outcome = LoadOutcome::default();
        outcome.ended_ns = 4_000_000_000;
        (0..980).for_each(|_| outcome.response_time.record_ns(50_000_000));
        (0..15).for_each(|_| outcome.unfinished_age.record_ns(20_000_000));
        (0..3).for_each(|_| outcome.unfinished_age.record_ns(900_000_000));
        (0..20).for_each(|_| outcome.not_sent_age.record_ns(1_500_000_000));
        (outcome.counts.ok, outcome.counts.sent, outcome.counts.not_sent) = (980, 998, 20);
        outcome.seconds = vec![Second::default(); 4];
        for (second, index) in outcome.seconds.iter_mut().zip(0..) {
            (second.index, second.counts.ok) = (index, 245);
        }
        let report = sample::run("a", "c", 245.0, 50.0).measured.expect("a report");
        let step = StepFigures::of(&spec(), 250.0, &outcome, &report, &[Warning::ClosedLoop]);
        assert_eq!(step.generator, None);
        let busy = Warning::GeneratorBusy { share: 0.97, threads: 1 };
        let limited = StepFigures::of(&spec(), 250.0, &outcome, &report, &[Warning::ClosedLoop, busy]);
        assert_eq!(limited.generator, Some(self::busy()));
        assert_eq!((step.due, step.on_their_way), (1_018, 15));
        assert_eq!((step.due_in_first_half, step.ended_in_first_half), (500.0, 490));
        let times = step.times_ms.expect("times");
        assert!((times.p99 / 1_500.0 - 1.0).abs() < 0.01 && (times.p50 / 50.0 - 1.0).abs() < 0.01);
        assert_eq!(judge(&spec(), &step).why, exceeded(times.p99));
    }
}
