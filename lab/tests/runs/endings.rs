//! Runs that end badly: a server that hangs, and sessions that measure nothing.

use crate::schema;
use assert_cmd::cargo::cargo_bin;
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Output};
use tempfile::TempDir;

const DELAY_SERVER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/servers/delay.py");

/// Runs one round of variant `a` with this environment: 20 ms per response, two clients.
fn run(folder: &TempDir, env: &str, load: &str) -> (Output, Value) {
    run_with(folder, env, load, &[])
}

/// Like [`run`], with environment variables for the command itself.
fn run_with(folder: &TempDir, env: &str, load: &str, own: &[(&str, &str)]) -> (Output, Value) {
    let text = format!(
        "question: q\nrequest: /\nwarmup: 0s\nruns: 1\n\
         variants: {{a: {{command: \"python3 {DELAY_SERVER} {{port}} 20\", env: {{{env}}}}}}}\nloads: [{load}]\n"
    );
    let path = folder.path().join("mine.yaml");
    fs::write(&path, text).unwrap();
    let out = path.with_extension("out");
    let mut command = threadcount();
    command.arg("run").arg(&path).arg("--no-probe").arg("--out").arg(&out).envs(own.iter().copied());
    let output = command.output().unwrap();
    let document = schema::result_file(&out);
    (output, document)
}

fn threadcount() -> Command {
    Command::new(cargo_bin("threadcount"))
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn why(document: &Value) -> String {
    document["records"][0]["failure"]["why"].as_str().unwrap_or_default().to_owned()
}

/// There is no response in the last half of this load, even if the first ten took seconds.
const OF_12_S: &str = "{clients: 2, duration: 12s}";

#[test]
fn a_server_that_was_stopped_in_the_measured_window_is_a_failed_run_with_the_state_of_its_process() {
    let folder = tempfile::tempdir().unwrap();
    let (output, document) = run(&folder, "STOP_AFTER: 10", OF_12_S);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let why = why(&document);
    assert!(why.contains("no response in the last") && why.contains("state T"), "{why}");
    assert_eq!(document["trusted"], false);
    assert_eq!(document["why_not"][0]["reason"]["kind"], "run-failed");
    assert!(document["records"][0]["measured"]["requests"]["ok"].as_u64().unwrap() > 0, "they are kept");
}

#[test]
fn a_server_that_never_answers_a_request_of_the_window_is_a_failed_run() {
    let folder = tempfile::tempdir().unwrap();
    let (output, document) = run(&folder, "SILENT_AFTER: 0", "{clients: 2, duration: 1s}");
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let why = why(&document);
    assert!(why.contains("no response to ") && why.contains("its process is running"), "{why}");
    assert!(
        stderr(&output).contains("nothing was measured because no run is complete"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn a_slow_server_does_not_hang() {
    let folder = tempfile::tempdir().unwrap();
    // Each request takes 400 ms, one at a time, so two clients wait for 800 ms.
    let text = "WORKERS: 1";
    let (output, document) = run(&folder, text, "{clients: 40, duration: 2s}");
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(document["records"][0]["failure"].is_null());
}

#[test]
fn a_capacity_of_a_server_that_was_stopped_in_the_search_is_a_failed_run() {
    let folder = tempfile::tempdir().unwrap();
    let load = "{capacity: {p99: 500ms, from: 50/s, to: 400/s}, duration: 2s}";
    let (output, document) = run(&folder, "STOP_AFTER: 150", load);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(why(&document).contains("state T"), "{document:#}");
}

/// The reason for the failure of a run whose server is stopped, with this script in place of `ab`.
fn why_under(ab: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("ab");
    fs::write(&program, format!("#!/bin/sh\n{ab}\n")).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", folder.path().display(), std::env::var("PATH").unwrap());
    let load = "{clients: 2, duration: 60s, tool: {ab: 1}}";
    let (output, document) = run_with(&folder, "STOP_AFTER: 1", load, &[("PATH", &path)]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    why(&document).to_owned()
}

/// The path of `ab`.
fn real_ab() -> String {
    let found = Command::new("which").arg("ab").output().unwrap();
    let ab = String::from_utf8(found.stdout).unwrap();
    assert!(!ab.is_empty(), "ab is missing: `./dev test` installs it");
    ab.trim().to_owned()
}

/// The real ab, which gives up after 5 s without a response instead of 30.
#[test]
fn an_ab_that_gives_up_on_a_server_that_was_stopped_is_a_failed_run_with_the_state_of_its_process() {
    let why = why_under(&format!("exec {} -s 5 \"$@\"", real_ab()));
    assert!(
        why.contains("ab gave up") && why.contains("the server hangs") && why.contains("state T"),
        "{why}"
    );
}

#[test]
fn an_ab_whose_output_cannot_be_read_shows_nothing_of_the_server() {
    let why =
        why_under(&format!("for url; do :; done\n{} -n 1 \"$url\" > /dev/null\necho nothing", real_ab()));
    assert!(why.contains("ab printed no line") && !why.contains("the server"), "{why}");
}

#[test]
fn a_load_that_gets_no_response_is_exit_code_1_though_no_request_has_failed() {
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", silent.local_addr().unwrap());
    let output = threadcount().args(["load", &url, "-c", "2", "-d", "300ms", "--quiet"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
}

/// The shell has a limit of open files that every load exceeds.
#[test]
fn a_session_that_can_run_nothing_is_exit_code_1() {
    let folder = tempfile::tempdir().unwrap();
    let server = format!("python3 {DELAY_SERVER} {{port}} 5");
    let out = folder.path().join("out");
    let output = Command::new("sh")
        .args(["-c", "ulimit -n 64; exec \"$@\"", "sh"])
        .arg(cargo_bin("threadcount"))
        .args(["compare", "--url", "http://127.0.0.1:{port}/", "--no-probe", "-c", "100", "-d", "1s"])
        .args(["--variant", &format!("a={server}"), "--variant", &format!("b={server}"), "--out"])
        .arg(&out)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let output_text = stderr(&output);
    assert!(output_text.contains("nothing was measured"), "{output_text}");
    let shown = String::from_utf8_lossy(&output.stdout);
    assert!(!output_text.contains("-0 s") && !shown.contains("trust good"), "{output_text}{shown}");
}
