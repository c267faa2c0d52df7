//! A generator that is stopped in the middle of a load.

use super::transport::{DRIVERS, Transport, Way};
use super::{child, comes_true, open};
use crate::reply::Reply;
use crate::server::Server;
use std::io::{Read, stdin};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;
use threadcount_load::plan::Stop;
use threadcount_load::report::LoadReport;
use threadcount_load::run::{Control, run};

const STOPPED: Duration = Duration::from_millis(300);

/// 500/s over four connections until its input ends: 150 requests fall due in the 300 ms.
fn load((way, port): (Way, u16), lateness: Duration) {
    let driver = way.driver;
    let lasts = Stop::Duration(Duration::from_secs(600));
    let plan = way.plan_to(port, 4, open(500.0), lasts).with(|plan| plan.lateness = lateness);
    let stop = AtomicBool::new(false);
    let outcome = thread::scope(|scope| {
        scope.spawn(|| {
            stdin().read_to_end(&mut Vec::new()).unwrap();
            stop.store(true, Ordering::Relaxed);
        });
        run(&plan, Control::new(&stop, &mut |_| {})).unwrap()
    });
    assert_eq!(outcome.counts.failed, 0, "{:?}", outcome.failures);
    let own_lag = |quantile| outcome.own_lag.at_quantile(quantile);
    assert!(own_lag(1.0) >= STOPPED.mul_f64(0.9), "{driver:?}: {:?}", outcome.own_lag.summary());
    // 100 of them were due in its first 200 ms.
    let without_80 = 1.0 - 80.0 / outcome.counts.sent as f64;
    assert!(own_lag(without_80) >= STOPPED / 3, "{driver:?}: {:?}", outcome.own_lag.summary());
    let generator = LoadReport::new(&outcome, &plan).generator;
    assert!(generator.bottleneck, "{generator:?}");
    assert!(generator.why.unwrap().contains("after it was due"));
}

/// Runs a test's load with each driver in a process of its own, and stops that in the middle of it.
fn stop_in_the_middle() {
    let name = thread::current().name().unwrap().to_owned();
    for driver in DRIVERS {
        let server = Server::start(Transport::Plain, |_| Reply::answer("hi"));
        let way = Way { transport: Transport::Plain, driver };
        let mut generator = child::start(&name, way, server.port);
        // The kernel begins to stamp a little after it was asked to.
        comes_true("a part of the load is over", || server.requests() >= 200);
        child::stop_during(&generator, || {
            // While each of its connections waits for a response it is the server that is slow.
            server.catch_up();
            thread::sleep(STOPPED);
        });
        let before = server.requests();
        comes_true("what was due meanwhile has left", || server.requests() >= before + 400);
        assert!(generator.wait().unwrap().success(), "{driver:?}");
    }
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
