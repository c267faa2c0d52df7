//! Starvation on real servers: virtual threads that wait for a carrier which another thread holds, and requests that others overtake.

use crate::request_time;

use crate::request_time::{Scene, measure, measure_under};
use serde_json::Value;

/// Measures 200 requests per second. One of 200 takes two seconds, so one begins every second, and soon both carriers are held at once.
fn under_200_per_s(variants: &str, slow: &str) -> Value {
    let request = format!("[{{path: /hello, weight: 199}}, \"{slow}\"]");
    let scene = Scene { app: "servlets", clients: 0, variants, request: &request, seconds: 8 };
    measure_under(&scene, "rate: 200/s, connections: 400")
}

/// Variants with two carriers on any machine.
const VIRTUAL: &str = "virtual-21: {threads: virtual, jdk: 21, jvm: [-Djdk.virtualThreadScheduler.parallelism=2]}, \
    virtual-25: {threads: virtual, jdk: 25, jvm: [-Djdk.virtualThreadScheduler.parallelism=2]}";

fn finding<'a>(result: &'a Value, rule: &str, variant: &str) -> Option<&'a Value> {
    let findings = result["findings"].as_array().unwrap();
    findings.iter().find(|it| it["rule"] == rule && it["variant"] == variant)
}

fn delays<'a>(result: &'a Value, variant: &str) -> &'a Value {
    let records = result["records"].as_array().unwrap();
    let record = records.iter().find(|record| record["variant"] == variant).unwrap();
    &record["jvm"]["run_delays"]
}

fn assert_silent(result: &Value, variant: &str) {
    for rule in ["held-carriers", "unfair-waits"] {
        let found = finding(result, rule, variant);
        assert!(found.is_none(), "{found:#?}; {:#}", delays(result, variant));
    }
}

#[test]
fn virtual_threads_that_spin_delay_all_others_and_are_named_with_their_line_on_both_javas() {
    let result = under_200_per_s(VIRTUAL, "/spinning?sleep=2s");
    for variant in ["virtual-21", "virtual-25"] {
        let delays = delays(&result, variant);
        let p99_ms = delays["virtual_threads"]["p99_ms"].as_f64().unwrap();
        assert!(p99_ms >= 1_000.0, "{variant}: {delays:#}");
        assert!(delays["platform_threads"]["p99_ms"].as_f64().unwrap() < p99_ms / 2.0, "{delays:#}");
        assert!(!delays["carriers"].as_array().unwrap().is_empty(), "{delays:#}");
        let found =
            finding(&result, "held-carriers", variant).unwrap_or_else(|| panic!("{variant}: {delays:#}"));
        let place = found["figures"]["place"]["application"].as_str().unwrap();
        let line = place.strip_prefix("dev.threadcount.servlets.Spinning.onThisThread:");
        assert!(line.is_some_and(|line| line.parse::<u32>().is_ok()), "{place}");
        assert!(finding(&result, "unfair-waits", variant).is_none(), "requests of two kinds");
    }
}

/// Look-alikes: requests that sleep, and platform threads that spin for requests on platform and on virtual threads.
#[test]
fn sleeps_and_platform_threads_that_spin_hold_no_carrier() {
    let result = under_200_per_s(VIRTUAL, "/thread-info?sleep=2s");
    for variant in ["virtual-21", "virtual-25"] {
        assert!(delays(&result, variant)["virtual_threads"]["count"].as_u64().unwrap() > 100);
        assert_silent(&result, variant);
    }
    let variants = "platform-25: {threads: {platform: 50}, jdk: 25}, \
        virtual-25: {threads: virtual, jdk: 25, jvm: [-Djdk.virtualThreadScheduler.parallelism=2]}";
    let result = under_200_per_s(variants, "/spinning?by=platform&sleep=1s");
    assert_silent(&result, "platform-25");
    assert_silent(&result, "virtual-25");
    assert!(delays(&result, "platform-25")["virtual_threads"].is_null(), "it has no carriers");
}

/// A look-alike: a CPU full of short requests also has a queue for its carriers, but nobody holds one.
#[test]
fn a_cpu_full_of_short_requests_holds_no_carrier() {
    let scene = Scene {
        app: "servlets",
        clients: 50,
        variants: VIRTUAL,
        request: "/computing?sleep=5ms",
        seconds: 5,
    };
    let result = request_time::measure(&scene);
    for variant in ["virtual-21", "virtual-25"] {
        assert_silent(&result, variant);
    }
}

/// In a queue in which the last one goes first, one of ten requests waits for seconds. A look-alike is the same queue in order of arrival.
#[test]
fn requests_that_others_overtake_in_a_queue_starve_on_both_javas_and_do_not_where_it_is_fair() {
    let variants = "virtual-21: {threads: virtual, jdk: 21}, virtual-25: {threads: virtual, jdk: 25}";
    let under_20_clients =
        |request| measure(&Scene { app: "waits", clients: 20, variants, request, seconds: 10 });
    let unfair = under_20_clients("/turnstile");
    for variant in ["virtual-21", "virtual-25"] {
        let found = finding(&unfair, "unfair-waits", variant).unwrap_or_else(|| panic!("{unfair:#}"));
        let figures = &found["figures"];
        let milliseconds = |key: &str| figures["tail"][key].as_f64().unwrap();
        assert!(milliseconds("p50_ms") < 50.0 && milliseconds("p99_ms") >= 1_500.0, "{found:#}");
        let wait = &figures["queue"]["activity"];
        assert_eq!(wait["state"], "queue", "{found:#}");
        let line =
            wait["application"].as_str().unwrap().strip_prefix("dev.threadcount.waits.Turnstile.pass:");
        assert!(line.is_some_and(|line| line.parse::<u32>().is_ok()), "{found:#}");
    }
    let fair = under_20_clients("\"/turnstile?order=arrival\"");
    for variant in ["virtual-21", "virtual-25"] {
        assert_silent(&fair, variant);
    }
}
