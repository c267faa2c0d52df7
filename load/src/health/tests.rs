//! Warnings with known answers.

use super::*;
use crate::outcome::{Counts, GeneratorCost};
use crate::plan::Arrivals;
use crate::request::{Origin, RequestSource};
use crate::setting::Setting;
use crate::times::Times;
use std::num::{NonZeroU32, NonZeroU64};
use std::sync::Arc;
use std::time::Duration;

const MS: u64 = 1_000_000;

fn closed() -> LoadPlan {
    let origin = Origin { tls: false, host: "127.0.0.1".to_owned(), port: 80 };
    let stop = Stop::Duration(Duration::from_secs(10));
    LoadPlan::closed(Arc::new(RequestSource::get(origin, "/")), NonZeroU32::new(64).unwrap(), stop)
}

fn open(rate_per_s: f64) -> LoadPlan {
    let shape = RateShape::Constant { rate_per_s };
    LoadPlan { pacing: Pacing::Open { shape, arrivals: Arrivals::Constant }, ..closed() }
}

fn times(parts: &[(u64, u64)]) -> Times {
    let mut times = Times::default();
    for &(count, ns) in parts {
        (0..count).for_each(|_| times.record_ns(ns));
    }
    times
}

/// An outcome of ten seconds with 10,000 requests of 5 ms, sent 20 µs late, by two threads that used half a core.
fn healthy() -> LoadOutcome {
    LoadOutcome {
        started_ns: 1_000 * MS,
        ended_ns: 11_000 * MS,
        last_sent_ns: 10_999 * MS,
        counts: Counts { sent: 10_000, ok: 10_000, ..Counts::default() },
        response_time: times(&[(10_000, 5 * MS)]),
        service_time: times(&[(10_000, 5 * MS)]),
        send_lag: times(&[(10_000, 20_000)]),
        own_lag: times(&[(10_000, 20_000)]),
        cost: GeneratorCost {
            threads: 2,
            cpu_ns: 5_000 * MS,
            busiest_thread_cpu_ns: 3_000 * MS,
            ..GeneratorCost::default()
        },
        ..LoadOutcome::default()
    }
}

#[test]
fn a_healthy_open_load_has_no_warning() {
    let health = judge(&healthy(), &open(1_000.0));
    assert_eq!(
        health,
        Health {
            bottleneck: None,
            cpu_us_per_request: 500.0,
            cpu_share: 0.3,
            cpu_cores: 0.5,
            warnings: vec![],
        }
    );
}

#[test]
fn a_healthy_closed_load_only_says_what_it_cannot_see() {
    assert_eq!(judge(&healthy(), &closed()).warnings, [Warning::ClosedLoop]);
}

#[test]
fn a_thread_above_nine_tenths_of_a_core_is_the_bottleneck() {
    let mut outcome = healthy();
    outcome.cost.busiest_thread_cpu_ns = 9_000 * MS;
    assert_eq!(judge(&outcome, &closed()).bottleneck, None);
    outcome.cost.busiest_thread_cpu_ns = 9_100 * MS;
    let health = judge(&outcome, &closed());
    assert_eq!(health.warnings[0], Warning::GeneratorBusy { share: 0.91, threads: 2 });
    assert!(health.bottleneck.unwrap().sentence(Setting::field).contains("used 91 % of a core"));
}

#[test]
fn lateness_with_a_connection_free_is_the_generators() {
    let outcome = LoadOutcome { own_lag: times(&[(9_800, 20_000), (200, 3 * MS)]), ..healthy() };
    let health = judge(&outcome, &open(1_000.0));
    assert!(health.bottleneck.unwrap().sentence(Setting::field).contains("3.0 ms or more after it was due"));
}

#[test]
fn lateness_because_every_connection_was_busy_is_not_the_generators() {
    let outcome = LoadOutcome {
        send_lag: times(&[(9_500, 20_000), (500, 300 * MS)]),
        waited_for_connection: 500,
        ..healthy()
    };
    assert_eq!(judge(&outcome, &open(1_000.0)).bottleneck, None);
}

#[test]
fn lateness_that_was_asked_for_is_not_the_generators_and_more_is() {
    let plan = LoadPlan { lateness: Duration::from_millis(4), ..open(1_000.0) };
    let late = |ns| LoadOutcome { own_lag: times(&[(10_000, ns)]), ..healthy() };
    assert_eq!(judge(&late(4 * MS), &plan).bottleneck, None);
    assert!(judge(&late(6 * MS), &plan).bottleneck.is_some());
}

