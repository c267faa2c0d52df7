//! `compare --kubernetes` and `run --kubernetes`: pods that stay for the session send its loads.

use super::delay_server::DelayServer;
use super::fake_api::{FakeApi, Moment, Trouble};
use super::{assert_nothing_is_left, stderr};
use crate::tiny_server::TinyServer;
use serde_json::Value;
use std::fs;
use std::process::{Command, Output};

/// Compares two running servers from two pods.
fn compare(api: &FakeApi, one: &TinyServer, other: &TinyServer, folder: &str, runs: &str) -> Command {
    let mut command = api.threadcount("compare");
    let targets = [format!("one={}", one.url("")), format!("other={}", other.url(""))];
    command.args(["--target-url", &targets[0], "--target-url", &targets[1], "--url", "/{seq:1}"]);
    command.args(["-c", "4", "-d", "1s", "--runs", runs, "--warmup", "1s", "--replace", "--out", folder]);
    command.args(["--kubernetes", "--pods", "2", "--start-after", "30s"]);
    command
}

fn result(folder: &str, output: &Output) -> Value {
    let file = format!("{folder}/result.json");
    let text =
        fs::read_to_string(&file).unwrap_or_else(|error| panic!("{file}: {error}: {}", stderr(output)));
    serde_json::from_str(&text).unwrap()
}

fn folder() -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out").display().to_string();
    (folder, out)
}

#[test]
fn two_servers_that_run_already_are_compared_from_pods_that_stay() {
    let (one, other, api) = (TinyServer::start(), TinyServer::start(), FakeApi::start(Trouble::default()));
    let (_kept, out) = folder();
    // The variable does not exist in the pods, and text in its value that looks like a variable is sent as it is.
    let key = ["-H", "X-Key: ${THREADCOUNT_TEST_KEY}"];
    let mut command = compare(&api, &one, &other, &out, "1");
    let output = command.args(key).env("THREADCOUNT_TEST_KEY", "s3cret${PATH}").output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    for seen in one.seen().into_iter().chain(other.seen()) {
        assert!(seen.headers.iter().any(|header| header == "X-Key: s3cret${PATH}"), "{:?}", seen.headers);
    }
    let document = result(&out, &output);
    assert!(!document.to_string().contains("s3cret"), "{document}");
    let records = document["records"].as_array().unwrap();
    assert_eq!(records.len(), 2);
    for (record, server) in records.iter().zip([&one, &other]) {
        let load = &record["measured"];
        let count = |key: &str| load["requests"][key].as_u64().unwrap();
        assert!(
            count("ok") > 0
                && count("in_flight_at_start") + count("sent")
                    == count("ok") + count("failed") + count("unfinished"),
            "{load}"
        );
        assert!(server.seen().len() as u64 >= count("ok"), "warm-up and measured load came to this server");
        let pods = load["pods"].as_array().unwrap();
        assert!(pods.len() == 2 && pods.iter().all(|pod| pod["complete"] == true), "{load}");
        let sent: u64 = pods.iter().map(|pod| pod["requests"]["sent"].as_u64().unwrap()).sum();
        assert_eq!(sent, count("sent"));
        assert!(record["cost"].is_null(), "of a server elsewhere nothing is known");
    }
    let shown = String::from_utf8_lossy(&output.stdout).into_owned();
    let in_one_line = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(in_one_line.contains("only responses of one and other were seen"), "{shown}");
    assert_eq!(api.jobs(), 1, "one Job for all loads");
    let container = &api.job().unwrap()["spec"]["template"]["spec"]["containers"][0];
    assert_eq!((container["stdin"].as_bool(), container["args"][0].as_str()), (Some(true), Some("worker")));
    assert_nothing_is_left(&api);
    assert!(stderr(&output).contains("2 pods, which stay for all loads"), "{}", stderr(&output));
}

