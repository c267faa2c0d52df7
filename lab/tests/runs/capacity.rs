//! The search for a capacity from end to end. The server counts requests, so that its speed decides nothing.

use crate::schema;

use assert_cmd::cargo::cargo_bin;
use serde_json::Value;
use std::fs;
use std::process::{Command, Output};

const DELAY_SERVER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/servers/delay.py");

/// With a limit of 5 s, a step has a connection for each request of five seconds. The server refuses everything above 800 of them.
const CAPACITY_PER_S: f64 = 160.0;

#[test]
fn a_server_that_serves_so_many_connections_sustains_their_rate_and_no_more() {
    let (document, output) = search("{MOST_CONNECTIONS: 800}");
    let search = &document["records"][0]["capacity"];
    let printed = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(printed.contains("/s asked: "), "each step is in the log: {printed}");
    let sustained = search["sustained_per_s"].as_f64().unwrap();
    assert!(sustained <= CAPACITY_PER_S, "{search:#}");
    assert_eq!(document["claims"][0]["holds"], true, "{search:#}");
    for step in search["steps"].as_array().unwrap() {
        let is_beyond = step["asked_per_s"].as_f64().unwrap() > CAPACITY_PER_S;
        assert!(!is_beyond || step["verdict"] != "sustained", "{step:#}");
        assert!(step["verdict"] == "sustained" || step["why"]["kind"].is_string(), "{step:#}");
    }
    let rate = document["records"][0]["measured"]["rate_per_s"]["asked"].as_f64().unwrap();
    assert_eq!(rate, sustained, "the run's own figures are those of the step that is reported");
    let shown = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(shown.contains("a: capacity") && shown.contains("p99 within 5000 ms"), "{shown}");
}

/// The server takes every request and never answers, like a JVM whose heap is full of waiting requests.
#[test]
fn a_server_that_goes_silent_ends_the_search_and_its_log_says_why() {
    let (document, output) = search("{SILENT_AFTER: 400}");
    let search = &document["records"][0]["capacity"];
    assert_eq!(search["ended"], "silent", "{search:#}");
    let steps = search["steps"].as_array().unwrap();
    let last = steps.last().unwrap()["asked_per_s"].as_f64().unwrap();
    let trouble = "java.lang.OutOfMemoryError: as a JVM would say it";
    assert_eq!(search["log_trouble"], trouble, "{search:#}");
    // A sustained rate is tried again, and may be the one at which the server goes silent.
    assert!(search["sustained_per_s"].as_f64().unwrap() <= last, "{search:#}");
    assert_ne!(steps.last().unwrap()["verdict"], "sustained", "{search:#}");
    let shown = String::from_utf8_lossy(&output.stdout).into_owned();
    let in_one_line = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(in_one_line.contains("or more with p99 within 5000 ms; after"), "{shown}");
    assert!(
        in_one_line.contains(&format!("/s the server stopped responding; its log: {trouble}")),
        "{shown}"
    );
}

/// Runs a search on the delay server with this environment. Returns its result and the command's output.
fn search(env: &str) -> (Value, Output) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mine.yaml");
    let text = format!(
        "question: q\nserver: {{command: \"python3 {DELAY_SERVER} {{port}} 0\"}}\nenv: {env}\n\
         request: /\nwarmup: 0s\nvariants: {{a: {{}}}}\nclaims: [a.capacity <= 160/s]\n\
         loads: [{{capacity: {{p99: 5s, from: 50/s, to: 400/s, resolution: 20%}}, duration: 2s, runs: 1}}]\n"
    );
    fs::write(&path, text).unwrap();
    let out = folder.path().join("out");
    let output = Command::new(cargo_bin("threadcount"))
        .args(["run", "--no-probe", "--replace", "--out"])
        .arg(&out)
        .arg(&path)
        .output()
        .unwrap();
    (schema::result_file(&out), output)
}
