//! Turns a [`LoadOutcome`] into a [`LoadReport`]: sums become rates, histograms become figures in milliseconds.

use super::{ConnectionsReport, GeneratorReport, LagReport, LoadReport, PlanReport, RateReport, SCHEMA};
use crate::health;
use crate::outcome::LoadOutcome;
use crate::plan::{Arrivals, LoadPlan, Pacing, RateShape, Step, Stop};
use crate::setting::{Setting, SettingName};
use crate::times::Times;
use std::collections::BTreeMap;
use std::time::Duration;

impl LoadReport {
    /// The figures of one load. A time without any record is null, never zero.
    #[must_use]
    pub fn new(outcome: &LoadOutcome, plan: &LoadPlan) -> Self {
        Self::naming(Setting::field, outcome, plan)
    }

    /// The same figures, with sentences that use other names for settings than the fields of the plan.
    #[must_use]
    pub fn naming(name: SettingName, outcome: &LoadOutcome, plan: &LoadPlan) -> Self {
        let health = health::judge(outcome, plan);
        let counts = outcome.counts;
        Self {
            schema: SCHEMA.to_owned(),
            target: plan.requests.first_url().to_owned(),
            protocol: outcome.protocol.clone(),
            driver: "epoll".to_owned(),
            plan: plan_report(plan, outcome.cost.threads),
            elapsed_s: outcome.elapsed_s(),
            requests: counts,
            rate_per_s: rates(outcome, &plan.pacing),
            response_time_ms: outcome.response_time.summary(),
            service_time_ms: outcome.service_time.summary(),
            first_byte_time_ms: outcome.first_byte_time.summary(),
            failed_time_ms: outcome.failed_time.summary(),
            in_flight_at_start_age_ms: mean_ms(outcome.in_flight_at_start_ns, counts.in_flight_at_start),
            in_flight_at_end_age_ms: mean_ms(outcome.in_flight_at_end_ns, counts.unfinished),
            unfinished_age_ms: outcome.unfinished_age.summary(),
            not_sent_age_ms: outcome.not_sent_age.summary(),
            status: outcome.status.clone(),
            failures: failures(outcome, name),
            failure_causes: outcome.failures.clone(),
            first_failing_body: outcome.first_failing_body.clone(),
            connections: ConnectionsReport {
                opened: outcome.connections_opened,
                at_start: outcome.connections_at_start,
                open_at_end: outcome.connections_open,
                unsolicited: outcome.unsolicited,
                streams: outcome.streams_per_connection,
            },
            bytes: outcome.bytes,
            generator: GeneratorReport {
                cpu_us_per_request: health.cpu_us_per_request,
                cpu_share: health.cpu_share,
                cpu_cores: health.cpu_cores,
                send_lag_ms: lag(&outcome.send_lag),
                own_lag_ms: lag(&outcome.own_lag),
                loop_lag_ms: lag(&outcome.cost.loop_lag),
                last_byte_seen_by: last_byte_seen_by(outcome).map(str::to_owned),
                real_time: outcome.cost.threads > 0 && outcome.cost.real_time_threads == outcome.cost.threads,
                bottleneck: health.bottleneck.is_some(),
                why: health.bottleneck.map(|it| it.sentence(name)),
            },
            cores_busy: if outcome.is_measurable() { outcome.cores_busy.clone() } else { Vec::new() },
            warnings: health.warnings.iter().map(|it| it.sentence(name)).collect(),
            warning_ids: health.warnings.iter().map(|it| it.id().to_owned()).collect(),
            interrupted: outcome.interrupted,
            log: outcome.log,
            pods: outcome.pods.clone(),
        }
    }
}

fn plan_report(plan: &LoadPlan, threads: u32) -> PlanReport {
    let (mode, shape, arrivals) = match &plan.pacing {
        Pacing::Closed => ("closed", None, None),
        Pacing::Open { shape, arrivals } => ("open", Some(shape), Some(*arrivals)),
    };
    let (requests, duration) = match plan.stop {
        Stop::Requests(requests) => (Some(requests.get()), None),
        Stop::Duration(duration) => (None, Some(duration)),
        Stop::Either(requests, duration) => (Some(requests.get()), Some(duration)),
    };
    PlanReport {
        mode: mode.to_owned(),
        connections: plan.connections.get(),
        threads,
        rate_per_s: shape.and_then(constant_rate),
        shape: shape.and_then(shape_in_words),
        arrivals: arrivals.map(|arrivals| match arrivals {
            Arrivals::Constant => "constant".to_owned(),
            Arrivals::Poisson => "poisson".to_owned(),
        }),
        duration_s: duration.map(|duration| duration.as_secs_f64()),
        requests,
        keep_alive: plan.keep_alive,
        connect_timeout_s: plan.connect_timeout.as_secs_f64(),
        request_timeout_s: plan.request_timeout.as_secs_f64(),
        seed: plan.seed,
        lateness_s: plan.lateness.as_secs_f64(),
        lead_in_s: plan.lead_in.as_secs_f64(),
        grace_s: plan.grace.as_secs_f64(),
        tls_resumption: plan.requests.origin().tls.then_some(plan.tls.resumption),
    }
}

