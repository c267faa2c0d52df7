//! Corner cases in which a load generator reports wrong times silently, over every transport.

#![expect(clippy::unwrap_used, reason = "a test says what went wrong by failing")]

mod child;
mod descriptors;
mod endings;
mod idle_close;
mod kept;
mod lead_in;
mod network;
mod noticing;
mod options;
mod out_of_order;
mod pacing;
mod reply;
mod rows;
mod server;
mod stopped;
mod transport;

use std::num::NonZeroU64;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::{Duration, Instant};
use threadcount_load::outcome::LoadOutcome;
use threadcount_load::plan::{Arrivals, LoadPlan, Pacing, RateShape, Stop};
use threadcount_load::run::{Control, run};

fn requests(count: u64) -> Stop {
    Stop::Requests(NonZeroU64::new(count).unwrap())
}

fn open(rate_per_s: f64) -> Pacing {
    Pacing::Open { shape: RateShape::Constant { rate_per_s }, arrivals: Arrivals::Constant }
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// Runs a plan and checks what must be true of every run.
fn outcome_of(plan: &LoadPlan) -> LoadOutcome {
    let outcome = run(plan, Control::new(&AtomicBool::new(false), &mut |_| {})).unwrap();
    let counts = outcome.counts;
    assert_eq!(
        counts.in_flight_at_start + counts.sent,
        counts.ok + counts.failed + counts.unfinished,
        "{counts:?}"
    );
    assert_eq!(outcome.response_time.count(), counts.ok);
    assert_eq!(outcome.failed_time.count(), counts.failed);
    assert_eq!(outcome.failures.values().sum::<u64>(), counts.failed);
    assert_eq!(outcome.unfinished_age.count(), counts.unfinished);
    assert_eq!(outcome.send_lag.count(), counts.sent);
    outcome
}

fn comes_true(what: &str, condition: impl Fn() -> bool) {
    let give_up = Instant::now() + Duration::from_secs(60);
    while !condition() {
        assert!(Instant::now() < give_up, "{what}");
        thread::sleep(Duration::from_millis(2));
    }
}
