//! Where the time of a request goes on real servers that wait for a known thing: it is named with its class and line, as
//! many wait as Little's law says, and the parts add up to the measured mean.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test ends where something is missing")]

mod java;
#[path = "common/schema.rs"]
mod schema;

use assert_cmd::cargo::cargo_bin;
use serde_json::Value;
use std::fs;
use std::process::{Command, Stdio};

const CLIENTS: f64 = 10.0;

/// One run of each variant; ten clients for five seconds, and as long again with the probe.
fn measure(variants: &str, request: &str) -> Value {
    [21, 25].into_iter().for_each(|feature| drop(java::runtime(feature)));
    java::servlets_and_probe();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("it.yaml");
    let experiment = format!(
        "question: What does it wait for?\nwarmup: 1s\nruns: 1\ndrop: 0\nserver: {{tomcat: \"11.0\", app: servlets}}\n\
         jvm: [-Xmx128m]\nrequest: {request}\nvariants: {{{variants}}}\nloads: [{{clients: 10, duration: 5s}}]\n"
    );
    fs::write(&file, experiment).unwrap();
    let out = folder.path().join("out");
    let mut command = Command::new(cargo_bin("threadcount"));
    command.arg("run").arg(&file).arg("--out").arg(&out).stdin(Stdio::null());
    let output = command.output().unwrap();
    assert!(out.join("result.json").is_file(), "{}", String::from_utf8_lossy(&output.stderr));
    schema::result_file(&out)
}

/// The time of a request of a variant.
fn time<'a>(result: &'a Value, variant: &str) -> &'a Value {
    let times = result["request_times"].as_array().unwrap();
    times.iter().find(|time| time["variant"] == variant).unwrap_or_else(|| panic!("{variant}: {times:?}"))
}

/// The threads and milliseconds of all parts in a state, and the first of these parts.
fn in_state<'a>(time: &'a Value, state: &str) -> (f64, f64, &'a Value) {
    let parts = time["parts"].as_array().unwrap();
    let mine: Vec<&Value> = parts.iter().filter(|part| part["state"] == state).collect();
    let sum = |key: &str| mine.iter().map(|part| part[key].as_f64().unwrap()).sum();
    (sum("threads"), sum("ms"), mine.first().copied().unwrap_or_else(|| panic!("no {state}: {time:#}")))
}

/// `holders` at a time have it, and all other clients wait for it.
fn assert_waits(time: &Value, state: &str, resource: &str, site: &str, holders: f64) {
    let (threads, ms, part) = in_state(time, state);
    let waiters = CLIENTS - holders;
    assert!((threads / waiters - 1.0).abs() <= 0.15, "{threads} of {waiters} wait: {time:#}");
    let mean_ms = time["service_time_ms"].as_f64().unwrap();
    assert!((ms / mean_ms - waiters / CLIENTS).abs() <= 0.15, "{ms} of {mean_ms} ms: {time:#}");
    let named = part["resource"].as_str().unwrap_or_default();
    assert!(named.ends_with(resource), "{named}: {time:#}");
    let application = part["application"].as_str().unwrap_or_default();
    let line = application.strip_prefix(&format!("{site}:")).unwrap_or_else(|| panic!("{application}"));
    assert!(line.parse::<u32>().is_ok(), "{application}");
    assert_adds_up(time);
}

fn assert_adds_up(time: &Value) {
    let mean_ms = time["service_time_ms"].as_f64().unwrap();
    let left = time["without_thread"]["ms"].as_f64().unwrap();
    assert!(left.abs() <= 0.1 * mean_ms, "{left} of {mean_ms} ms are on no thread: {time:#}");
    let parts = time["parts"].as_array().unwrap();
    let sum: f64 = parts.iter().map(|part| part["ms"].as_f64().unwrap()).sum();
    assert!((sum + left - mean_ms).abs() < 1e-6, "{time:#}");
    assert!(time["samples"].as_u64().unwrap() >= 10, "{time:#}");
}

fn has_finding(result: &Value, variant: &str) -> bool {
    let findings = result["findings"].as_array().unwrap();
    let is_wait = |it: &&Value| it["rule"] == "waiting" || it["rule"] == "request-waits";
    findings.iter().filter(is_wait).any(|it| it["variant"] == variant)
}

const BOTH: &str = "virtual-21: {threads: virtual, jdk: 21}, virtual-25: {threads: virtual, jdk: 25}";

#[test]
fn virtual_threads_that_wait_for_a_semaphore_are_named_on_both_javas() {
    let result = measure(BOTH, "/starved?sleep=100ms");
    for variant in ["virtual-21", "virtual-25"] {
        let time = time(&result, variant);
        let site = "dev.threadcount.servlets.Starved.withPermit";
        assert_waits(time, "semaphore", "java.util.concurrent.Semaphore", site, 4.0);
        assert!(in_state(time, "sleep").0 >= 3.0, "{time:#}");
    }
}

#[test]
fn virtual_threads_that_wait_for_a_lock_are_named_with_who_holds_it_on_both_javas() {
    let result = measure(BOTH, "/one-by-one?sleep=100ms");
    for variant in ["virtual-21", "virtual-25"] {
        let time = time(&result, variant);
        let site = "dev.threadcount.servlets.OneByOne.withLock";
        assert_waits(time, "lock", "java.util.concurrent.locks.ReentrantLock", site, 1.0);
        let holder = in_state(time, "lock").2["holder"].as_str().unwrap_or_default();
        assert!(holder.starts_with("dev.threadcount.servlets."), "{time:#}");
    }
}

/// On Java 21 the virtual threads would wait for a carrier instead, each of which a waiting thread holds.
#[test]
fn threads_that_wait_for_a_monitor_are_named_on_both_javas() {
    let variants = "platform-21: {threads: {platform: 20}, jdk: 21}, virtual-25: {threads: virtual, jdk: 25}";
    let result = measure(variants, "/one-by-one?by=monitor&sleep=100ms");
    for variant in ["platform-21", "virtual-25"] {
        let site = "dev.threadcount.servlets.OneByOne.withMonitor";
        assert_waits(time(&result, variant), "monitor", "java.lang.Object", site, 1.0);
    }
}

/// Look-alikes: threads that sleep on purpose, and a pool with many threads that have nothing to do.
#[test]
fn sleepers_and_idle_workers_wait_for_nobody() {
    let variants = "platform-21: {threads: {platform: 40}, jdk: 21}, virtual-25: {threads: virtual, jdk: 25}";
    let result = measure(variants, "/thread-info?sleep=100ms");
    for variant in ["platform-21", "virtual-25"] {
        let time = time(&result, variant);
        assert_adds_up(time);
        let (threads, _, _) = in_state(time, "sleep");
        assert!((threads / CLIENTS - 1.0).abs() <= 0.15, "{time:#}");
        assert!(!has_finding(&result, variant), "{:#}", result["findings"]);
    }
}
