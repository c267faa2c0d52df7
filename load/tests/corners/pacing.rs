//! Tests of when a load begins and ends, and how its work is divided.

use super::transport::{Transport, over, over_each_way};
use super::{ms, open, outcome_of, requests};
use crate::reply::Reply;
use crate::server::Server;
use std::num::{NonZeroU32, NonZeroU64};
use std::time::Duration;
use threadcount_load::plan::{Pacing, Stop};
use threadcount_load::report::LoadReport;

#[test]
fn a_closed_loop_divides_its_requests_over_connections_and_not_over_threads() {
    over_each_way(|way| {
        for threads in [1, 2] {
            // Long enough that a thread without a core for a while misses few of its turns.
            let server = Server::start(way, |_| Reply::answer("hi").after_ms(40));
            let plan = way
                .plan(&server, 3, Pacing::Closed, requests(210))
                .with(|plan| plan.threads = NonZeroU32::new(threads));
            let outcome = outcome_of(&plan);
            assert_eq!((outcome.counts.ok, outcome.cost.threads), (210, threads));
            let carried = server.carried();
            let (least, most) = (carried.iter().min().unwrap(), carried.iter().max().unwrap());
            assert_eq!(carried.len(), 3);
            assert!(least + 25 >= *most, "{threads} threads: {carried:?}");
        }
    });
}

#[test]
fn an_open_load_divides_its_requests_over_connections_and_not_over_threads() {
    over_each_way(|way| {
        for threads in [1, 2] {
            let server = Server::start(way, |_| Reply::answer("hi").after_ms(10));
            let plan = way
                .plan(&server, 3, open(240.0), requests(240))
                .with(|plan| plan.threads = NonZeroU32::new(threads));
            assert_eq!(outcome_of(&plan).counts.ok, 240);
            let carried = server.carried();
            let (least, most) = (carried.iter().min().unwrap(), carried.iter().max().unwrap());
            assert_eq!(carried.len(), 3);
            assert!(least + 25 >= *most, "{threads} threads: {carried:?}");
        }
    });
}

/// The kernel retries a connect after this time.
const CONNECT_MS: f64 = 1_000.0;

#[test]
fn no_response_time_of_an_open_load_holds_the_opening_of_its_connections() {
    over_each_way(|way| {
        let server = Server::start_slow_to_open(way, 3, Duration::from_millis(200), |_| Reply::answer("hi"));
        let begun = std::time::Instant::now();
        let outcome = outcome_of(&way.plan(&server, 3, open(100.0), requests(20)));
        assert_eq!((outcome.counts.ok, outcome.connections_opened), (20, 3), "{:?}", outcome.failures);
        assert!(ms(begun.elapsed()) >= CONNECT_MS, "its connections took their time");
        let longest = ms(outcome.response_time.at_quantile(1.0));
        assert!(longest < 0.8 * CONNECT_MS, "{way:?}: {longest} ms");
        assert!(outcome.elapsed_s() * 1e3 < begun.elapsed().as_secs_f64() * 1e3 - 0.9 * CONNECT_MS);
    });
}

#[test]
fn an_open_load_that_begins_with_a_part_of_its_connections_says_so() {
    over(&[Transport::Tls, Transport::H2c, Transport::H2], |way| {
        let server = Server::start_greeting(way, 2, Duration::from_secs(12));
        let plan = way
            .plan(&server, 5, open(100.0), requests(20))
            .with(|plan| plan.connect_timeout = Duration::from_secs(4));
        let outcome = outcome_of(&plan);
        let at_start = outcome.connections_at_start.unwrap();
        assert_eq!((at_start.open, at_start.wanted), (2, 5), "{way:?}");
        let report = LoadReport::new(&outcome, &plan);
        assert_eq!(report.connections.at_start.map(|at_start| at_start.open), Some(2));
        let printed =
            report.warnings.iter().filter(|warning| warning.contains("began with 2 of 5 connections"));
        assert_eq!(printed.count(), 1, "{:?}", report.warnings);
    });
    over_each_way(|way| {
        let server = Server::start(way, |_| Reply::answer("hi"));
        let outcome = outcome_of(&way.plan(&server, 5, open(100.0), requests(20)));
        assert_eq!(
            outcome.connections_at_start.map(|at_start| (at_start.open, at_start.wanted)),
            Some((5, 5))
        );
    });
}

