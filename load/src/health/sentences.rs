//! Checks that warnings agree with the counts and times of their result, whatever these are.

use super::{Health, Warning, judge};
use crate::outcome::{Counts, GeneratorCost, LoadOutcome};
use crate::plan::{Arrivals, LoadPlan, Pacing, RateShape, Stop};
use crate::report::LoadReport;
use crate::request::{Origin, RequestSource};
use crate::setting::Setting;
use crate::times::Times;
use proptest::collection::vec;
use proptest::prelude::*;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

/// Times from a microsecond to ten seconds.
fn nanoseconds() -> impl Strategy<Value = u64> {
    (3_u32..10, 1_u64..10).prop_map(|(power, digit)| digit * 10_u64.pow(power))
}

fn times() -> impl Strategy<Value = Times> {
    vec(nanoseconds(), 0..5).prop_map(|all| {
        let mut times = Times::default();
        all.into_iter().for_each(|ns| times.record_ns(ns));
        times
    })
}

fn outcome() -> impl Strategy<Value = LoadOutcome> {
    let all = (times(), times(), times(), times());
    (all, nanoseconds(), nanoseconds()).prop_map(
        |((ok, unfinished, not_sent, own_lag), elapsed_ns, cpu_ns)| {
            let counts = Counts {
                sent: ok.count() + unfinished.count(),
                ok: ok.count(),
                unfinished: unfinished.count(),
                not_sent: not_sent.count(),
                ..Counts::default()
            };
            LoadOutcome {
                ended_ns: elapsed_ns,
                last_sent_ns: elapsed_ns,
                counts,
                service_time: ok.clone(),
                response_time: ok,
                unfinished_age: unfinished,
                not_sent_age: not_sent,
                send_lag: own_lag.clone(),
                own_lag,
                cost: GeneratorCost {
                    threads: 1,
                    cpu_ns,
                    busiest_thread_cpu_ns: cpu_ns,
                    ..GeneratorCost::default()
                },
                ..LoadOutcome::default()
            }
        },
    )
}

fn plan(rate_per_s: Option<f64>) -> LoadPlan {
    let origin = Origin { tls: false, host: "127.0.0.1".to_owned(), port: 80 };
    let stop = Stop::Duration(Duration::from_secs(1));
    let shape = |rate_per_s| RateShape::Constant { rate_per_s };
    LoadPlan::closed(Arc::new(RequestSource::get(origin, "/")), NonZeroU32::MIN, stop).with(|plan| {
        if let Some(rate_per_s) = rate_per_s {
            plan.pacing = Pacing::Open { shape: shape(rate_per_s), arrivals: Arrivals::Constant };
        }
    })
}

fn check(outcome: &LoadOutcome, plan: &LoadPlan) {
    let Health { warnings, cpu_share, bottleneck, .. } = judge(outcome, plan);
    let report = LoadReport::new(outcome, plan);
    assert_eq!(
        (report.generator.bottleneck, report.generator.why.is_some()),
        (bottleneck.is_some(), bottleneck.is_some())
    );
    assert!(cpu_share <= 1.0, "{cpu_share} of a core");
    for warning in warnings {
        let text = warning.to_string();
        assert!(!text.contains(" 0 ms") && !text.contains(" 0 requests") && !text.contains("NaN"), "{text}");
        if outcome.counts.ok == 0 {
            assert!(!text.contains("times are") && !text.contains("times of"), "no times: {text}");
        }
        let counts = outcome.counts;
        let longest_ms = report.response_time_ms.map(|times| times.max);
        match warning {
            Warning::GeneratorBusy { share, .. } => {
                assert!(share <= 1.0 && outcome.elapsed_s() >= 0.1, "{text}");
            }
            Warning::Unfinished { count, oldest_ms } => {
                assert!(count == counts.unfinished && longest_ms.is_some_and(|ms| ms < oldest_ms), "{text}");
            }
            Warning::NothingAnswered { count, .. } => {
                assert!(count == counts.unfinished && longest_ms.is_none() && counts.ok == 0, "{text}");
            }
            Warning::NotSent { count, .. } => assert_eq!(count, counts.not_sent, "{text}"),
            _ => {}
        }
    }
}

proptest! {
    #[test]
    fn no_sentence_contradicts_a_figure_of_the_same_result(outcome in outcome()) {
        check(&outcome, &plan(None));
        check(&outcome, &plan(Some(100.0)));
    }
}

#[test]
fn the_oldest_request_is_as_old_as_it_was() {
    let aged = |answered: bool| {
        let mut outcome =
            LoadOutcome { counts: Counts { unfinished: 1, ..Counts::default() }, ..LoadOutcome::default() };
        outcome.unfinished_age.record_ns(314_000);
        if answered {
            outcome.response_time.record_ns(100_000);
        }
        let warnings = judge(&outcome, &plan(None)).warnings;
        warnings[0].to_string()
    };
    assert!(aged(true).contains("the oldest for 0.314 ms, longer than any answer took"), "{}", aged(true));
    assert!(
        aged(false).ends_with("the oldest for 0.314 ms, and no expected response came"),
        "{}",
        aged(false)
    );
}

#[test]
fn a_load_that_ends_at_once_shows_no_bottleneck() {
    let outcome = |elapsed_ms: u64| LoadOutcome {
        ended_ns: elapsed_ms * 1_000_000,
        counts: Counts { sent: 1, ok: 1, ..Counts::default() },
        cost: GeneratorCost {
            threads: 1,
            busiest_thread_cpu_ns: elapsed_ms * 1_370_000,
            ..GeneratorCost::default()
        },
        ..LoadOutcome::default()
    };
    assert_eq!(judge(&outcome(1), &plan(None)).bottleneck, None);
    let health = judge(&outcome(1_000), &plan(None));
    assert!(health.bottleneck.unwrap().sentence(Setting::field).contains("used 100 % of a core"));
}
