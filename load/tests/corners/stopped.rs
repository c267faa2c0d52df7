//! Tests of a generator that is stopped in the middle of a load.

use super::transport::Transport;
use super::{child, comes_true, open};
use crate::reply::Reply;
use crate::server::Server;
use std::io::{Read, stdin};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;
use threadcount_load::outcome::LoadOutcome;
use threadcount_load::plan::{LoadPlan, Pacing, Stop};
use threadcount_load::report::LoadReport;
use threadcount_load::run::{Control, run};

const STOPPED: Duration = Duration::from_millis(300);

/// A plan over four connections that lasts until the process's input ends.
fn plan((way, port): (Transport, u16), pacing: Pacing, lateness: Duration) -> LoadPlan {
    let lasts = Stop::Duration(Duration::from_secs(600));
    way.plan_to(port, 4, pacing, lasts).with(|plan| plan.lateness = lateness)
}

fn outcome_of(plan: &LoadPlan) -> LoadOutcome {
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            stdin().read_to_end(&mut Vec::new()).unwrap();
            stop.store(true, Ordering::Relaxed);
        });
        run(plan, Control::new(&stop, &mut |_| {})).unwrap()
    })
}

/// A load of 500/s, so 150 requests fall due in the 300 ms.
fn load(part: (Transport, u16), lateness: Duration) {
    let plan = plan(part, open(500.0), lateness);
    let outcome = outcome_of(&plan);
    assert_eq!(outcome.counts.failed, 0, "{:?}", outcome.failures);
    let own_lag = |quantile| outcome.own_lag.at_quantile(quantile);
    assert!(own_lag(1.0) >= STOPPED.mul_f64(0.9), "{:?}", outcome.own_lag.summary());
    // 100 of these requests were due in the first 200 ms of the stop.
    let without_80 = 1.0 - 80.0 / outcome.counts.sent as f64;
    assert!(own_lag(without_80) >= STOPPED / 3, "{:?}", outcome.own_lag.summary());
    let generator = LoadReport::new(&outcome, &plan).generator;
    assert!(generator.bottleneck, "{generator:?}");
    assert!(generator.why.unwrap().contains("after it was due"));
}

fn stop_in_the_middle() {
    stop_for(STOPPED, 0);
}

/// Runs a test's load in a process of its own, and stops that process in the middle of the load.
fn stop_for(time: Duration, delay_ms: u64) {
    let name = thread::current().name().unwrap().to_owned();
    let server = Server::start(Transport::Plain, move |_| Reply::answer("hi").after_ms(delay_ms));
    let mut generator = child::start(&name, Transport::Plain, server.port);
    // The kernel begins to stamp only a moment after it was asked to.
    comes_true("a part of the load is over", || server.requests() >= 200);
    child::stop_during(&generator, || {
        // No connection may be waiting for a response, or the server would be the slow side.
        server.catch_up();
        thread::sleep(time);
    });
    let before = server.requests();
    comes_true("what was due meanwhile has left", || server.requests() >= before + 400);
    assert!(generator.wait().unwrap().success());
}

#[test]
fn a_generator_that_was_stopped_says_that_it_was_late_also_where_it_has_few_connections() {
    match child::part() {
        Some(part) => load(part, Duration::ZERO),
        None => stop_in_the_middle(),
    }
}

#[test]
fn and_also_where_requests_may_leave_later_to_leave_together() {
    match child::part() {
        Some(part) => load(part, Duration::from_millis(5)),
        None => stop_in_the_middle(),
    }
}

/// A closed loop, which rests until a response arrives.
fn closed_load(part: (Transport, u16)) {
    let plan = plan(part, Pacing::Closed, Duration::ZERO);
    let outcome = outcome_of(&plan);
    let LoadReport { generator, warning_ids, .. } = LoadReport::new(&outcome, &plan);
    assert!(generator.bottleneck && generator.why.unwrap().contains("the generator stood still for"));
    assert_eq!(warning_ids[0], "generator-stopped");
}

#[test]
fn a_closed_loop_that_was_stopped_does_not_blame_the_server() {
    let Some(part) = child::part() else { return stop_for(STOPPED * 3, 2) };
    closed_load(part);
}