#[test]
fn the_steps_of_a_search_are_driven_over_pods_that_stay() {
    let server = DelayServer::start(800);
    let api = FakeApi::start(Trouble::default());
    let (kept, out) = folder();
    let file = kept.path().join("search.yaml");
    let text = format!(
        "question: How much?\nserver: {{target_url: \"{}\"}}\nrequest: /\nwarmup: 0s\nruns: 1\ndrop: 0\nvariants: {{elsewhere: {{}}}}\n\
         loads: [{{capacity: {{p99: 5s, from: 60/s, to: 400/s, resolution: 50%}}, duration: 2s}}]\n",
        server.url
    );
    fs::write(&file, text).unwrap();
    let mut command = api.threadcount("run");
    command.arg(&file).args(["--kubernetes", "--pods", "2", "--start-after", "30s", "--out", &out]);
    let output = command.output().unwrap();
    let document = result(&out, &output);
    let search = &document["records"][0]["capacity"];
    let steps = search["steps"].as_array().unwrap();
    assert!(steps.len() >= 3, "{search:#}");
    assert!(steps.iter().any(|step| step["verdict"] == "sustained"), "{search:#}");
    // With a limit of 5 s a step has a connection for each request of five seconds.
    let is_beyond = |step: &&Value| step["asked_per_s"].as_f64().unwrap() > 160.0;
    assert!(steps.iter().filter(is_beyond).all(|step| step["verdict"] != "sustained"), "{search:#}");
    assert!(steps.iter().any(|step| is_beyond(&step)), "{search:#}");
    assert_eq!(api.jobs(), 1, "no new Job for a step");
    assert_nothing_is_left(&api);
}

#[test]
fn an_order_that_is_lost_on_its_way_is_told_again() {
    let trouble = Trouble { loses_first_input: true, ..Trouble::default() };
    let (one, other, api) = (TinyServer::start(), TinyServer::start(), FakeApi::start(trouble));
    let (_kept, out) = folder();
    let output = compare(&api, &one, &other, &out, "1").output().unwrap();
    let document = result(&out, &output);
    assert!(
        document["records"].as_array().unwrap().iter().all(|it| it["failure"].is_null()),
        "{}",
        stderr(&output)
    );
    assert_nothing_is_left(&api);
}

#[test]
fn a_pod_that_is_lost_fails_the_runs_after_it_and_keeps_those_before() {
    let out_of_memory = Some((1, Moment::Ordered(5)));
    let trouble = Trouble { out_of_memory, ..Trouble::default() };
    let (one, other, api) = (TinyServer::start(), TinyServer::start(), FakeApi::start(trouble));
    let (_kept, out) = folder();
    let output = compare(&api, &one, &other, &out, "4").output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let document = result(&out, &output);
    let records = document["records"].as_array().unwrap();
    assert!(records[0]["failure"].is_null() && records[0]["measured"]["requests"]["ok"].as_u64() > Some(0));
    let last = records.last().unwrap()["failure"]["why"].as_str().unwrap();
    assert!(last.contains("more memory than its limit"), "{last}");
    assert_nothing_is_left(&api);
}

#[test]
fn the_right_to_write_to_pods_is_named_with_its_rule() {
    let api = FakeApi::start(Trouble { forbids_attach: true, ..Trouble::default() });
    let (one, other) = (TinyServer::start(), TinyServer::start());
    let (_kept, out) = folder();
    let output = compare(&api, &one, &other, &out, "1").output().unwrap();
    let document = result(&out, &output);
    let why = document["records"][0]["failure"]["why"].as_str().unwrap();
    assert!(why.contains("no right to create pods/attach in namespace perf"), "{why}");
    let rule = r#"{apiGroups: [""], resources: ["pods/attach"], verbs: ["get", "create"]}"#;
    assert!(why.contains(rule), "{why}");
    assert_nothing_is_left(&api);
}

#[test]
fn what_pods_cannot_do_is_refused_before_a_job_is_made() {
    let api = FakeApi::start(Trouble::default());
    let refused = |arguments: &[&str]| {
        let output = api
            .threadcount("compare")
            .args(arguments)
            .args(["--kubernetes", "--url"])
            .arg(if arguments.contains(&"--variant") { "http://127.0.0.1:{port}/" } else { "/" })
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
        stderr(&output)
    };
    let local = refused(&["--variant", "a=x {port}", "--variant", "b=y {port}"]);
    assert!(
        local.contains("would be started on this machine") && local.contains("--target-url a="),
        "{local}"
    );
    let targets = ["--target-url", "a=http://127.0.0.1:1", "--target-url", "b=http://127.0.0.1:2"];
    let few = refused(&[&targets[..], &["-c", "1", "--pods", "2"]].concat());
    assert!(few.contains("has 1 connections, and each pod needs one"), "{few}");
    assert!(api.job().is_none());
}
