//! Tests of open loads so fast that responses wait for the next request, without loss or delay.

use super::{HI, LARGE, Server, large_posts, open, outcome_of, plan, requests};
use std::collections::BTreeSet;
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use threadcount_load::failure::FailureCause;
use threadcount_load::plan::{Arrivals, LoadPlan, Pacing, RateShape};
use threadcount_load::request::{RequestSource, Target};

/// One request every 0.25 ms.
const RATE_PER_S: f64 = 4_000.0;

/// A fast load of `count` requests.
fn fast_plan(server: &Server, count: u64) -> LoadPlan {
    plan(server, 8, requests(count)).with(|plan| {
        (plan.pacing, plan.threads) = (open(RATE_PER_S), NonZeroU32::new(1));
    })
}

#[test]
fn every_answer_is_seen_and_none_before_its_request() {
    let server = Server::answering();
    let plan = fast_plan(&server, 800);
    let outcome = outcome_of(&plan);
    assert_eq!(outcome.counts.ok, 800, "{:?}", outcome.failures);
    assert!(outcome.stamped <= 800);
    // A response cannot be complete before its request was sent, even with a wrong stamp.
    assert!(outcome.service_time.at_quantile(0.0) > Duration::ZERO);
    assert!(outcome.elapsed_s() >= 799.0 / RATE_PER_S, "the last is due then");
}

#[test]
fn a_closed_loop_does_not_ask_for_stamps() {
    let server = Server::answering();
    let plan = plan(&server, 8, requests(100));
    assert_eq!(outcome_of(&plan).stamped, 0);
}

#[test]
fn poisson_arrivals_and_ramps_send_exactly_what_they_should() {
    let server = Server::answering();
    let over = Duration::from_millis(500);
    let mut plan = fast_plan(&server, 800);
    let shape = RateShape::Ramp { from_per_s: 100.0, to_per_s: 2.0 * RATE_PER_S, over };
    plan.pacing = Pacing::Open { shape, arrivals: Arrivals::Poisson };
    assert_eq!(outcome_of(&plan).counts.ok, 800);
}

#[test]
fn answers_in_two_pieces_are_put_together() {
    let server = Server::start(|conversation| {
        while conversation.request().is_some() && conversation.say(&HI[..20]) {
            std::thread::yield_now();
            conversation.say(&HI[20..]);
        }
    });
    let plan = fast_plan(&server, 400);
    let outcome = outcome_of(&plan);
    assert_eq!(outcome.counts.ok, 400, "{:?}", outcome.failures);
}

#[test]
fn large_answers_after_small_ones_come_through_whole() {
    let mut large = b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n".to_vec();
    large.resize(large.len() + 1_000_000, b'x');
    let server = Server::start(move |conversation| {
        let mut count = 0;
        while conversation.request().is_some() {
            count += 1;
            if !conversation.say(if count == 3 { &large } else { HI }) {
                return;
            }
        }
    });
    let plan = fast_plan(&server, 80);
    let outcome = outcome_of(&plan);
    assert_eq!(outcome.counts.ok, 80, "{:?}", outcome.failures);
    // Connections are served in turn, so that each gets its third response.
    assert!(outcome.bytes.received > 1_000_000);
}

#[test]
fn large_requests_leave_whole_while_answers_may_wait() {
    let server = Server::start(|conversation| {
        while conversation.request().is_some() && conversation.body(LARGE) && conversation.say(HI) {}
    });
    let fast = fast_plan(&server, 6);
    let plan = fast.with(|changed| changed.requests = large_posts(&server, 2, 6).requests);
    assert_eq!(outcome_of(&plan).counts.ok, 6);
}

#[test]
fn different_requests_arrive_once_each() {
    let seen = Arc::new(Mutex::new(BTreeSet::new()));
    let server = Server::start({
        let seen = seen.clone();
        move |conversation| {
            while let Some(head) = conversation.request() {
                let path = head.split(' ').nth(1).unwrap_or_default();
                seen.lock().unwrap().insert(path.trim_start_matches('/').parse::<u64>().unwrap());
                conversation.say(HI);
            }
        }
    });
    let mut plan = fast_plan(&server, 400);
    let target = Target::get(&format!("http://{}/{{seq:1}}", server.address)).unwrap();
    plan.requests = Arc::new(RequestSource::new(vec![target]).unwrap());
    assert_eq!(outcome_of(&plan).counts.ok, 400);
    assert_eq!(std::mem::take(&mut *seen.lock().unwrap()), (1..=400).collect::<BTreeSet<u64>>());
}

#[test]
fn bodies_that_end_with_their_connections_are_complete() {
    let server = Server::start(|conversation| {
        conversation.request();
        conversation.say(b"HTTP/1.1 200 OK\r\n\r\nuntil the end");
        conversation.close();
    });
    let plan = fast_plan(&server, 100);
    let outcome = outcome_of(&plan);
    assert_eq!(outcome.counts.ok, 100, "{:?}", outcome.failures);
}

#[test]
fn a_server_that_falls_silent_is_a_timeout() {
    let server = Server::start(|conversation| {
        for _ in 0..20 {
            if conversation.request().is_none() || !conversation.say(HI) {
                return;
            }
        }
        conversation.wait_for_close();
    });
    let mut plan = fast_plan(&server, 400);
    plan.request_timeout = Duration::from_millis(200);
    let outcome = outcome_of(&plan);
    assert_eq!(outcome.counts.sent, 400);
    assert!(outcome.failures.contains_key(&FailureCause::RequestTimeout), "{:?}", outcome.failures);
    assert!(outcome.failed_time.at_quantile(0.0) >= Duration::from_millis(200));
}
