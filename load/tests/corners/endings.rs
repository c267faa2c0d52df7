//! Tests of connections that end or fall silent during a request.

use super::transport::{Transport, over, over_each_way};
use super::{ms, open, outcome_of, requests};
use crate::reply::Reply;
use crate::server::Server;
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use threadcount_load::failure::FailureCause;
use threadcount_load::plan::Pacing;
use threadcount_load::request::{RequestSource, Target};

#[test]
fn a_request_that_was_read_and_dropped_is_a_failure_and_is_not_sent_again() {
    over_each_way(|way| {
        let server = Server::start(way, |request| match request.nth {
            1 => Reply::answer("hi"),
            _ => Reply::close().after_ms(700),
        });
        let outcome = outcome_of(&way.plan(&server, 1, Pacing::Closed, requests(4)));
        assert_eq!((outcome.counts.ok, outcome.counts.failed, outcome.counts.resent), (2, 2, 0), "{way:?}");
        assert_eq!(
            outcome.failures.get(&FailureCause::ClosedBeforeAnswer),
            Some(&2),
            "{:?}",
            outcome.failures
        );
        assert_eq!((server.requests(), server.connections()), (4, 2));
        assert!(ms(outcome.failed_time.at_quantile(0.0)) >= 699.0);
    });
}

#[test]
fn a_request_that_was_read_before_a_reset_is_a_failure_and_is_not_sent_again() {
    over_each_way(|way| {
        let server = Server::start(way, |request| match request.nth {
            1 => Reply::answer("hi"),
            _ => Reply::reset().after_ms(700),
        });
        let outcome = outcome_of(&way.plan(&server, 1, Pacing::Closed, requests(4)));
        assert_eq!((outcome.counts.ok, outcome.counts.failed, outcome.counts.resent), (2, 2, 0), "{way:?}");
        assert_eq!(outcome.failures.get(&FailureCause::ConnectionReset), Some(&2), "{:?}", outcome.failures);
        assert_eq!((server.requests(), server.connections()), (4, 2));
    });
}

/// A server that abandons its first connection, which took a second to open, so that the generator takes a second for a round trip.
fn abandoning_server(transport: Transport) -> Server {
    Server::start_slow_to_open(transport, 1, Duration::ZERO, |request| match request.connection {
        0 => Reply::answer_and_abandon(),
        _ => Reply::answer("hi"),
    })
}

#[test]
fn a_request_that_crossed_the_close_of_an_idle_connection_is_sent_again() {
    over_each_way(|way| {
        let server = abandoning_server(way);
        let outcome = outcome_of(&way.plan(&server, 1, open(0.5), requests(3)));
        assert_eq!((outcome.counts.ok, outcome.counts.resent), (3, 1), "{way:?} {:?}", outcome.failures);
        assert_eq!((server.requests(), server.connections()), (3, 2));
    });
}

#[test]
fn a_request_that_may_not_be_repeated_fails_where_it_crossed_the_close() {
    over_each_way(|way| {
        let server = abandoning_server(way);
        let plan = way.plan(&server, 1, open(0.5), requests(2)).with(|plan| {
            let target = Target::new("POST", &format!("{}/", plan.requests.origin())).unwrap();
            plan.requests = Arc::new(RequestSource::new(vec![target]).unwrap());
        });
        let outcome = outcome_of(&plan);
        assert_eq!((outcome.counts.ok, outcome.counts.failed, outcome.counts.resent), (1, 1, 0), "{way:?}");
    });
}

#[test]
fn a_connection_with_an_older_request_is_not_closed_as_idle() {
    over(&[Transport::H2c, Transport::H2], |way| {
        // The requests are 1.4 s apart. The generator takes a second for a round trip, or more if the kernel connects more than twice.
        let (begun, arrived) = (Instant::now(), Mutex::new(Vec::new()));
        let server = Server::start_slow_to_open(way, 1, Duration::ZERO, move |request| {
            let mut arrived = arrived.lock().unwrap();
            arrived.push(Instant::now());
            match (request.connection, request.nth) {
                (0, 2) => Reply::silence(),
                (0, 3) => {
                    // No round trip took longer than the first request needed to arrive.
                    let longest = arrived[0] - begun + Duration::from_millis(20);
                    Reply::reset().at(arrived[1] + longest)
                }
                _ => Reply::answer("hi"),
            }
        });
        let plan = way
            .plan(&server, 1, open(0.7), requests(3))
            .with(|plan| plan.streams_per_connection = NonZeroU32::new(2).unwrap());
        let outcome = outcome_of(&plan);
        assert_eq!((outcome.counts.ok, outcome.counts.failed, outcome.counts.resent), (1, 2, 0), "{way:?}");
        assert_eq!(outcome.failures.get(&FailureCause::ConnectionReset), Some(&2), "{:?}", outcome.failures);
    });
}

#[test]
fn a_connection_that_falls_silent_is_replaced_after_the_first_timeout() {
    over_each_way(|way| {
        let server = Server::start(way, |request| match (request.connection, request.nth) {
            (0, 2..) => Reply::silence(),
            _ => Reply::answer("hi"),
        });
        let plan = way
            .plan(&server, 1, Pacing::Closed, requests(10))
            .with(|plan| plan.request_timeout = Duration::from_secs(3));
        let outcome = outcome_of(&plan);
        assert_eq!((outcome.counts.ok, outcome.counts.failed), (9, 1), "{way:?}: {:?}", outcome.failures);
        assert_eq!(outcome.failures.get(&FailureCause::RequestTimeout), Some(&1));
        assert_eq!((server.connections(), outcome.connections_opened), (2, 2));
        assert!(ms(outcome.failed_time.at_quantile(0.0)) >= 2_990.0);
    });
}

#[test]
fn no_stream_of_a_silent_connection_is_used_again() {
    over(&[Transport::H2c, Transport::H2], |way| {
        let server = Server::start(way, |request| match request.connection {
            0 => Reply::silence(),
            _ => Reply::answer("hi"),
        });
        let plan = way.plan(&server, 1, Pacing::Closed, requests(40)).with(|plan| {
            plan.request_timeout = Duration::from_secs(3);
            plan.streams_per_connection = NonZeroU32::new(4).unwrap();
        });
        let outcome = outcome_of(&plan);
        // The end of the handshake may come after the first four requests were sent. That is not silence, and each of them is followed by
        // another request.
        let failed = outcome.counts.failed;
        assert!((4..=8).contains(&failed), "{way:?}: {:?}", outcome.failures);
        assert_eq!((outcome.counts.ok, server.carried()[0], server.connections()), (40 - failed, failed, 2));
    });
}

#[test]
fn each_connection_over_tls_ends_with_a_close_notify() {
    over(&[Transport::Tls, Transport::H2], |way| {
        for keep_alive in [true, false] {
            let server = Server::start(way, |_| Reply::answer("hi"));
            let plan = way.plan(&server, 3, Pacing::Closed, requests(30));
            let outcome = outcome_of(&plan.with(|plan| plan.keep_alive = keep_alive));
            assert_eq!(outcome.counts.ok, 30, "{way:?} {:?}", outcome.failures);
            assert_eq!(server.cut_off(), 0, "{way:?} {keep_alive}");
        }
    });
}
