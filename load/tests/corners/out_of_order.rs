//! Checks that a response is complete when its last missing byte has arrived, not when its last byte has.

use super::network::{self, HOST, PORT};
use super::{ms, open, outcome_of, requests};
use std::num::NonZeroU32;
use std::sync::Arc;
use std::thread;
use std::time::Duration;
use threadcount_load::plan::{LoadPlan, Pacing};
use threadcount_load::request::{Origin, RequestSource};

/// How far a stamp may be off.
const BOUND_MS: f64 = 1.0;

/// Checks the times of a load over a network in which the middle segment of each response comes late by `late_ms`.
fn check(pacing: Pacing, late_ms: u64) {
    let _network = network::enter(Duration::from_millis(late_ms));
    let origin = Origin { tls: false, host: HOST.to_string(), port: PORT };
    let source = Arc::new(RequestSource::get(origin, "/"));
    let plan = LoadPlan::closed(source, NonZeroU32::new(10).unwrap(), requests(30)).with(|plan| {
        (plan.pacing, plan.threads) = (pacing, NonZeroU32::new(1));
        plan.connect_timeout = Duration::from_secs(30);
    });
    let outcome = outcome_of(&plan);
    assert_eq!(outcome.counts.ok, 30, "{:?}", outcome.failures);
    let (least, median) =
        (ms(outcome.service_time.at_quantile(0.0)), ms(outcome.response_time.at_quantile(0.5)));
    let late_ms = late_ms as f64;
    assert!(least >= 0.998 * late_ms - BOUND_MS, "one is said to have taken {least} ms of {late_ms}");
    assert!((late_ms - BOUND_MS..late_ms + 1_700.0).contains(&median), "{median} ms");
}

#[test]
fn a_segment_that_came_late_is_in_the_response_time() {
    thread::scope(|scope| {
        // Each check has a thread of its own, because a thread cannot leave its network.
        for late_ms in [2, 5, 300] {
            scope.spawn(move || check(open(20.0), late_ms));
        }
        scope.spawn(move || check(Pacing::Closed, 300));
    });
}
