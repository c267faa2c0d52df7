//! The time of a request on real servers that wait for something known. It is named with its class and line, as many threads wait as
//! Little's law says, and the parts add up to the measured mean.

use crate::request_time;

use crate::request_time::{Scene, assert_adds_up, assert_waits, has_finding, in_state, time};
use serde_json::Value;

const CLIENTS: f64 = 10.0;

fn measure(variants: &str, request: &str) -> Value {
    request_time::measure(&Scene { app: "servlets", clients: 10, variants, request, seconds: 5 })
}

const BOTH: &str = "virtual-21: {threads: virtual, jdk: 21}, virtual-25: {threads: virtual, jdk: 25}";

#[test]
fn virtual_threads_that_wait_for_a_semaphore_are_named_on_both_javas() {
    let result = measure(BOTH, "/starved?sleep=100ms");
    for variant in ["virtual-21", "virtual-25"] {
        let time = time(&result, variant);
        let site = "dev.threadcount.servlets.Starved.withPermit";
        assert_waits(time, "semaphore", "java.util.concurrent.Semaphore", site, (6.0, CLIENTS));
        assert!(in_state(time, "sleep").0 >= 3.0, "{time:#}");
        assert!(has_finding(&result, variant), "{:#}", result["findings"]);
    }
}

#[test]
fn virtual_threads_that_wait_for_a_lock_are_named_with_who_holds_it_on_both_javas() {
    let result = measure(BOTH, "/one-by-one?sleep=100ms");
    for variant in ["virtual-21", "virtual-25"] {
        let time = time(&result, variant);
        let site = "dev.threadcount.servlets.OneByOne.withLock";
        assert_waits(time, "lock", "java.util.concurrent.locks.ReentrantLock", site, (9.0, CLIENTS));
        let holder = in_state(time, "lock").2["holder"].as_str().unwrap_or_default();
        assert!(holder.starts_with("dev.threadcount.servlets."), "{time:#}");
        assert!(has_finding(&result, variant), "{:#}", result["findings"]);
    }
}

/// On Java 21 virtual threads would wait for a carrier instead, because each waiting thread holds one.
#[test]
fn threads_that_wait_for_a_monitor_are_named_on_both_javas() {
    let variants = "platform-21: {threads: {platform: 20}, jdk: 21}, virtual-25: {threads: virtual, jdk: 25}";
    let result = measure(variants, "/one-by-one?by=monitor&sleep=100ms");
    for variant in ["platform-21", "virtual-25"] {
        let site = "dev.threadcount.servlets.OneByOne.withMonitor";
        assert_waits(time(&result, variant), "monitor", "java.lang.Object", site, (9.0, CLIENTS));
        assert!(has_finding(&result, variant), "{:#}", result["findings"]);
    }
}

/// Look-alikes: threads that sleep on purpose, and a pool with many idle threads.
#[test]
fn sleepers_and_idle_workers_wait_for_nobody() {
    let variants = format!("platform-21: {{threads: {{platform: 40}}, jdk: 21}}, {BOTH}");
    let result = measure(&variants, "/thread-info?sleep=100ms");
    for variant in ["platform-21", "virtual-21", "virtual-25"] {
        let time = time(&result, variant);
        assert_adds_up(time);
        let (threads, _, _) = in_state(time, "sleep");
        assert!((threads / CLIENTS - 1.0).abs() <= 0.15, "{time:#}");
        assert!(!has_finding(&result, variant), "{:#}", result["findings"]);
    }
}
