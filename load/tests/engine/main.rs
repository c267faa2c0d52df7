//! Tests of the plain HTTP/1.1 engine against servers with realistic faults.

#![expect(clippy::unwrap_used, reason = "a test says what went wrong by failing")]

mod closing;
mod fast;
mod server;

use server::{HI, Server};
use std::collections::BTreeSet;
use std::num::{NonZeroU32, NonZeroU64};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};
use threadcount_load::failure::FailureCause;
use threadcount_load::outcome::LoadOutcome;
use threadcount_load::plan::{Arrivals, LoadPlan, Pacing, RateShape, Stop};
use threadcount_load::report::LoadReport;
use threadcount_load::request::{Origin, RequestSource, Target};
use threadcount_load::run::{Control, run};

fn plan(server: &Server, connections: u32, stop: Stop) -> LoadPlan {
    let origin = Origin { tls: false, host: server.address.ip().to_string(), port: server.address.port() };
    let requests = Arc::new(RequestSource::get(origin, "/"));
    LoadPlan::closed(requests, NonZeroU32::new(connections).unwrap(), stop)
}

fn requests(count: u64) -> Stop {
    Stop::Requests(NonZeroU64::new(count).unwrap())
}

fn open(rate_per_s: f64) -> Pacing {
    Pacing::Open { shape: RateShape::Constant { rate_per_s }, arrivals: Arrivals::Constant }
}

/// Runs a plan and checks what must be true of every run.
fn outcome_of(plan: &LoadPlan) -> LoadOutcome {
    outcome_with(plan, &AtomicBool::new(false))
}

fn outcome_with(plan: &LoadPlan, stop: &AtomicBool) -> LoadOutcome {
    let outcome = run(plan, Control::new(stop, &mut |_| {})).unwrap();
    let counts = outcome.counts;
    assert_eq!(
        counts.in_flight_at_start + counts.sent,
        counts.ok + counts.failed + counts.unfinished,
        "{counts:?}"
    );
    assert_eq!(outcome.response_time.count(), counts.ok);
    assert_eq!(outcome.service_time.count(), counts.ok);
    assert_eq!(outcome.failed_time.count(), counts.failed);
    assert_eq!(outcome.failures.values().sum::<u64>(), counts.failed);
    assert_eq!(outcome.unfinished_age.count(), counts.unfinished);
    assert_eq!(outcome.not_sent_age.count(), counts.not_sent);
    assert_eq!(outcome.send_lag.count(), counts.sent);
    let seconds = &outcome.seconds;
    assert_eq!(seconds.iter().map(|second| second.counts.sent).sum::<u64>(), counts.sent);
    assert_eq!(
        seconds.iter().map(|second| second.counts.ok + second.counts.failed).sum::<u64>(),
        counts.ok + counts.failed
    );
    outcome
}

