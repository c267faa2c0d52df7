//! `threadcount load`, `run` and `compare --kubernetes` with the API server of the tests, whose pods are processes on this machine.

mod delay_server;
mod fake_api;
mod sessions;

use crate::tiny_server::TinyServer;
use fake_api::{FakeApi, Moment, Trouble};
use serde_json::Value;
use std::collections::BTreeSet;
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

fn json(output: &Output) -> Value {
    let error = String::from_utf8_lossy(&output.stderr);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{error}"))
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn count(document: &Value, key: &str) -> u64 {
    document["requests"][key].as_u64().unwrap()
}

/// A load of 100/s from two pods, for this long.
fn two_pods(api: &FakeApi, url: &str, lasts: &str) -> Command {
    let flags = [
        "-r",
        "100/s",
        "-c",
        "8",
        "--grace",
        "5s",
        "--kubernetes",
        "--pods",
        "2",
        "--start-after",
        "30s",
        "--json",
    ];
    let mut command = api.load(&[url, "-d", lasts]);
    command.args(flags);
    command
}

fn assert_nothing_is_left(api: &FakeApi) {
    assert!(api.is_removed());
    let began = Instant::now();
    while api.running() > 0 {
        assert!(began.elapsed() < Duration::from_secs(30), "pods of a removed job still run");
        thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn four_pods_send_one_load_and_the_result_is_that_of_one_machine() {
    let (server, api) = (TinyServer::start(), FakeApi::start(Trouble::default()));
    let url = server.url("/{seq:1}");
    let flags = ["-r", "200/s", "-d", "2s", "-c", "16", "--grace", "5s", "--kubernetes=fake", "--pods", "4"];
    // The variable does not exist in the pods.
    let secret = ["-H", "X-Key: ${THREADCOUNT_TEST_KEY}"];
    let mut command = api.load(&[&url, "--start-after", "30s", "--json"]);
    let output = command.args(flags).args(secret).env("THREADCOUNT_TEST_KEY", "s3cret").output().unwrap();
    let document = json(&output);
    assert_eq!(count(&document, "sent") + count(&document, "not_sent"), 400, "{document}");
    assert!(server.seen().iter().all(|seen| seen.headers.iter().any(|header| header == "X-Key: s3cret")));
    assert!(!api.job().unwrap().to_string().contains("s3cret"), "what is sent is told on standard input");
    assert_eq!(
        count(&document, "sent"),
        count(&document, "ok") + count(&document, "failed") + count(&document, "unfinished")
    );
    let pods = document["pods"].as_array().unwrap();
    assert_eq!(pods.len(), 4);
    for (index, pod) in pods.iter().enumerate() {
        assert_eq!(pod["complete"], true, "{pod}");
        assert_eq!(pod["node"].as_str(), Some(["n0", "n1"][index % 2]));
        assert!(pod["clock_ahead_ms"].as_f64().unwrap() < 50.0, "{pod}");
    }
    let lines: Vec<String> = server.seen().into_iter().map(|seen| seen.line).collect();
    assert_eq!(lines.iter().collect::<BTreeSet<_>>().len(), lines.len(), "no request twice");
    let job = api.job().unwrap();
    assert_eq!(
        (job["kind"].as_str(), job["spec"]["completionMode"].as_str()),
        (Some("Job"), Some("Indexed"))
    );
    assert_nothing_is_left(&api);
    assert!(stderr(&output).contains("in namespace perf: 4 pods"), "{}", stderr(&output));
}

#[test]
fn a_pod_that_is_killed_for_its_memory_is_missing_with_the_reason() {
    let out_of_memory = Some((1, Moment::HasSent));
    let trouble = Trouble { out_of_memory, ..Trouble::default() };
    let (server, api) = (TinyServer::start(), FakeApi::start(trouble));
    let output = two_pods(&api, &server.url("/"), "8s").output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let document = json(&output);
    let warning = document["warnings"][0].as_str().unwrap();
    assert!(warning.contains("share 1 of 2 is missing") && warning.contains("more memory"), "{warning}");
    assert_eq!(count(&document, "sent") + count(&document, "not_sent"), 400);
    assert!(document["pods"][1]["requests"]["ok"].as_u64().unwrap() > 0, "{document}");
    assert_nothing_is_left(&api);
}

#[test]
fn a_pod_without_a_node_keeps_the_load_from_beginning() {
    let (server, api) =
        (TinyServer::start(), FakeApi::start(Trouble { unscheduled: Some(1), ..Trouble::default() }));
    let output = two_pods(&api, &server.url("/"), "2s").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let words = stderr(&output);
    assert!(words.contains("1 of 2 pods did not run") && words.contains("2 Insufficient cpu"), "{words}");
    assert!(server.seen().is_empty(), "nothing was sent");
    assert_nothing_is_left(&api);
}

#[test]
fn clocks_that_are_too_far_apart_keep_the_load_from_beginning() {
    let trouble = Trouble { clock_ahead: Some((1, 2_000)), ..Trouble::default() };
    let (server, api) = (TinyServer::start(), FakeApi::start(trouble));
    let output = two_pods(&api, &server.url("/"), "2s").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let words = stderr(&output);
    assert!(words.contains("ms apart, and 50 ms are allowed"), "{words}");
    assert!(server.seen().is_empty(), "nothing was sent");
    assert_nothing_is_left(&api);
}

#[test]
fn a_missing_right_is_named_with_the_rule_that_gives_it() {
    let api = FakeApi::start(Trouble { forbids_jobs: true, ..Trouble::default() });
    let output = two_pods(&api, "http://127.0.0.1:1/", "2s").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let words = stderr(&output);
    assert!(words.contains("no right to create jobs in namespace perf"), "{words}");
    assert!(words.contains(r#"apiGroups: ["batch"], resources: ["jobs"], verbs: ["create"]"#), "{words}");
    assert!(api.job().is_none());
}

#[test]
fn an_api_server_that_is_away_for_a_while_costs_nothing() {
    let trouble = Trouble { away: Some(4), ..Trouble::default() };
    let (server, api) = (TinyServer::start(), FakeApi::start(trouble));
    let output = two_pods(&api, &server.url("/"), "4s").output().unwrap();
    let document = json(&output);
    assert_eq!(count(&document, "sent") + count(&document, "not_sent"), 400, "{document}");
    assert!(document["pods"].as_array().unwrap().iter().all(|pod| pod["lost_lines"] == 0), "{document}");
    assert!(stderr(&output).contains("the API server answers again"), "{}", stderr(&output));
    assert_nothing_is_left(&api);
}

#[test]
fn who_presses_ctrl_c_gets_what_was_measured_and_leaves_nothing_behind() {
    let (server, api) = (TinyServer::start(), FakeApi::start(Trouble::default()));
    let mut command = two_pods(&api, &server.url("/"), "60s");
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let began = Instant::now();
    while server.seen().len() < 50 {
        assert!(began.elapsed() < Duration::from_secs(60), "the load did not begin");
        thread::sleep(Duration::from_millis(50));
    }
    let pid = rustix::process::Pid::from_raw(child.id() as i32).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let document = json(&output);
    assert_eq!(document["interrupted"], true);
    assert!(document["pods"].as_array().unwrap().iter().all(|pod| pod["complete"] == true), "{document}");
    assert!(count(&document, "sent") >= 50);
    assert_nothing_is_left(&api);
}

#[test]
fn an_api_server_that_is_not_there_is_an_error_and_not_a_wait() {
    let api = FakeApi::start(Trouble::default());
    let config = serde_json::json!({"apiVersion": "v1", "kind": "Config", "current-context": "x",
        "clusters": [{"name": "c", "cluster": {"server": "http://127.0.0.1:1"}}], "users": [{"name": "u", "user": {}}],
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}]});
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("config");
    std::fs::write(&file, config.to_string()).unwrap();
    assert_ne!(api.address().port(), 1);
    let output = two_pods(&api, "http://127.0.0.1:1/", "2s").env("KUBECONFIG", file).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("the API server cannot be reached"), "{}", stderr(&output));
}

#[test]
fn a_dry_run_prints_the_job_and_needs_no_cluster() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_threadcount"));
    command.args([
        "load",
        "http://10.0.0.7:8080/",
        "-r",
        "5000/s",
        "-d",
        "1m",
        "--kubernetes",
        "--pods",
        "4",
        "--dry-run",
    ]);
    command.args(["--namespace", "perf", "--node-selector", "pool=load"]).env("KUBECONFIG", "/nowhere");
    let output = command.output().unwrap();
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    for line in [
        "kind: Job",
        "completionMode: Indexed",
        "completions: 4",
        "namespace: perf",
        "pool: load",
        "stdin: true",
        "- --share",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
    for word in ["--dry-run", "--pods", "5000/s"] {
        assert!(!text.contains(word), "{word}: {text}");
    }
}

#[test]
fn a_file_that_pods_do_not_have_is_refused() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_threadcount"));
    let file = std::env::current_exe().unwrap();
    command.args(["load", "https://127.0.0.1:1/", "--kubernetes", "--dry-run", "--cacert"]).arg(file);
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("pods do not have this file"));
}