#[test]
fn lateness_far_below_the_service_time_does_not_matter() {
    let late = times(&[(9_800, 20_000), (200, 3 * MS)]);
    let slow_server = LoadOutcome { service_time: times(&[(10_000, 100 * MS)]), own_lag: late, ..healthy() };
    assert_eq!(judge(&slow_server, &open(1_000.0)).bottleneck, None);
}

#[test]
fn a_closed_loop_has_no_lateness_of_its_own() {
    let outcome = LoadOutcome { own_lag: times(&[(10_000, 300 * MS)]), ..healthy() };
    assert_eq!(judge(&outcome, &closed()).bottleneck, None);
}

#[test]
fn a_missed_rate_gives_the_three_figures_and_comes_before_what_was_not_sent() {
    let outcome = LoadOutcome {
        counts: Counts { sent: 10_000, ok: 10_000, not_sent: 2_000, ..Counts::default() },
        not_sent_age: times(&[(1_999, 5 * MS), (1, 1_500 * MS)]),
        ..healthy()
    };
    let warnings = judge(&outcome, &open(1_200.0)).warnings;
    let missed = Warning::RateMissed { asked_per_s: 1_200.0, sent_per_s: 1_000.0, completed_per_s: 1_000.0 };
    assert_eq!(warnings[0], missed);
    assert!(missed.to_string().contains("1200.0/s asked, 1000.0/s sent, 1000.0/s completed"));
    assert!(warnings[1].to_string().starts_with("2000 requests were due and never sent"));
    assert_eq!(warnings.len(), 2);
}

#[test]
fn what_falls_due_at_random_and_the_grace_time_miss_no_rate() {
    let at_random = |not_sent| {
        let shape = RateShape::Constant { rate_per_s: 1_050.0 };
        let plan = LoadPlan { pacing: Pacing::Open { shape, arrivals: Arrivals::Poisson }, ..closed() };
        let mut outcome = healthy();
        outcome.counts.not_sent = not_sent;
        judge(&outcome, &plan).warnings
    };
    assert_eq!(at_random(0), []);
    assert!(matches!(at_random(500)[0], Warning::RateMissed { .. }));
    // Requests were sent for ten seconds, and the last response came two seconds later.
    let ended_ns = healthy().started_ns + 12 * crate::clock::NANOS_PER_S;
    let plan = LoadPlan { stop: Stop::Duration(Duration::from_secs(10)), ..open(1_000.0) };
    assert_eq!(judge(&LoadOutcome { ended_ns, ..healthy() }, &plan).warnings, []);
}

#[test]
fn responses_to_requests_of_the_lead_in_do_not_make_up_for_those_that_are_missing() {
    let counts = Counts { in_flight_at_start: 460, sent: 10_000, ok: 10_060, ..Counts::default() };
    let outcome = LoadOutcome {
        counts: Counts { unfinished: 400, ..counts },
        unfinished_age: times(&[(400, 5_000 * MS)]),
        ..healthy()
    };
    assert!(matches!(judge(&outcome, &open(1_000.0)).warnings[0], Warning::RateMissed { .. }));
}

#[test]
fn what_waited_when_counting_began_neither_misses_the_rate_nor_reaches_it() {
    let warnings = |waiting_at_start, sent, not_sent, arrivals| {
        let shape = RateShape::Constant { rate_per_s: 1_000.0 };
        let plan = LoadPlan { pacing: Pacing::Open { shape, arrivals }, ..closed() };
        let counts = Counts { waiting_at_start, sent, not_sent, ok: sent, ..Counts::default() };
        let mut warnings = judge(&LoadOutcome { counts, ..healthy() }, &plan).warnings;
        warnings.retain(|warning| !matches!(warning, Warning::NotSent { .. }));
        warnings
    };
    for arrivals in [Arrivals::Constant, Arrivals::Poisson] {
        assert_eq!(warnings(0, 10_000, 0, arrivals), []);
        assert_eq!(warnings(400, 10_000, 400, arrivals), [], "as many at the end");
        assert_eq!(warnings(90, 10_090, 0, arrivals), [], "within 1 %");
        let exceeded = Warning::RateExceeded { asked_per_s: 1_000.0, sent_per_s: 1_050.0, waiting: 500 };
        assert_eq!(warnings(500, 10_500, 0, arrivals), [exceeded]);
        assert!(exceeded.to_string().contains("1050.0/s sent, 1000.0/s asked"), "{exceeded}");
        assert!(matches!(warnings(400, 9_700, 700, arrivals)[..], [Warning::RateMissed { .. }]));
    }
}