fn constant_rate(shape: &RateShape) -> Option<f64> {
    match shape {
        RateShape::Constant { rate_per_s } => Some(*rate_per_s),
        RateShape::Ramp { .. } | RateShape::Steps(_) => None,
    }
}

fn shape_in_words(shape: &RateShape) -> Option<String> {
    let seconds = |time: Duration| time.as_secs_f64();
    match shape {
        RateShape::Constant { .. } => None,
        RateShape::Ramp { from_per_s, to_per_s, over } => {
            Some(format!("ramp {from_per_s}/s to {to_per_s}/s over {}s", seconds(*over)))
        }
        RateShape::Steps(steps) => {
            let step = |step: &Step| format!("{}/s for {}s", step.rate_per_s, seconds(step.lasts));
            Some(format!("steps {}", steps.iter().map(step).collect::<Vec<_>>().join(", ")))
        }
    }
}

fn mean_ms(sum_ns: u128, count: u64) -> Option<f64> {
    (count > 0).then(|| sum_ns as f64 / count as f64 / 1e6)
}

/// Rates over the elapsed time rather than the planned duration.
fn rates(outcome: &LoadOutcome, pacing: &Pacing) -> RateReport {
    let elapsed_s = outcome.elapsed_s();
    let per_s = |count: u64| if elapsed_s > 0.0 { count as f64 / elapsed_s } else { 0.0 };
    let counts = outcome.counts;
    let asked = match pacing {
        Pacing::Closed => None,
        // For a changing rate, the requested number is the sum of sent and unsent requests.
        Pacing::Open { shape, .. } => constant_rate(shape).or_else(|| Some(per_s(counts.due()))),
    };
    RateReport { asked, sent: per_s(counts.sent), completed: per_s(counts.ok) }
}

fn failures(outcome: &LoadOutcome, name: SettingName) -> BTreeMap<String, u64> {
    let mut failures = BTreeMap::new();
    for (cause, count) in &outcome.failures {
        // Two causes may have the same words, because the C library describes system errors.
        *failures.entry(cause.sentence(name)).or_default() += count;
    }
    failures
}

fn last_byte_seen_by(outcome: &LoadOutcome) -> Option<&'static str> {
    let answers: u64 = outcome.status.values().sum();
    match outcome.stamped {
        _ if answers == 0 => None,
        0 => Some("generator"),
        stamped if stamped >= answers => Some("kernel"),
        _ => Some("both"),
    }
}