fn comes_true(what: &str, condition: impl Fn() -> bool) {
    let give_up = Instant::now() + Duration::from_secs(60);
    while !condition() {
        assert!(Instant::now() < give_up, "{what}");
        thread::sleep(Duration::from_millis(5));
    }
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

#[test]
fn exactly_the_requests_asked_for_are_sent_and_answered() {
    for (connections, threads, count) in [(1, 1, 1), (3, 2, 100), (7, 3, 1000), (20, 1, 5)] {
        let server = Server::answering();
        let mut plan = plan(&server, connections, requests(count));
        plan.threads = NonZeroU32::new(threads);
        let outcome = outcome_of(&plan);
        assert_eq!(outcome.counts.ok, count);
        assert_eq!(server.requests.load(Ordering::SeqCst) as u64, count);
        assert_eq!(outcome.status[&200], count);
        assert_eq!(outcome.bytes.received, count * HI.len() as u64);
        assert!(outcome.bytes.sent > count * 16);
        assert!(server.accepted.load(Ordering::SeqCst) <= connections);
    }
}

#[test]
fn a_request_waits_for_the_answer_before_it() {
    let server = Server::start(|conversation| {
        while conversation.request().is_some() {
            thread::sleep(Duration::from_millis(2));
            let answer: &[u8] = if conversation.has_more() { b"pipelined" } else { HI };
            conversation.say(answer);
        }
    });
    let plan = plan(&server, 3, requests(60));
    assert_eq!(outcome_of(&plan).counts.ok, 60);
}

#[test]
fn a_duration_ends_with_requests_unfinished_and_their_age() {
    let server = Server::start(|conversation| {
        conversation.request();
        conversation.wait_for_close();
    });
    let plan = plan(&server, 4, Stop::Duration(Duration::from_secs(2)));
    let outcome = outcome_of(&plan);
    assert_eq!((outcome.counts.sent, outcome.counts.unfinished), (4, 4));
    assert!(outcome.elapsed_s() >= 2.0);
    assert!(outcome.unfinished_age.at_quantile(1.0) <= Duration::from_secs_f64(1.1 * outcome.elapsed_s()));
    assert!(ms(outcome.unfinished_age.at_quantile(1.0)) > 100.0);
}

#[test]
fn a_stall_is_in_the_response_time_of_all_that_were_due_in_it() {
    // One connection, 200 requests/s, and the first response takes 500 ms: a request that is due at t waits for 500 ms - t.
    let server = Server::start(|conversation| {
        let mut is_first = true;
        while conversation.request().is_some() {
            if std::mem::take(&mut is_first) {
                thread::sleep(Duration::from_millis(500));
            }
            conversation.say(HI);
        }
    });
    let mut plan = plan(&server, 1, requests(200));
    plan.pacing = open(200.0);
    let outcome = outcome_of(&plan);
    assert_eq!(outcome.counts.ok, 200);
    let (response, service) = (&outcome.response_time, &outcome.service_time);
    assert!(ms(response.at_quantile(1.0)) >= 500.0);
    // 100 of 200 requests were due in the stall, so the 60th percentile waited for at least 100 of its 500 ms.
    assert!(ms(response.at_quantile(0.6)) >= 95.0, "{:?}", response.summary());
    assert!(ms(service.at_quantile(1.0)) >= 500.0);
    assert!(service.at_quantile(0.9) < response.at_quantile(0.9) || ms(service.at_quantile(0.9)) < 95.0);
}

#[test]
fn an_open_load_that_cannot_be_carried_counts_what_was_due_and_not_sent() {
    let server = Server::start(|conversation| {
        conversation.request();
        conversation.wait_for_close();
    });
    let mut plan = plan(&server, 3, Stop::Duration(Duration::from_secs(2)));
    plan.pacing = open(100.0);
    let outcome = outcome_of(&plan);
    let counts = outcome.counts;
    assert_eq!((counts.sent, counts.unfinished, counts.not_sent), (3, 3, 197));
    // The fourth request was due at 30 ms and the last at 1,990 ms.
    assert!(ms(outcome.not_sent_age.at_quantile(1.0)) >= 1_969.0);
    assert!(ms(outcome.not_sent_age.at_quantile(0.0)) >= 9.9);
}

#[test]
fn an_open_load_sends_every_request_at_its_time_over_all_its_connections() {
    let server = Server::answering();
    let mut plan = plan(&server, 4, requests(100));
    (plan.pacing, plan.threads) = (open(1000.0), NonZeroU32::new(2));
    let outcome = outcome_of(&plan);
    assert_eq!(outcome.counts.ok, 100);
    assert!(outcome.elapsed_s() >= 0.099, "the last is due at 99 ms");
    // A connection that is established need not be accepted yet.
    comes_true("four are accepted", || server.accepted.load(Ordering::SeqCst) == 4);
}

#[test]
fn each_of_many_different_requests_arrives_even_where_connections_close() {
    let seen = Arc::new(Mutex::new(BTreeSet::new()));
    let server = Server::start({
        let seen = seen.clone();
        move |conversation| {
            for count in 1..=3 {
                let Some(head) = conversation.request() else { return };
                let path = head.split(' ').nth(1).unwrap_or_default();
                seen.lock().unwrap().insert(path.trim_start_matches('/').parse::<u64>().unwrap());
                // A close that came later could be that of a server that has read the next request.
                if count == 3 {
                    return conversation.say_with_close(HI);
                }
                conversation.say(HI);
            }
        }
    });
    let mut plan = plan(&server, 4, requests(120));
    let target = Target::get(&format!("http://{}/{{seq:1}}", server.address)).unwrap();
    plan.requests = Arc::new(RequestSource::new(vec![target]).unwrap());
    assert_eq!(outcome_of(&plan).counts.ok, 120);
    assert_eq!(*seen.lock().unwrap(), (1..=120).collect::<BTreeSet<u64>>());
}

const LARGE: usize = 16_000_000;

fn large_posts(server: &Server, connections: u32, count: u64) -> LoadPlan {
    let mut plan = plan(server, connections, requests(count));
    let target = Target::new("POST", &format!("http://{}/", server.address)).unwrap();
    plan.requests = Arc::new(RequestSource::new(vec![target.with_body(vec![b'x'; LARGE])]).unwrap());
    plan
}

#[test]
fn large_requests_leave_whole() {
    let server = Server::start(|conversation| {
        while conversation.request().is_some() && conversation.body(LARGE) && conversation.say(HI) {}
    });
    let plan = large_posts(&server, 2, 4);
    let outcome = outcome_of(&plan);
    assert_eq!(outcome.counts.ok, 4, "{:?}", outcome.failures);
    assert!(outcome.bytes.sent > 4 * LARGE as u64);
}

#[test]
fn an_answer_before_the_request_has_left_ends_the_connection() {
    let server = Server::start(|conversation| {
        conversation.request();
        conversation.say(b"HTTP/1.1 413 Content Too Large\r\nContent-Length: 0\r\n\r\n");
        thread::sleep(Duration::from_millis(100));
    });
    let plan = large_posts(&server, 1, 3);
    let outcome = outcome_of(&plan);
    assert_eq!(outcome.failures[&FailureCause::UnexpectedStatus(413)], 3, "{:?}", outcome.failures);
    assert_eq!(outcome.connections_opened, 3);
}

#[test]
fn an_unexpected_status_is_a_failure_that_keeps_the_connection() {
    let server = Server::start(|conversation| {
        while conversation.request().is_some() {
            conversation.say(b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n");
        }
    });
    let plan = plan(&server, 2, requests(20));
    let outcome = outcome_of(&plan);
    assert_eq!(outcome.failures[&FailureCause::UnexpectedStatus(503)], 20);
    assert_eq!((outcome.status[&503], outcome.connections_opened), (20, 2));
}

#[test]
fn bytes_nobody_asked_for_are_a_named_failure() {
    let unasked = FailureCause::Malformed("bytes without a request");
    let server = Server::start(|conversation| {
        while conversation.request().is_some() {
            conversation.say(&[HI, b"HTTP/1.1 200 OK\r\n"].concat());
        }
    });
    let behind = plan(&server, 2, requests(8));
    assert_eq!(outcome_of(&behind).failures.get(&unasked), Some(&8), "behind the answer");

    let server = Server::start(|conversation| {
        conversation.request();
        conversation.say(HI);
        // This is long after the response was read, and long before the next request.
        thread::sleep(Duration::from_secs(2));
        conversation.say(b"psst");
        conversation.wait_for_close();
    });
    let mut idle = plan(&server, 1, requests(2));
    idle.pacing = open(0.25);
    let outcome = outcome_of(&idle);
    assert_eq!(
        (outcome.counts.ok, outcome.counts.failed, outcome.unsolicited),
        (2, 0, 1),
        "no request fails for what belongs to none"
    );
    let warning = "1 connection was closed because the server sent bytes that belong to no request";
    let warnings = LoadReport::new(&outcome, &idle).warnings;
    assert!(warnings.iter().any(|text| text.starts_with(warning)), "{warnings:?}");
}

#[test]
fn large_answers_come_through_whole() {
    let server = Server::start(|conversation| {
        let mut answer = b"HTTP/1.1 200 OK\r\nContent-Length: 3000000\r\n\r\n".to_vec();
        answer.resize(answer.len() + 3_000_000, b'x');
        while conversation.request().is_some() && conversation.say(&answer) {}
    });
    let plan = plan(&server, 8, requests(40));
    let outcome = outcome_of(&plan);
    assert_eq!(outcome.counts.ok, 40, "{:?}", outcome.failures);
    assert!(outcome.bytes.received > 120_000_000);
}

#[test]
fn more_connections_than_are_opened_at_once_all_work() {
    // The responses are slow, so that the first connections do not do all the work.
    let server = Server::start(|conversation| {
        while conversation.request().is_some() {
            thread::sleep(Duration::from_millis(50));
            conversation.say(HI);
        }
    });
    let plan = plan(&server, 300, requests(3000));
    let outcome = outcome_of(&plan);
    assert_eq!(outcome.counts.ok, 3000, "{:?}", outcome.failures);
    assert!((100..=300).contains(&outcome.connections_opened), "{}", outcome.connections_opened);
}

#[test]
fn the_stop_flag_ends_a_load_as_its_deadline_would() {
    let server = Server::answering();
    let plan = plan(&server, 2, Stop::Duration(Duration::from_secs(600)));
    let stop = Arc::new(AtomicBool::new(false));
    let later = stop.clone();
    let begun = Instant::now();
    let asked = server.requests.clone();
    thread::spawn(move || {
        // Each of two connections sends again only when its response is complete.
        comes_true("it is asked", || asked.load(Ordering::SeqCst) >= 10);
        later.store(true, Ordering::Relaxed);
    });
    let outcome = outcome_with(&plan, &stop);
    assert!(outcome.interrupted && outcome.counts.ok > 0);
    assert!(begun.elapsed() < Duration::from_secs(60));
}
