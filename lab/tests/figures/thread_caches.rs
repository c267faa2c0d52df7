//! Caches of threads on real servers: the buffers that Jackson keeps for each thread, on threads that serve one request.

use crate::request_time::{Scene, measure};
use serde_json::Value;

const VIRTUAL: &str = "virtual-21: {threads: virtual, jdk: 21}, virtual-25: {threads: virtual, jdk: 25}";
const RULE: &str = "thread-caches";

fn scene<'a>(variants: &'a str, request: &'a str) -> Scene<'a> {
    Scene { app: "waits", clients: 10, variants, request, seconds: 5 }
}

fn finding<'a>(result: &'a Value, variant: &str) -> Option<&'a Value> {
    let findings = result["findings"].as_array().unwrap();
    findings.iter().find(|it| it["rule"] == RULE && it["variant"] == variant)
}

#[test]
fn buffers_that_jackson_makes_for_each_virtual_thread_are_named_on_both_javas() {
    let variants = format!("{VIRTUAL}, platform-25: {{threads: {{platform: 20}}, jdk: 25}}");
    let result = measure(&scene(&variants, "/json"));
    for variant in ["virtual-21", "virtual-25"] {
        let found =
            finding(&result, variant).unwrap_or_else(|| panic!("{variant}: {:#}", result["findings"]));
        let place = &found["figures"]["places"][0];
        let asked_by = place["asked_by"].as_str().unwrap();
        let line = asked_by.rsplit_once(':').and_then(|(_, line)| line.parse::<u32>().ok());
        assert!(
            asked_by.starts_with("com.fasterxml.jackson.core.util.BufferRecycler") && line.is_some(),
            "{place:#}"
        );
        let application = place["application"].as_str().unwrap_or_default();
        assert!(application.starts_with("dev.threadcount.waits.Json.order:"), "{place:#}");
        // The buffers are a byte[] of 8,000 and a char[] of 4,000.
        assert!(found["figures"]["bytes_per_request"].as_f64().unwrap() >= 8_000.0, "{found:#}");
    }
    assert!(finding(&result, "platform-25").is_none(), "a thread of a pool makes them once");
}

#[test]
fn a_pool_of_buffers_that_threads_share_is_no_cache_of_a_thread() {
    let result = measure(&scene(VIRTUAL, "\"/json?pool=shared\""));
    for variant in ["virtual-21", "virtual-25"] {
        assert!(finding(&result, variant).is_none(), "{:#}", result["findings"]);
    }
}
