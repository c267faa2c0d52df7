//! Tests of connections that the server ends while they are idle.

use super::rows::logged;
use super::transport::{TRANSPORTS, Transport, over, over_each_way};
use super::{child, comes_true, open, outcome_of, requests};
use crate::reply::{Closing, Reply};
use crate::server::{REQUEST_TIMEOUTS, Server};
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;
use threadcount_load::plan::LoadPlan;
use threadcount_load::request::{RequestSource, Target};

#[test]
fn a_408_on_an_idle_connection_is_its_end_and_no_failure() {
    over_each_way(|way| {
        for (farewell, is_apart) in REQUEST_TIMEOUTS.into_iter().zip([true, false]) {
            let server = Server::start(way, move |_| Reply::answer_and_end(farewell, is_apart));
            let plan = way.plan(&server, 1, open(0.5), requests(3));
            let patient = plan.with(|plan| plan.connect_timeout = Duration::from_secs(60));
            let (outcome, _) = logged("408", way, patient);
            assert_eq!((outcome.counts.ok, outcome.counts.resent), (3, 0), "{way:?} {:?}", outcome.failures);
            assert_eq!((outcome.connections_opened, outcome.unsolicited), (3, 0), "{way:?}");
            assert_eq!(server.requests(), 3);
        }
    });
}

#[test]
fn a_response_that_ends_an_idle_connection_may_have_any_status() {
    over(&[Transport::Plain, Transport::Tls], |way| {
        let farewell = "HTTP/1.1 503 Stopping\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
        let server = Server::start(way, move |_| Reply::answer_and_end(farewell, false));
        let outcome = outcome_of(&way.plan(&server, 1, open(0.5), requests(2)));
        assert_eq!((outcome.counts.ok, outcome.unsolicited), (2, 0), "{way:?} {:?}", outcome.failures);
    });
}

fn ends_in_silence(transports: &[Transport], closing: Closing) {
    over(transports, |way| {
        let server = Server::start(way, move |_| Reply::answer_and_close(closing));
        let (outcome, _) = logged("closed", way, way.plan(&server, 1, open(0.5), requests(3)));
        assert_eq!((outcome.counts.ok, outcome.counts.resent), (3, 0), "{way:?} {:?}", outcome.failures);
        assert_eq!((outcome.connections_opened, outcome.unsolicited), (3, 0), "{way:?}");
        assert_eq!(server.carried(), [1, 1, 1], "{way:?}");
    });
}

#[test]
fn a_fin_alone_ends_an_idle_connection() {
    ends_in_silence(&TRANSPORTS, Closing::Fin);
}

#[test]
fn a_close_notify_alone_ends_an_idle_connection() {
    ends_in_silence(&[Transport::Tls, Transport::H2], Closing::CloseNotify);
}

#[test]
fn a_goaway_alone_ends_an_idle_connection() {
    ends_in_silence(&[Transport::H2c, Transport::H2], Closing::GoAway);
}

/// The server abandons its first connection, which took a second to open, so that the generator takes a second for a round trip.
#[test]
fn a_request_that_crossed_a_408_is_sent_again_whatever_its_method() {
    over(&[Transport::Plain, Transport::Tls], |way| {
        let with_body = "HTTP/1.1 408 Too Late\r\nContent-Length: 3\r\nConnection: close\r\n\r\nbye";
        let without_close = "HTTP/1.1 408 Too Late\r\nContent-Length: 0\r\n\r\n";
        for farewell in REQUEST_TIMEOUTS.into_iter().chain([with_body, without_close]) {
            let server =
                Server::start_slow_to_open(way, 1, Duration::ZERO, move |request| match request.connection {
                    0 => Reply::answer_and_abandon_with(farewell),
                    _ => Reply::answer("hi"),
                });
            let outcome = outcome_of(&way.plan(&server, 1, open(1.0), requests(3)).with(post));
            assert_eq!((outcome.counts.ok, outcome.counts.resent), (3, 1), "{way:?} {:?}", outcome.failures);
            assert_eq!(outcome.status.keys().collect::<Vec<_>>(), [&200], "{way:?}");
            assert_eq!(outcome.first_failing_body, None, "no request ended with it");
        }
    });
}

/// A request that may not be sent again.
fn post(plan: &mut LoadPlan) {
    let target = Target::new("POST", &format!("{}/", plan.requests.origin())).unwrap();
    plan.requests = Arc::new(RequestSource::new(vec![target]).unwrap());
}

fn load((way, port): (Transport, u16)) {
    let plan = way.plan_to(port, 64, open(300.0), requests(900)).with(|plan| {
        post(plan);
        plan.connect_timeout = Duration::from_secs(60);
        plan.streams_per_connection = NonZeroU32::MIN;
    });
    let (outcome, _) = logged("ended", way, plan);
    let counts = outcome.counts;
    assert_eq!((counts.ok, counts.resent, outcome.unsolicited), (900, 0, 0), "{:?}", outcome.failures);
}

/// All connections end while requests fall due. The generator is stopped meanwhile, and finds both when it continues.
#[test]
fn no_request_leaves_over_a_connection_that_has_ended() {
    if let Some(part) = child::part() {
        return load(part);
    }
    let name = thread::current().name().unwrap().to_owned();
    over_each_way(|way| {
        // The server holds back its last responses during the stop, so that the load cannot end before it.
        let (gate, answered) = (Arc::new(Mutex::new(())), AtomicU64::new(0));
        let held = gate.lock().unwrap();
        let passing = Arc::clone(&gate);
        let server = Server::start(way, move |_| {
            if answered.fetch_add(1, Ordering::SeqCst) >= 800 {
                drop(passing.lock());
            }
            Reply::answer("hi")
        });
        let mut generator = child::start(&name, way, server.port);
        comes_true("each connection has had a request", || server.requests() >= 100);
        child::stop_during(&generator, || {
            drop(held);
            server.end_connections();
            thread::sleep(Duration::from_millis(100));
        });
        assert!(generator.wait().unwrap().success(), "{way:?}");
        assert_eq!(server.requests(), 900, "{way:?}");
    });
}