#[test]
fn a_ramp_is_missed_by_what_was_due_and_not_sent() {
    let shape = RateShape::Ramp { from_per_s: 0.0, to_per_s: 2_000.0, over: Duration::from_secs(10) };
    let plan = LoadPlan { pacing: Pacing::Open { shape, arrivals: Arrivals::Constant }, ..closed() };
    assert_eq!(judge(&healthy(), &plan).warnings, []);
    let mut outcome = healthy();
    outcome.counts.not_sent = 200;
    assert!(matches!(judge(&outcome, &plan).warnings[0], Warning::RateMissed { .. }));
}

#[test]
fn answers_that_fall_behind_miss_the_rate_and_those_on_their_way_do_not() {
    let on_their_way = LoadOutcome {
        counts: Counts { sent: 10_000, ok: 9_500, unfinished: 500, ..Counts::default() },
        response_time: times(&[(9_500, 500 * MS)]),
        unfinished_age: times(&[(500, 250 * MS)]),
        ..healthy()
    };
    assert_eq!(judge(&on_their_way, &open(1_000.0)).warnings, []);
    let stuck = LoadOutcome { unfinished_age: times(&[(500, 2_000 * MS)]), ..on_their_way };
    let warnings = judge(&stuck, &open(1_000.0)).warnings;
    assert!(matches!(warnings[0], Warning::RateMissed { .. }), "{warnings:?}");
    assert!(matches!(warnings[1], Warning::Unfinished { count: 500, .. }), "{warnings:?}");
}

#[test]
fn the_wait_for_the_last_answers_is_no_sending() {
    let plan = LoadPlan { stop: Stop::Requests(NonZeroU64::new(10_000).unwrap()), ..open(1_000.0) };
    let slow_end = LoadOutcome { ended_ns: 13_000 * MS, ..healthy() };
    assert_eq!(judge(&slow_end, &plan).warnings, []);
    let sent_slowly = LoadOutcome { last_sent_ns: 12_000 * MS, ended_ns: 12_005 * MS, ..healthy() };
    assert!(matches!(judge(&sent_slowly, &plan).warnings[0], Warning::RateMissed { .. }));
}

#[test]
fn failures_are_given_as_a_share_with_the_most_frequent_cause() {
    let outcome = LoadOutcome {
        counts: Counts { sent: 10_000, ok: 9_900, failed: 100, ..Counts::default() },
        failures: [(FailureCause::NoPortLeft, 40), (FailureCause::ConnectionReset, 60)].into(),
        ..healthy()
    };
    let warnings = judge(&outcome, &open(1_000.0)).warnings;
    assert_eq!(
        warnings[0].to_string(),
        "100 of 10000 requests failed (1.00 %), most often: connection reset. Failures are in no response time"
    );
    assert_eq!(warnings[1], Warning::NoPortLeft { count: 40 });
}

#[test]
fn a_log_that_could_not_be_written_is_a_warning_and_the_figures_stay() {
    let kind = std::io::ErrorKind::StorageFull;
    let outcome = LoadOutcome { log_failure: Some(kind), ..healthy() };
    let health = judge(&outcome, &open(1_000.0));
    assert_eq!(health.warnings, [Warning::LogIncomplete { kind }]);
    assert_eq!(health.cpu_us_per_request, 500.0);
}

#[test]
fn a_load_that_began_before_its_connections_were_open_says_so() {
    let warnings = |now, wanted| {
        let at_start = ConnectionsAtStart { open: now, wanted };
        judge(&LoadOutcome { connections_at_start: Some(at_start), ..healthy() }, &open(1_000.0)).warnings
    };
    assert_eq!(warnings(64, 64), []);
    assert_eq!(warnings(16, 64), [Warning::BegunPartly { open: 16, wanted: 64, has_lead_in: false }]);
    let text = warnings(16, 64)[0].to_string();
    assert!(text.starts_with("the load began with 16 of 64 connections open"), "{text}");
    let text = Warning::BegunPartly { open: 16, wanted: 64, has_lead_in: true }.to_string();
    assert!(text.starts_with("when the lead-in ended, 16 of 64 connections had been opened"), "{text}");
    assert_eq!(judge(&healthy(), &open(1_000.0)).warnings, [], "without connections in advance");
}

