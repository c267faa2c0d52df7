//! Several processes send one load, and their results are merged into one.

use crate::tiny_server::TinyServer;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use threadcount_load::merge::{Line, Message};

const SCHEMA: &str = include_str!("../../../load/schema/load-1.schema.json");

fn threadcount() -> Command {
    Command::new(env!("CARGO_BIN_EXE_threadcount"))
}

/// A moment this many seconds from now, as `--start-at` takes it.
fn in_seconds(seconds: f64) -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    format!("{:.3}", now.as_secs_f64() + seconds)
}

fn share(part: &str, arguments: &[&str]) -> Child {
    let mut command = threadcount();
    command.args(["load", "--share", part]).args(arguments);
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Runs all shares at once and returns what each of them printed.
fn shares(count: u32, arguments: &[&str]) -> Vec<String> {
    let children: Vec<Child> =
        (0..count).map(|index| share(&format!("{index}/{count}"), arguments)).collect();
    let text = |child: Child| {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    children.into_iter().map(text).collect()
}

/// Merges a text with `threadcount merge -`.
fn merge(text: &str, arguments: &[&str]) -> Output {
    let mut command = threadcount();
    command.args(["merge", "-"]).args(arguments).stdin(Stdio::piped());
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // If the first lines are refused, the others are not read.
    let _ = child.stdin.take().unwrap().write_all(text.as_bytes());
    child.wait_with_output().unwrap()
}

fn merged(text: &str) -> Value {
    let output = merge(text, &["--json"]);
    let error = String::from_utf8_lossy(&output.stderr);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{error}"))
}

fn count(document: &Value, key: &str) -> u64 {
    document["requests"][key].as_u64().unwrap()
}

fn assert_fits_the_schema(document: &Value) {
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let errors: Vec<String> =
        validator.iter_errors(document).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert!(errors.is_empty(), "{errors:#?}");
}

/// The last parts of the requested paths.
fn numbers(server: &TinyServer) -> Vec<u64> {
    let number = |line: &str| line.split(' ').nth(1)?.rsplit('/').next()?.parse().ok();
    server.seen().iter().filter_map(|seen| number(&seen.line)).collect()
}

#[test]
fn four_processes_send_one_open_load_and_make_one_result() {
    let server = TinyServer::start();
    let folder = tempfile::tempdir().unwrap();
    let users = folder.path().join("users.csv");
    let mut rows = "id\n".to_owned();
    (0..2_000).for_each(|id| writeln!(rows, "user-{id}").unwrap());
    fs::write(&users, rows).unwrap();
    let header = format!("X-User: {{csv:{}:id}}", users.display());
    let (url, start) = (server.url("/order/{seq:1}"), in_seconds(20.0));
    let arguments =
        [&url, "-r", "400/s", "-d", "2s", "-c", "16", "-H", &header, "--start-at", &start, "--grace", "5s"];
    let texts = shares(4, &arguments);
    let document = merged(&texts.concat());
    assert_fits_the_schema(&document);

    // 400/s for 2 s, each at its time, independent of the number of processes.
    assert_eq!(count(&document, "sent") + count(&document, "not_sent"), 800, "{document}");
    assert_eq!(
        count(&document, "sent"),
        count(&document, "ok") + count(&document, "failed") + count(&document, "unfinished")
    );
    assert_eq!(document["plan"]["rate_per_s"], 400.0);
    assert_eq!(document["plan"]["connections"], 16);
    let pods = document["pods"].as_array().unwrap();
    assert_eq!(pods.len(), 4);
    for pod in pods {
        assert_eq!((pod["complete"].as_bool(), pod["connections"].as_u64()), (Some(true), Some(4)), "{pod}");
        assert!(pod["started_ms"].as_f64().unwrap() <= 55.0, "{pod}");
    }
    let sum: u64 = pods.iter().map(|pod| pod["requests"]["ok"].as_u64().unwrap()).sum();
    assert_eq!(sum, count(&document, "ok"));
    let longest = pods.iter().filter_map(|pod| pod["response_time_ms"]["max"].as_f64()).fold(0.0, f64::max);
    assert_eq!(document["response_time_ms"]["max"].as_f64(), Some(longest));

    // No number and no row of the file was sent twice.
    let numbers = numbers(&server);
    let distinct: BTreeSet<u64> = numbers.iter().copied().collect();
    assert_eq!(distinct.len(), numbers.len());
    assert!(distinct.iter().all(|number| (1..=800).contains(number)));
    let users: Vec<String> = server
        .seen()
        .iter()
        .filter_map(|seen| {
            seen.headers.iter().find(|it| it.to_ascii_lowercase().starts_with("x-user")).cloned()
        })
        .collect();
    assert_eq!(users.iter().collect::<BTreeSet<_>>().len(), users.len());
}

#[test]
fn a_number_of_requests_in_a_closed_loop_is_divided_to_the_last_one() {
    let server = TinyServer::start();
    let url = server.url("/{seq:1}");
    let texts = shares(3, &[&url, "-n", "1000", "-c", "7"]);
    let document = merged(&texts.concat());
    assert_eq!((count(&document, "sent"), count(&document, "ok")), (1_000, 1_000));
    assert_eq!(
        numbers(&server).into_iter().collect::<BTreeSet<u64>>(),
        (1..=1_000).collect::<BTreeSet<u64>>()
    );
    let connections: Vec<u64> =
        document["pods"].as_array().unwrap().iter().map(|pod| pod["connections"].as_u64().unwrap()).collect();
    assert_eq!(connections, [3, 2, 2]);
}

#[test]
fn lines_may_have_names_before_them_and_be_mixed_with_others() {
    let server = TinyServer::start();
    let url = server.url("/");
    let texts = shares(2, &[&url, "-n", "100", "-c", "4"]);
    let prefixed: Vec<String> = (0..)
        .zip(&texts)
        .flat_map(|(rank, text)| text.lines().map(move |line| format!("{rank}: {line}\n")))
        .collect();
    let text = format!("srun: job 17 queued\n{}Connection closed.\n", prefixed.concat());
    assert_eq!(count(&merged(&text), "ok"), 100);
    let shown = merge(&text, &[]);
    let shown = String::from_utf8(shown.stdout).unwrap();
    assert!(shown.contains("100 sent = 100 ok") && shown.contains("pods"), "{shown}");
}

fn is_second(text: &str) -> bool {
    matches!(Line::find(text), Some(Ok(Line { message: Message::Second(_), .. })))
}

#[test]
fn a_share_that_was_killed_is_missing_and_the_rest_is_kept() {
    let server = TinyServer::start();
    let url = server.url("/");
    let arguments = [&url, "-r", "100/s", "-d", "8s", "-c", "4"];
    let (whole, mut killed) = (share("0/2", &arguments), share("1/2", &arguments));
    let mut lines = BufReader::new(killed.stdout.take().unwrap()).lines().map_while(Result::ok);
    let mut text = String::new();
    while !text.lines().any(is_second) {
        text += &(lines.next().expect("it sends") + "\n");
    }
    killed.kill().unwrap();
    lines.for_each(|line| text += &(line + "\n"));
    killed.wait().unwrap();
    text += &String::from_utf8(whole.wait_with_output().unwrap().stdout).unwrap();
    let output = merge(&text, &["--json"]);
    assert_eq!(output.status.code(), Some(1));
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_fits_the_schema(&document);
    let warning = document["warnings"][0].as_str().unwrap();
    assert!(warning.contains("share 1 of 2 is missing"), "{warning}");
    assert_eq!(count(&document, "sent") + count(&document, "not_sent"), 400);
    assert_eq!(document["pods"][1]["complete"], false);
}

#[test]
fn who_is_interrupted_still_tells_what_was_measured() {
    let server = TinyServer::start();
    let url = server.url("/");
    let child = share("0/1", &[&url, "-r", "100/s", "-d", "60s", "-c", "4"]);
    while server.seen().len() < 10 {
        thread::sleep(Duration::from_millis(5));
    }
    let pid = rustix::process::Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    let text = String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap();
    let document = merged(&text);
    assert_eq!(document["interrupted"], true);
    assert!(count(&document, "sent") > 0);
}

#[test]
fn who_comes_too_late_for_the_start_sends_nothing_and_says_why() {
    let server = TinyServer::start();
    let url = server.url("/");
    let output =
        share("0/1", &[&url, "-n", "10", "-c", "1", "--start-at", "1700000000"]).wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(server.seen().is_empty());
    let text = String::from_utf8(output.stdout).unwrap();
    let refused = merge(&text, &[]);
    assert_eq!(refused.status.code(), Some(2));
    let words = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(words.contains("before this process had opened its connections"), "{words}");
}

#[test]
fn index_and_count_may_be_in_the_environment() {
    let server = TinyServer::start();
    let url = server.url("/");
    let run = |index: &str| {
        let mut command = threadcount();
        command.args(["load", "--share", "auto", &url, "-n", "10", "-c", "2"]);
        command
            .env("JOB_COMPLETION_INDEX", index)
            .env("THREADCOUNT_SHARES", "2")
            .env("POD_NAME", format!("load-{index}"));
        String::from_utf8(command.output().unwrap().stdout).unwrap()
    };
    let document = merged(&(run("0") + &run("1")));
    assert_eq!(count(&document, "ok"), 10);
    assert_eq!(document["pods"][1]["pod"], "load-1");
}

#[test]
fn a_damaged_line_is_refused_with_its_number() {
    let server = TinyServer::start();
    let text = shares(1, &[&server.url("/"), "-n", "10", "-c", "1"]).concat();
    let damaged = text.replacen("\"ok\":10", "\"ok\":11", 1);
    let output = merge(&damaged, &[]);
    assert_eq!(output.status.code(), Some(2));
    let words = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(words.contains("line ") && words.contains("checksum"), "{words}");
}

#[test]
fn a_line_without_an_end_is_refused_and_does_not_fill_the_memory() {
    let output = threadcount().args(["merge", "/dev/zero"]).stdin(Stdio::null()).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let words = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(words.contains("line 1 cannot be read: a line of a share is longer than 64 MiB"), "{words}");
}

#[test]
fn more_shares_than_connections_are_refused() {
    let output = share("0/4", &["http://127.0.0.1:1/", "-n", "100", "-c", "3"]).wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("cannot be shared by 4 processes"));
}

/// Nothing is sent: the address belongs to a network for documentation (RFC 5737), and the flag is missing.
#[test]
fn a_public_address_is_refused_without_the_users_word() {
    let mut command = threadcount();
    let output = command.args(["load", "http://203.0.113.7/", "-n", "1"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let words = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(words.contains("--allow-remote") && words.contains("your own machine"), "{words}");
}

#[test]
fn a_secret_of_a_url_is_in_no_share_and_in_no_merged_result() {
    let server = TinyServer::start();
    let url = format!("{}?token=s3cret", server.url("/"));
    let text = shares(1, &[&url, "-n", "10", "-c", "2"]).concat();
    let document = merged(&text);
    assert!(document["target"].as_str().unwrap().ends_with("?token=***"), "{document}");
    assert!(!text.contains("s3cret") && !document.to_string().contains("s3cret"), "{text}");
}
