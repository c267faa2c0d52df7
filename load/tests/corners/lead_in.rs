//! Checks that events before counting are in no figure, and that nothing is lost when counting begins.

use super::transport::over_each_way;
use super::{ms, open, outcome_of};
use crate::reply::Reply;
use crate::server::Server;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use threadcount_load::clock::now_ns;
use threadcount_load::plan::{Pacing, PlanError, Stop};
use threadcount_load::run::{Control, LoadError, run};

const LEAD_IN: Duration = Duration::from_millis(800);
const COUNTED: Stop = Stop::Duration(Duration::from_millis(800));

/// The time of the first request of a connection. Even a busy machine delays no other request for so long.
const FIRST_MS: u64 = 1_500;

#[test]
fn the_first_request_of_each_connection_is_not_in_the_figures() {
    let lead_in = 2 * Duration::from_millis(FIRST_MS);
    over_each_way(|way| {
        for pacing in [Pacing::Closed, open(40.0)] {
            let seen = Mutex::new(Vec::new());
            let server = Server::start(way, move |request| {
                let mut seen = seen.lock().unwrap();
                let is_first = !seen.contains(&request.connection);
                seen.push(request.connection);
                Reply::answer("hi").after_ms(if is_first { FIRST_MS } else { 5 })
            });
            let whole = way.plan(&server, 4, pacing, COUNTED);
            let outcome = outcome_of(&whole.clone().with(|plan| plan.lead_in = lead_in));
            let longest = ms(outcome.response_time.at_quantile(1.0));
            assert!(longest < FIRST_MS as f64, "{way:?}: {longest} ms");
            assert!(
                outcome.elapsed_s() >= 0.8 && outcome.elapsed_s() < lead_in.as_secs_f64(),
                "{}",
                outcome.elapsed_s()
            );
            let seconds: u64 = outcome.seconds.iter().map(|second| second.counts.ok).sum();
            assert_eq!(seconds, outcome.counts.ok, "{way:?}");
            assert_eq!((outcome.connections_opened, outcome.counts.failed), (4, 0), "{way:?}");
        }
    });
}

#[test]
fn what_is_in_flight_when_counting_begins_counts_with_its_whole_time() {
    over_each_way(|way| {
        let server = Server::start(way, |_| Reply::answer("hi").after_ms(1_500));
        let counted = Stop::Duration(Duration::from_secs(2));
        let plan = way.plan(&server, 3, Pacing::Closed, counted).with(|plan| plan.lead_in = LEAD_IN);
        let outcome = outcome_of(&plan);
        let counts = outcome.counts;
        // Requests are sent at 0 and at 1,500 ms, and counted from 800 to 2,800 ms.
        assert_eq!((counts.in_flight_at_start, counts.sent), (3, 3), "{way:?}");
        assert_eq!((counts.ok, counts.unfinished), (3, 3), "{way:?}");
        assert!(ms(outcome.response_time.at_quantile(0.0)) >= 1_490.0, "{way:?}");
        let age_ms = outcome.in_flight_at_start_ns as f64 / 3.0 / 1e6;
        assert!((300.0..=801.0).contains(&age_ms), "{way:?}: {age_ms} ms");
    });
}

#[test]
fn what_was_due_in_the_lead_in_and_was_not_sent_in_it_is_told_from_what_fell_due_after_it() {
    over_each_way(|way| {
        for (answers_after_ms, has_backlog) in [(1, false), (200, true)] {
            let server = Server::start(way, move |_| Reply::answer("hi").after_ms(answers_after_ms));
            let plan = way.plan(&server, 2, open(23.0), COUNTED).with(|plan| plan.lead_in = LEAD_IN);
            let counts = outcome_of(&plan).counts;
            // Of the requests that are due at 0, 43, 87 ms and so on, these are the 20th to the 37th.
            assert_eq!(counts.due(), 18, "{way:?}: {counts:?}");
            // Two connections carry ten requests per second, so at most 8 of the first 19 in 800 ms.
            assert!(!has_backlog || counts.waiting_at_start >= 11, "{way:?}: {counts:?}");
        }
    });
}

#[test]
fn the_caller_knows_when_counting_begins() {
    over_each_way(|way| {
        // The kernel retries a connect after a second.
        let (opening, greets_after) = (Duration::from_secs(1), Duration::from_millis(200));
        let server = Server::start_slow_to_open(way, 3, greets_after, |_| Reply::answer("hi").after_ms(5));
        let plan = way.plan(&server, 3, Pacing::Closed, COUNTED).with(|plan| plan.lead_in = LEAD_IN);
        let asked_ns = now_ns();
        let mut begins_ns = Vec::new();
        let mut on_begin = || begins_ns.push(now_ns());
        let stop = AtomicBool::new(false);
        let outcome = run(&plan, Control::new(&stop, &mut |_| {}).with_begin(&mut on_begin)).unwrap();
        let [begins_ns] = begins_ns[..] else { panic!("{way:?}: {begins_ns:?}") };
        assert!(begins_ns >= outcome.started_ns, "{way:?}");
        let after = Duration::from_nanos(begins_ns - asked_ns);
        assert!(after >= opening + LEAD_IN, "{way:?}: {after:?}");
    });
}

#[test]
fn a_load_that_is_stopped_in_its_lead_in_has_counted_nothing() {
    over_each_way(|way| {
        let server = Server::start(way, |_| Reply::answer("hi").after_ms(50));
        let plan =
            way.plan(&server, 2, Pacing::Closed, COUNTED).with(|plan| plan.lead_in = Duration::from_secs(60));
        let stop = AtomicBool::new(false);
        let mut has_begun = false;
        let outcome = std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(Duration::from_millis(300));
                stop.store(true, Ordering::Relaxed);
            });
            let on_begin = &mut || has_begun = true;
            run(&plan, Control::new(&stop, &mut |_| {}).with_begin(on_begin)).unwrap()
        });
        assert!(!has_begun, "{way:?}");
        assert_eq!((outcome.counts.ok, outcome.counts.sent, outcome.seconds.len()), (0, 0, 1), "{way:?}");
        assert_eq!(outcome.counts.in_flight_at_start, outcome.counts.unfinished);
        assert!(outcome.interrupted);
    });
}

#[test]
fn a_lead_in_is_refused_where_requests_end_the_load_or_its_rate_changes() {
    over_each_way(|way| {
        let server = Server::start(way, |_| Reply::answer("hi"));
        let counted = way.plan(&server, 2, Pacing::Closed, super::requests(5));
        let climbs = Pacing::Open {
            shape: threadcount_load::plan::RateShape::Ramp {
                from_per_s: 1.0,
                to_per_s: 9.0,
                over: Duration::from_secs(1),
            },
            arrivals: threadcount_load::plan::Arrivals::Constant,
        };
        let changing = way.plan(&server, 2, climbs, COUNTED);
        for (plan, error) in
            [(counted, PlanError::LeadInOfCountedRequests), (changing, PlanError::LeadInOfChangingRate)]
        {
            let plan = plan.with(|plan| plan.lead_in = LEAD_IN);
            let refused = run(&plan, Control::new(&AtomicBool::new(false), &mut |_| {}));
            assert!(matches!(refused, Err(LoadError::Plan(why)) if why == error));
        }
    });
}