#[test]
fn only_redirects_are_a_warning_and_a_page_among_them_is_not() {
    let warnings = |status: &[(u16, u64)]| {
        let outcome = LoadOutcome { status: status.iter().copied().collect(), ..healthy() };
        judge(&outcome, &open(1_000.0)).warnings
    };
    let only = Warning::OnlyRedirects { status: 302, count: 90, has_times: true };
    assert_eq!(warnings(&[(301, 10), (302, 90)]), [only]);
    assert_eq!(warnings(&[(200, 1), (302, 90)]), []);
    assert_eq!(warnings(&[(302, 90), (503, 1)]), []);
    assert_eq!(warnings(&[(304, 100)]), []);
    assert_eq!(warnings(&[]), []);
}

#[test]
fn a_redirect_that_could_not_be_followed_gets_no_advice_to_follow_it() {
    let outcome = LoadOutcome {
        counts: Counts { sent: 3, failed: 3, ..Counts::default() },
        status: [(302, 3)].into(),
        failures: [(FailureCause::Redirect("it leads to another scheme, host or port"), 3)].into(),
        ..LoadOutcome::default()
    };
    let texts = |follow: bool| {
        let plan = closed().with(|plan| plan.follow_redirects = follow);
        judge(&outcome, &plan).warnings.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert!(texts(true).iter().all(|text| !text.contains("or follow it")), "{:?}", texts(true));
    assert!(texts(false)[1].contains("or follow it"), "{:?}", texts(false));
}

#[test]
fn a_server_that_closes_each_connection_without_a_byte_may_speak_tls() {
    let closed_by = |causes: &[FailureCause], received: u64, tls: bool| {
        let mut outcome = LoadOutcome {
            counts: Counts { sent: 9, failed: 9, ..Counts::default() },
            failures: causes.iter().map(|&cause| (cause, 3)).collect(),
            ..LoadOutcome::default()
        };
        outcome.bytes.received = received;
        let origin = Origin { tls, host: "127.0.0.1".to_owned(), port: 80 };
        let plan = closed().with(|plan| plan.requests = Arc::new(RequestSource::get(origin, "/")));
        judge(&outcome, &plan).warnings.contains(&Warning::ClosedAtOnce)
    };
    let ends = [FailureCause::ClosedBeforeAnswer, FailureCause::ConnectionReset];
    assert!(closed_by(&ends, 0, false) && closed_by(&ends[..1], 0, false));
    assert!(!closed_by(&ends, 1, false), "the server sent something");
    assert!(!closed_by(&ends, 0, true), "it is TLS already");
    assert!(!closed_by(&[ends[0], FailureCause::RequestTimeout], 0, false));
    assert!(!closed_by(&[], 0, false));
}

#[test]
fn a_load_without_a_connection_has_sent_nothing() {
    let counts = Counts { sent: 10_000, failed: 10_000, ..Counts::default() };
    let failures = [(FailureCause::ConnectTimeout, 10_000)].into();
    let refused = LoadOutcome {
        counts,
        failures,
        ended_ns: 11_000 * MS,
        started_ns: 1_000 * MS,
        ..LoadOutcome::default()
    };
    assert!(refused.is_without_connection() && !healthy().is_without_connection());
    let missed = Warning::RateMissed { asked_per_s: 2_000.0, sent_per_s: 0.0, completed_per_s: 0.0 };
    assert_eq!(judge(&refused, &open(2_000.0)).warnings[0], missed);
    let at_start = Some(ConnectionsAtStart { open: 0, wanted: 64 });
    let warnings = judge(&LoadOutcome { connections_at_start: at_start, ..refused }, &closed()).warnings;
    assert!(warnings.iter().all(|it| !matches!(it, Warning::BegunPartly { .. })), "{warnings:?}");
}

#[test]
fn a_load_in_which_nothing_happened_divides_by_nothing() {
    let health = judge(&LoadOutcome::default(), &open(1.0));
    assert_eq!((health.cpu_us_per_request, health.cpu_share, health.bottleneck), (0.0, 0.0, None));
}

#[test]
fn a_generator_that_was_stopped_is_the_bottleneck_unless_that_was_a_small_part_of_the_load() {
    let after = |stopped_ns: u64| {
        let mut outcome = healthy();
        outcome.stopped_ns = stopped_ns;
        let health = judge(&outcome, &closed());
        (health.bottleneck.is_some(), health.warnings[0].id())
    };
    let elapsed_ns = (healthy().elapsed_s() * 1e9) as u64;
    assert_eq!(after(elapsed_ns / 2), (true, "generator-stopped"));
    assert_eq!(after(elapsed_ns / 1_000), (false, "generator-stopped"));
    assert_eq!(after(0), (false, "closed-loop"));
}
