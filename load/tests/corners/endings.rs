//! Connections that end or fall silent under a request.

use super::transport::{Transport, over, over_each_way};
use super::{ms, outcome_of, requests};
use crate::server::{Reply, Server};
use std::num::NonZeroU32;
use std::time::Duration;
use threadcount_load::failure::FailureCause;
use threadcount_load::plan::Pacing;

#[test]
fn a_request_that_was_read_and_dropped_is_a_failure_and_is_not_sent_again() {
    over_each_way(|way| {
        let server = Server::start(way.transport, |request| match request.nth {
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
fn a_request_that_crossed_the_close_of_an_idle_connection_is_sent_again() {
    over(&[Transport::Plain, Transport::Tls], |way| {
        let server = Server::start(way.transport, |request| match request.connection {
            0 => Reply::answer_and_abandon(),
            _ => Reply::answer("hi"),
        });
        let outcome = outcome_of(&way.plan(&server, 1, Pacing::Closed, requests(5)));
        assert_eq!((outcome.counts.ok, outcome.counts.resent), (5, 1), "{way:?} {:?}", outcome.failures);
        assert_eq!((server.requests(), server.connections()), (5, 2));
    });
}

#[test]
fn a_connection_that_falls_silent_is_replaced_after_the_first_timeout() {
    over_each_way(|way| {
        let server = Server::start(way.transport, |request| match (request.connection, request.nth) {
            (0, 2..) => Reply::silence(),
            _ => Reply::answer("hi"),
        });
        let plan = way
            .plan(&server, 1, Pacing::Closed, requests(10))
            .with(|plan| plan.request_timeout = Duration::from_millis(400));
        let outcome = outcome_of(&plan);
        assert_eq!((outcome.counts.ok, outcome.counts.failed), (9, 1), "{way:?}: {:?}", outcome.failures);
        assert_eq!(outcome.failures.get(&FailureCause::RequestTimeout), Some(&1));
        assert_eq!((server.connections(), outcome.connections_opened), (2, 2));
        assert!(ms(outcome.failed_time.at_quantile(0.0)) >= 399.0);
    });
}

#[test]
fn no_stream_of_a_silent_connection_is_used_again() {
    over(&[Transport::H2c, Transport::H2], |way| {
        let server = Server::start(way.transport, |request| match request.connection {
            0 => Reply::silence(),
            _ => Reply::answer("hi"),
        });
        let plan = way.plan(&server, 1, Pacing::Closed, requests(40)).with(|plan| {
            plan.request_timeout = Duration::from_millis(400);
            plan.streams_per_connection = NonZeroU32::new(4).unwrap();
        });
        let outcome = outcome_of(&plan);
        assert_eq!((outcome.counts.ok, outcome.counts.failed), (36, 4), "{way:?}: {:?}", outcome.failures);
        assert_eq!((server.carried()[0], server.connections()), (4, 2));
    });
}