fn lag(times: &Times) -> Option<LagReport> {
    times.summary().map(|summary| LagReport { p50: summary.p50, p99: summary.p99, max: summary.max })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::NANOS_PER_S;
    use crate::failure::FailureCause;
    use crate::recorder::{Exchange, Recorder};
    use crate::request::{Origin, RequestSource};
    use std::num::{NonZeroU32, NonZeroU64};
    use std::sync::Arc;
    use std::sync::mpsc::channel;

    fn plan(pacing: Pacing) -> LoadPlan {
        let origin = Origin { tls: false, host: "127.0.0.1".to_owned(), port: 8080 };
        let requests = Arc::new(RequestSource::get(origin, "/"));
        let stop = Stop::Duration(Duration::from_secs(2));
        LoadPlan { pacing, ..LoadPlan::closed(requests, NonZeroU32::new(8).unwrap(), stop) }
    }

    fn open(shape: RateShape) -> Pacing {
        Pacing::Open { shape, arrivals: Arrivals::Poisson }
    }

    /// An outcome of two seconds: request i is due at i ms and sent 1 ms late. 6 responses come after 10 ms of service, one request is
    /// refused, one gets a 503, two are still in flight, two were never sent.
    fn outcome() -> LoadOutcome {
        let ms = 1_000_000;
        let started_ns = 5 * NANOS_PER_S;
        let ended_ns = started_ns + 2 * NANOS_PER_S;
        let (slices, _received) = channel();
        let mut recorder = Recorder::new(0, slices);
        recorder.start(started_ns, started_ns);
        for index in 0..10 {
            let due_ns = started_ns + index * ms;
            let exchange = Exchange { due_ns, ready_ns: due_ns, sent_ns: due_ns + ms, ..Exchange::default() };
            recorder.sent(exchange);
            match index {
                0..6 => recorder.ok(exchange, 200, exchange.sent_ns + 10 * ms),
                6 => recorder.failed(exchange, FailureCause::ConnectionRefused, None, due_ns + 4 * ms),
                7 => {
                    let cause = FailureCause::UnexpectedStatus(503);
                    recorder.failed(exchange, cause, Some(503), due_ns + 4 * ms);
                }
                _ => recorder.unfinished(exchange, ended_ns),
            }
        }
        recorder.not_sent(ended_ns - 20 * ms, ended_ns);
        recorder.not_sent(ended_ns - 10 * ms, ended_ns);
        recorder.finish();
        let mut outcome = LoadOutcome { started_ns, ended_ns, ..LoadOutcome::default() };
        outcome.protocol = "HTTP/1.1".to_owned();
        outcome.cost.threads = 1;
        outcome.add(recorder);
        outcome
    }

    fn close_to(measured: f64, expected: f64) -> bool {
        (measured - expected).abs() <= expected * 0.001
    }

    #[test]
    fn the_target_is_the_first_url_without_the_users_password() {
        let asked = |url: &str| {
            let target = crate::request::Target::get(url).unwrap();
            let requests = Arc::new(RequestSource::new(vec![target]).unwrap());
            let plan = LoadPlan { requests, ..plan(Pacing::Closed) };
            LoadReport::new(&outcome(), &plan).target
        };
        assert_eq!(asked("http://me:secret@h:81/a?b={seq:1}"), "http://h:81/a?b={seq:1}");
        assert_eq!(asked("https://[::1]"), "https://[::1]/");
    }

    #[test]
    fn every_request_is_accounted_for() {
        let requests = LoadReport::new(&outcome(), &plan(Pacing::Closed)).requests;
        assert_eq!(requests.sent, requests.ok + requests.failed + requests.unfinished);
        assert_eq!((requests.ok, requests.failed, requests.unfinished, requests.not_sent), (6, 2, 2, 2));
    }

    #[test]
    fn what_was_in_flight_and_what_waited_when_counting_began_are_in_the_report() {
        let mut outcome = outcome();
        (outcome.counts.in_flight_at_start, outcome.counts.waiting_at_start) = (3, 4);
        let requests = LoadReport::new(&outcome, &plan(Pacing::Closed)).requests;
        assert_eq!((requests.in_flight_at_start, requests.waiting_at_start), (3, 4));
    }

    #[test]
    fn a_document_of_version_0_2_0_is_read() {
        let mut report = LoadReport::new(&outcome(), &plan(Pacing::Closed));
        report.pods = vec![crate::pods::PodReport::default()];
        let mut document = serde_json::to_value(&report).unwrap();
        let remove = |object: &mut serde_json::Value, keys: &[&str]| {
            keys.iter().for_each(|key| drop(object.as_object_mut().unwrap().remove(*key).unwrap()));
        };
        remove(&mut document, &["failure_causes", "warning_ids"]);
        remove(&mut document["pods"][0]["requests"], &["in_flight_at_start", "waiting_at_start", "resent"]);
        let read: LoadReport = serde_json::from_value(document.clone()).unwrap();
        assert_eq!(
            (read.requests, &read.failures, &read.pods),
            (report.requests, &report.failures, &report.pods)
        );
        assert!(read.failure_causes.is_empty() && !report.failure_causes.is_empty());
        remove(&mut document, &["pods"]);
        assert!(serde_json::from_value::<LoadReport>(document).unwrap().pods.is_empty());
    }

    #[test]
    fn rates_divide_by_the_time_that_really_passed() {
        let rates = LoadReport::new(&outcome(), &plan(Pacing::Closed)).rate_per_s;
        assert_eq!(rates, RateReport { asked: None, sent: 5.0, completed: 3.0 });
    }

    #[test]
    fn a_constant_rate_is_asked_as_it_was_written_and_a_changing_one_as_what_was_due() {
        let constant = LoadReport::new(&outcome(), &plan(open(RateShape::Constant { rate_per_s: 7.0 })));
        assert_eq!(constant.rate_per_s.asked, Some(7.0));
        assert_eq!(constant.plan.rate_per_s, Some(7.0));
        assert_eq!(constant.plan.shape, None);
        assert_eq!(constant.plan.arrivals.as_deref(), Some("poisson"));
        let over = Duration::from_secs(30);
        let ramp = RateShape::Ramp { from_per_s: 100.0, to_per_s: 500.0, over };
        let ramp = LoadReport::new(&outcome(), &plan(open(ramp)));
        assert_eq!(ramp.rate_per_s.asked, Some(6.0));
        assert_eq!(ramp.plan.rate_per_s, None);
        assert_eq!(ramp.plan.shape.as_deref(), Some("ramp 100/s to 500/s over 30s"));
    }

    #[test]
    fn both_times_and_the_failed_time_are_summed_up_in_milliseconds() {
        let report = LoadReport::new(&outcome(), &plan(Pacing::Closed));
        assert!(close_to(report.response_time_ms.unwrap().p50, 11.0));
        assert!(close_to(report.service_time_ms.unwrap().p50, 10.0));
        assert!(close_to(report.failed_time_ms.unwrap().max, 4.0));
        assert!(close_to(report.unfinished_age_ms.unwrap().max, 1_992.0));
        assert!(close_to(report.not_sent_age_ms.unwrap().max, 20.0));
        assert!(close_to(report.generator.send_lag_ms.unwrap().p99, 1.0));
    }

    #[test]
    fn it_says_who_saw_the_last_byte() {
        let seen_by = |stamped| {
            let outcome = LoadOutcome { stamped, ..outcome() };
            LoadReport::new(&outcome, &plan(Pacing::Closed)).generator.last_byte_seen_by
        };
        assert_eq!(seen_by(0).as_deref(), Some("generator"));
        assert_eq!(seen_by(6).as_deref(), Some("both"));
        assert_eq!(seen_by(7).as_deref(), Some("kernel"), "six answers and a refusal of one");
        let nothing = LoadReport::new(&LoadOutcome::default(), &plan(Pacing::Closed));
        assert_eq!(nothing.generator.last_byte_seen_by, None);
    }

    #[test]
    fn what_was_never_recorded_is_null_and_not_zero() {
        let report = LoadReport::new(&LoadOutcome::default(), &plan(Pacing::Closed));
        let json = serde_json::to_value(&report).unwrap();
        for key in ["response_time_ms", "service_time_ms", "failed_time_ms", "unfinished_age_ms"] {
            assert!(json[key].is_null(), "{key}");
        }
        assert!(json["generator"]["send_lag_ms"].is_null());
        assert_eq!(json["rate_per_s"]["completed"], 0.0);
    }

    #[test]
    fn failures_and_statuses_are_counted_by_their_words_and_codes() {
        let json = serde_json::to_value(LoadReport::new(&outcome(), &plan(Pacing::Closed))).unwrap();
        assert_eq!(
            json["failures"],
            serde_json::json!({"connection refused": 1, "unexpected status 503": 1})
        );
        assert_eq!(json["status"], serde_json::json!({"200": 6, "503": 1}));
    }

    #[test]
    fn lateness_grace_resumption_and_the_log_are_in_the_report() {
        let plan = plan(Pacing::Closed).with(|plan| {
            plan.lateness = Duration::from_millis(1);
            plan.grace = Duration::from_secs(2);
        });
        let counts: crate::log::LogCounts = serde_json::from_str(r#"{"written": 7, "dropped": 3}"#).unwrap();
        let report = LoadReport::new(&LoadOutcome { log: Some(counts), ..outcome() }, &plan);
        let json = serde_json::to_value(&report).unwrap();
        assert_eq!(
            (json["plan"]["lateness_s"].as_f64(), json["plan"]["grace_s"].as_f64()),
            (Some(0.001), Some(2.0))
        );
        assert!(json["plan"]["tls_resumption"].is_null(), "there is no TLS");
        assert_eq!(json["log"], serde_json::json!({"written": 7, "dropped": 3}));
    }

    #[test]
    fn a_plan_says_when_it_stops() {
        let mut limited = plan(Pacing::Closed);
        limited.stop = Stop::Either(NonZeroU64::new(99).unwrap(), Duration::from_millis(1_500));
        let report = LoadReport::new(&outcome(), &limited).plan;
        assert_eq!((report.requests, report.duration_s), (Some(99), Some(1.5)));
        assert_eq!((report.mode.as_str(), report.connections, report.threads), ("closed", 8, 1));
    }
}
