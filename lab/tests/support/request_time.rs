//! Runs real servers whose requests wait for something known, and reads where the tool says that their time goes.

use crate::java;
use crate::schema;

use assert_cmd::cargo::cargo_bin;
use serde_json::Value;
use std::fs;
use std::process::{Command, Stdio};
use threadcount_machine::app;

/// A Tomcat for each variant, and the requests that it gets.
pub struct Scene<'a> {
    pub app: &'a str,
    pub clients: u32,
    pub variants: &'a str,
    pub request: &'a str,
    pub seconds: u32,
}

/// Runs each variant once, for this many seconds, and as long again with the probe.
pub fn measure(scene: &Scene<'_>) -> Value {
    measure_under(scene, &format!("clients: {}", scene.clients))
}

/// Like [`measure`], under a load that is written out except for its duration.
pub fn measure_under(scene: &Scene<'_>, load: &str) -> Value {
    let Scene { app, variants, request, seconds, .. } = scene;
    [21, 25].into_iter().for_each(|feature| drop(java::runtime(feature)));
    java::probe();
    app::find(app).unwrap_or_else(|error| panic!("{error}; `./dev test` builds it"));
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("it.yaml");
    let experiment = format!(
        "question: What does it wait for?\nwarmup: 1s\nruns: 1\ndrop: 0\nserver: {{tomcat: \"11.0\", app: {app}}}\n\
         jvm: [-Xmx128m]\nrequest: {request}\nvariants: {{{variants}}}\nloads: [{{{load}, duration: {seconds}s}}]\n"
    );
    fs::write(&file, experiment).unwrap();
    let out = folder.path().join("out");
    let mut command = Command::new(cargo_bin("threadcount"));
    command.arg("run").arg(&file).arg("--out").arg(&out).stdin(Stdio::null());
    let output = command.output().unwrap();
    assert!(out.join("result.json").is_file(), "{}", String::from_utf8_lossy(&output.stderr));
    schema::result_file(&out)
}

/// The time of a variant's requests.
pub fn time<'a>(result: &'a Value, variant: &str) -> &'a Value {
    let times = result["request_times"].as_array().unwrap();
    times.iter().find(|time| time["variant"] == variant).unwrap_or_else(|| panic!("{variant}: {times:?}"))
}

/// The threads and milliseconds of all parts in a state, and the first of these parts.
pub fn in_state<'a>(time: &'a Value, state: &str) -> (f64, f64, &'a Value) {
    let parts = time["parts"].as_array().unwrap();
    let mine: Vec<&Value> = parts.iter().filter(|part| part["state"] == state).collect();
    let sum = |key: &str| mine.iter().map(|part| part[key].as_f64().unwrap()).sum();
    (sum("threads"), sum("ms"), mine.first().copied().unwrap_or_else(|| panic!("no {state}: {time:#}")))
}

/// The threads of all parts in a state.
pub fn in_state_or_none(time: &Value, state: &str) -> f64 {
    let parts = time["parts"].as_array().unwrap();
    parts.iter().filter(|part| part["state"] == state).map(|part| part["threads"].as_f64().unwrap()).sum()
}

/// Checks that this many of all clients wait for it.
pub fn assert_waits(time: &Value, state: &str, resource: &str, site: &str, (waiters, clients): (f64, f64)) {
    let (threads, ms, part) = in_state(time, state);
    assert!((threads / waiters - 1.0).abs() <= 0.15, "{threads} of {waiters} wait: {time:#}");
    let mean_ms = time["service_time_ms"].as_f64().unwrap();
    assert!((ms / mean_ms - waiters / clients).abs() <= 0.15, "{ms} of {mean_ms} ms: {time:#}");
    let named = part["resource"].as_str().unwrap_or_default();
    assert!(named.ends_with(resource), "{named}: {time:#}");
    let application = part["application"].as_str().unwrap_or_default();
    let line = application.strip_prefix(&format!("{site}:")).unwrap_or_else(|| panic!("{application}"));
    assert!(line.parse::<u32>().is_ok(), "{application}");
    assert_adds_up(time);
}

pub fn assert_adds_up(time: &Value) {
    let mean_ms = time["service_time_ms"].as_f64().unwrap();
    let left = time["without_thread"]["ms"].as_f64().unwrap();
    assert!(left.abs() <= 0.1 * mean_ms, "{left} of {mean_ms} ms are on no thread: {time:#}");
    let parts = time["parts"].as_array().unwrap();
    let sum: f64 = parts.iter().map(|part| part["ms"].as_f64().unwrap()).sum();
    assert!((sum + left - mean_ms).abs() < 1e-6, "{time:#}");
    assert!(time["samples"].as_u64().unwrap() >= 10, "{time:#}");
}

pub fn has_finding(result: &Value, variant: &str) -> bool {
    let findings = result["findings"].as_array().unwrap();
    let kinds = ["waiting", "request-waits", "concurrency-limit"];
    let is_wait = |it: &&Value| kinds.iter().any(|kind| it["rule"] == *kind);
    findings.iter().filter(is_wait).any(|it| it["variant"] == variant)
}
