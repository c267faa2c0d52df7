//! Tests of code that allocates nothing, or nothing per request. The allocator counts for the whole process, so each test has its own
//! process.

#![expect(clippy::unwrap_used, reason = "a test says what went wrong by failing")]

mod counting_allocator;
mod http1;
mod http2;
mod text;

use counting_allocator::allocations_of_all_threads;
use std::num::{NonZeroU32, NonZeroU64};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use threadcount_load::plan::{LoadPlan, Stop};
use threadcount_load::request::{Origin, RequestSource};
use threadcount_load::run::{Control, run};

/// A plan for this many requests to a server on this machine.
fn plan(port: u16, connections: u32, count: u64) -> LoadPlan {
    let origin = Origin { tls: false, host: "127.0.0.1".to_owned(), port };
    let source = Arc::new(RequestSource::get(origin, "/"));
    let stop = Stop::Requests(NonZeroU64::new(count).unwrap());
    LoadPlan::closed(source, NonZeroU32::new(connections).unwrap(), stop)
}

/// Checks that ten times as many requests need only the further allocations of the longer time.
fn assert_none_per_request(count: u64, plan: impl Fn(u64) -> LoadPlan) {
    let (few, _) = allocations(count, &plan(count));
    let (many, seconds) = allocations(10 * count, &plan(10 * count));
    // Each second needs a histogram and a place in the channel.
    let allowed = few + 10 * (seconds + 1);
    assert!(many <= allowed, "{few} for {count} requests, {many} for ten times as many in {seconds} s");
}

/// The number of allocations of a load, and how many seconds it took.
fn allocations(count: u64, plan: &LoadPlan) -> (u64, u64) {
    let before = allocations_of_all_threads();
    let flag = AtomicBool::new(false);
    let outcome = run(plan, Control::new(&flag, &mut |_| {})).unwrap();
    assert_eq!(outcome.counts.ok, count);
    (allocations_of_all_threads() - before, outcome.seconds.len() as u64)
}
