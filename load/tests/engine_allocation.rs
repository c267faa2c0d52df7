//! No allocation per request: ten times the requests allocate what the seconds that they take allocate.

#![expect(clippy::unwrap_used, reason = "a test says what went wrong by failing")]

#[path = "common/counting_allocator.rs"]
#[expect(dead_code, reason = "other tests count one thread")]
mod counting_allocator;

use counting_allocator::{allocations_of_all_threads, exclude_this_thread};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::num::{NonZeroU32, NonZeroU64};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;
use threadcount_load::plan::{DriverChoice, LoadPlan, Stop};
use threadcount_load::request::{Origin, RequestSource};
use threadcount_load::run::{Control, LoadError, run};

/// Sends one response per read, which is right for requests smaller than a segment.
fn serve(listener: &TcpListener) {
    exclude_this_thread();
    for stream in listener.incoming() {
        thread::spawn(move || {
            exclude_this_thread();
            let (mut stream, mut piece) = (stream.unwrap(), [0; 1024]);
            while stream.read(&mut piece).is_ok_and(|count| count > 0) {
                let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi");
            }
        });
    }
}

/// Allocations of a load of `count` requests, and how many seconds it took; `None` where the driver cannot be had.
fn allocations(port: u16, driver: DriverChoice, count: u64) -> Option<(u64, u64)> {
    let origin = Origin { tls: false, host: "127.0.0.1".to_owned(), port };
    let source = Arc::new(RequestSource::get(origin, "/"));
    let stop = Stop::Requests(NonZeroU64::new(count).unwrap());
    let mut plan = LoadPlan::closed(source, NonZeroU32::new(8).unwrap(), stop);
    plan.driver = driver;
    let before = allocations_of_all_threads();
    let flag = AtomicBool::new(false);
    let outcome = match run(&plan, Control::new(&flag, &mut |_| {})) {
        Err(LoadError::Driver { .. }) => return None,
        outcome => outcome.unwrap(),
    };
    assert_eq!(outcome.counts.ok, count);
    Some((allocations_of_all_threads() - before, outcome.seconds.len() as u64))
}

#[test]
fn the_steady_state_allocates_once_in_a_while_and_not_per_request() {
    exclude_this_thread();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || serve(&listener));
    for driver in [DriverChoice::Epoll, DriverChoice::IoUring] {
        let Some((few, _)) = allocations(port, driver, 500) else { continue };
        let Some((many, seconds)) = allocations(port, driver, 5_000) else { continue };
        // Each second is a histogram and a place in the channel.
        let allowed = few + 10 * (seconds + 1);
        assert!(many <= allowed, "{driver:?}: {few} for 500 requests, {many} for 5,000 in {seconds} s");
    }
}