#[test]
fn a_handshake_does_not_wait_until_the_next_request_is_due() {
    over_each_way(|way| {
        let server = Server::start(way, |_| Reply::answer("hi"));
        // The next request is due after 250 ms, and an idle generator wakes up every 100 ms.
        let plan = way.plan(&server, 4, open(4.0), requests(8)).with(|plan| plan.keep_alive = false);
        let outcome = outcome_of(&plan);
        assert_eq!(outcome.counts.ok, 8, "{way:?}: {:?}", outcome.failures);
        let least = ms(outcome.service_time.at_quantile(0.0));
        assert!(least < 90.0, "{way:?}: {least} ms");
    });
}

#[test]
fn a_generator_that_waits_for_the_last_responses_rests() {
    over_each_way(|way| {
        let server = Server::start(way, |request| {
            Reply::answer("hi").after_ms(if request.connection == 0 { 1_500 } else { 1 })
        });
        let stop = Stop::Duration(Duration::from_millis(300));
        let plan =
            way.plan(&server, 2, Pacing::Closed, stop).with(|plan| plan.grace = Duration::from_secs(10));
        let outcome = outcome_of(&plan);
        assert_eq!(outcome.counts.unfinished, 0, "{way:?}");
        let busy_s = outcome.cost.cpu_ns as f64 / 1e9;
        assert!(busy_s < 0.7, "{way:?}: {busy_s} s of CPU, 1.2 s of them are waiting");
    });
}

#[test]
fn an_open_load_lasts_as_long_as_it_was_asked_to() {
    over_each_way(|way| {
        let server = Server::start(way, |_| Reply::answer("hi"));
        let lasts = Duration::from_millis(1_900);
        // Requests are due at 0 and 1,000 ms; the next one would be due at 2,000 ms.
        let plan = way.plan(&server, 2, open(1.0), Stop::Duration(lasts));
        let outcome = outcome_of(&plan.with(|plan| plan.grace = Duration::from_secs(20)));
        assert_eq!((outcome.counts.sent, outcome.counts.ok, outcome.counts.not_sent), (2, 2, 0));
        assert!(outcome.elapsed_s() >= 1.9, "{way:?}: it ended after {} s", outcome.elapsed_s());
        assert!(outcome.elapsed_s() < 10.0, "{way:?}: it ended after {} s", outcome.elapsed_s());
    });
}

#[test]
fn a_response_within_the_grace_time_counts() {
    over_each_way(|way| {
        let server = Server::start(way, |_| Reply::answer("hi").after_ms(700));
        let stop = Stop::Either(NonZeroU64::new(5).unwrap(), Duration::from_millis(800));
        // Requests are due at 0, 100, .. 400 ms; the last three responses cannot be complete within 800 ms.
        let with_grace =
            way.plan(&server, 8, open(10.0), stop).with(|plan| plan.grace = Duration::from_secs(20));
        let outcome = outcome_of(&with_grace);
        assert_eq!((outcome.counts.sent, outcome.counts.ok, outcome.counts.unfinished), (5, 5, 0));
        assert!((1.1..15.0).contains(&outcome.elapsed_s()), "{way:?}: {} s", outcome.elapsed_s());
        let without = outcome_of(&with_grace.with(|plan| plan.grace = Duration::ZERO));
        assert!(without.counts.unfinished >= 3, "{way:?}: {:?}", without.counts);
    });
}

#[test]
fn what_is_in_flight_when_the_grace_time_is_over_is_unfinished() {
    over_each_way(|way| {
        let server = Server::start(way, |_| Reply::silence());
        let silent = way
            .plan(&server, 2, open(25.0), Stop::Duration(Duration::from_secs(2)))
            .with(|plan| plan.grace = Duration::from_millis(300));
        let outcome = outcome_of(&silent);
        let counts = outcome.counts;
        assert_eq!((counts.sent, counts.unfinished, counts.not_sent), (2, 2, 48), "{way:?}");
        assert!((2.3..15.0).contains(&outcome.elapsed_s()), "{way:?}: {} s", outcome.elapsed_s());
    });
}
