//! `threadcount load` as users call it, on tiny servers.

use crate::tiny_server::TinyServer;
use assert_cmd::Command;
use serde_json::Value;
use std::fs;
use std::process::Stdio;
use std::thread;
use std::time::Duration;

const SCHEMA: &str = include_str!("../../../load/schema/load-1.schema.json");

/// The port of tcpmux (RFC 1078), on which no machine listens today.
const NOBODY_LISTENS: &str = "http://127.0.0.1:1/";

fn load(arguments: &[&str]) -> Command {
    let mut command = Command::cargo_bin("threadcount").unwrap();
    command.arg("load").args(arguments).env_remove("NO_COLOR").timeout(Duration::from_secs(60));
    command
}

/// Runs a load with `--json` and returns its output.
fn json(arguments: &[&str]) -> Value {
    let output = load(arguments).args(["--json", "--quiet"]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    serde_json::from_str(&text)
        .unwrap_or_else(|error| panic!("{error}: {text}{}", String::from_utf8_lossy(&output.stderr)))
}

fn stderr_of(arguments: &[&str]) -> String {
    let output = load(arguments).output().unwrap();
    String::from_utf8(output.stderr).unwrap()
}

fn assert_fits_the_schema(document: &Value) {
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    jsonschema::meta::validate(&schema).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let errors: Vec<String> =
        validator.iter_errors(document).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert!(errors.is_empty(), "{errors:#?}");
}

fn assert_all_accounted_for(document: &Value) {
    let count = |key: &str| document["requests"][key].as_u64().unwrap();
    assert_eq!(count("sent"), count("ok") + count("failed") + count("unfinished"), "{document}");
    let failures: u64 = document["failures"].as_object().unwrap().values().filter_map(Value::as_u64).sum();
    assert_eq!(count("failed"), failures, "{document}");
}

#[test]
fn sends_exactly_as_many_requests_as_were_asked_for() {
    let server = TinyServer::start();
    let document = json(&[&server.url("/"), "-n", "1_000", "-c", "7"]);
    assert_eq!(document["requests"]["sent"], 1_000);
    assert_eq!(document["requests"]["ok"], 1_000);
    assert_eq!(document["status"]["200"], 1_000);
    assert_eq!(server.seen().len(), 1_000);
}

#[test]
fn the_json_of_a_closed_load_fits_the_schema() {
    let server = TinyServer::start();
    let document = json(&[&server.url("/"), "-d", "1s", "-c", "3"]);
    assert_fits_the_schema(&document);
    assert_all_accounted_for(&document);
    assert_eq!(document["plan"]["mode"], "closed");
    assert_eq!(document["protocol"], "HTTP/1.1");
    assert!(document["response_time_ms"]["p50"].as_f64().unwrap() > 0.0);
}

#[test]
fn the_json_of_an_open_load_with_failures_fits_the_schema() {
    let server = TinyServer::start();
    let document = json(&[&server.url("/status/503"), "-r", "200/s", "-d", "1s", "--poisson"]);
    assert_fits_the_schema(&document);
    assert_all_accounted_for(&document);
    assert_eq!(document["plan"]["arrivals"], "poisson");
    assert_eq!(document["rate_per_s"]["asked"], 200.0);
    assert!(document["response_time_ms"].is_null());
    assert!(document["failures"]["unexpected status 503"].as_u64().unwrap() > 0);
}

#[test]
fn requests_in_flight_when_the_time_is_up_are_unfinished_with_their_age() {
    let server = TinyServer::start();
    let document = json(&[&server.url("/never"), "-d", "2s", "-c", "2"]);
    assert_fits_the_schema(&document);
    assert_all_accounted_for(&document);
    assert_eq!(document["requests"]["unfinished"], 2);
    assert!(document["unfinished_age_ms"]["max"].as_f64().unwrap() > 100.0);
}

#[test]
fn nobody_listening_is_connection_refused_and_exit_code_1() {
    let url = NOBODY_LISTENS;
    let document = json(&[url, "-n", "5", "-c", "1"]);
    assert_fits_the_schema(&document);
    assert_all_accounted_for(&document);
    assert_eq!(document["failures"]["connection refused"], 5);
    load(&[url, "-n", "5", "-c", "1", "--quiet"]).assert().code(1);
}

#[test]
fn an_expected_status_is_a_success_and_exit_code_0() {
    let server = TinyServer::start();
    let url = server.url("/status/404");
    load(&[&url, "-n", "5", "--quiet"]).assert().code(1);
    load(&[&url, "-n", "5", "--quiet", "--expect", "200,404"]).assert().code(0);
}

#[test]
fn method_headers_and_body_are_sent_as_with_curl() {
    let server = TinyServer::start();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("order.json");
    fs::write(&file, r#"{"id": {seq:7}}"#).unwrap();
    let body = format!("@{}", file.display());
    let url = server.url("/orders?a=b");
    let arguments =
        [&url, "-n", "2", "-c", "1", "--quiet", "-H", "X-One: 1", "-H", "Accept: a/b", "--data", &body];
    load(&arguments).assert().code(0);
    load(&[&url, "-n", "1", "--quiet", "-X", "DELETE"]).assert().code(0);
    let seen = server.seen();
    assert_eq!(seen[0].line, "POST /orders?a=b HTTP/1.1");
    let has = |header: &str| seen[0].headers.iter().any(|line| line.eq_ignore_ascii_case(header));
    assert!(has("X-One: 1") && has("Accept: a/b"), "{seen:?}");
    assert_eq!((seen[0].body.as_str(), seen[1].body.as_str()), (r#"{"id": 7}"#, r#"{"id": 8}"#));
    assert_eq!(seen[2].line, "DELETE /orders?a=b HTTP/1.1");
}

#[test]
fn a_body_comes_from_standard_input_and_a_user_becomes_an_authorization() {
    let server = TinyServer::start();
    let url = server.url("/orders");
    load(&[&url, "-n", "2", "--quiet", "--body", "@-", "--user", "Aladdin:open sesame"])
        .write_stdin("{\"id\": {seq:7}}")
        .assert()
        .code(0);
    let seen = server.seen();
    assert_eq!(seen[0].line, "POST /orders HTTP/1.1");
    let authorization = "Authorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==".to_owned();
    assert!(seen[0].headers.contains(&authorization), "{seen:?}");
    let mut bodies: Vec<&str> = seen.iter().map(|request| request.body.as_str()).collect();
    bodies.sort_unstable();
    assert_eq!(bodies, [r#"{"id": 7}"#, r#"{"id": 8}"#]);
    let twice = [&url, "-n", "1", "--user", "me:a", "-H", "authorization: Bearer b"];
    assert!(stderr_of(&twice).contains("a request has an authorization of its own"));
}

#[test]
fn a_variable_in_a_url_is_sent_and_never_shown() {
    let server = TinyServer::start();
    let port = server.url("").rsplit_once(':').unwrap().1.to_owned();
    let url = "http://me:${LOAD_TEST_TOKEN}@127.0.0.1:${LOAD_TEST_PORT}/a?key=${LOAD_TEST_TOKEN}&b=%7Bx%7D";
    let with_variables = |flags: &[&str]| {
        let mut command = load(&[&[url, "-n", "1", "--quiet"], flags].concat());
        command.env("LOAD_TEST_TOKEN", "s3cret/+").env("LOAD_TEST_PORT", &port).output().unwrap()
    };
    for flags in [&["--json"][..], &[]] {
        let output = with_variables(flags);
        let text = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        assert_eq!(output.status.code(), Some(0), "{text}");
        assert!(text.contains("/a?key=${LOAD_TEST_TOKEN}&b=%7Bx%7D") && !text.contains("s3cret"), "{text}");
    }
    let seen = server.seen();
    assert_eq!(seen[0].line, "GET /a?key=s3cret%2F%2B&b=%7Bx%7D HTTP/1.1");
    // The text is me:s3cret/+ in base64.
    let authorization = "Authorization: Basic bWU6czNjcmV0Lys=".to_owned();
    assert!(seen[0].headers.contains(&authorization), "{seen:?}");
    let unset = load(&[url, "-n", "1"]).env_remove("LOAD_TEST_TOKEN").output().unwrap();
    assert_eq!(unset.status.code(), Some(2));
    let text = String::from_utf8(unset.stderr).unwrap();
    assert!(text.contains("the environment variable `LOAD_TEST_TOKEN` in the URL is not set"), "{text}");
}

#[test]
fn a_variable_in_a_header_a_body_or_a_user_is_sent_and_never_shown() {
    let server = TinyServer::start();
    let with_token = |value: Option<&str>, flags: &[&str]| {
        let url = server.url("/echo/503");
        let mut command = load(&[&[url.as_str(), "-n", "1", "--json", "--quiet"], flags].concat());
        command.env_remove("LOAD_TEST_TOKEN");
        command.envs(value.map(|value| ("LOAD_TEST_TOKEN", value))).output().unwrap()
    };
    for (flag, written, name) in [
        ("-H", "Authorization: Bearer ${LOAD_TEST_TOKEN}", "--header"),
        ("--data", "{\"mine\": \"${LOAD_TEST_TOKEN}\"}", "--data"),
        ("--user", "me:${LOAD_TEST_TOKEN}", "--user"),
    ] {
        let output = with_token(Some("s3cret/+"), &[flag, written]);
        let text = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        assert!(!text.contains("s3cret"), "{text}");
        let unset = String::from_utf8(with_token(None, &[flag, written]).stderr).unwrap();
        assert!(
            unset.contains(&format!("the environment variable `LOAD_TEST_TOKEN` in {name} is not set")),
            "{unset}"
        );
    }
    let seen = server.seen();
    assert_eq!(seen.len(), 3, "{seen:?}");
    assert!(seen[0].headers.contains(&"Authorization: Bearer s3cret/+".to_owned()), "{seen:?}");
    assert_eq!(seen[1].body, r#"{"mine": "s3cret/+"}"#);
    // The text is me:s3cret/+ in base64.
    assert!(seen[2].headers.contains(&"Authorization: Basic bWU6czNjcmV0Lys=".to_owned()), "{seen:?}");
}

#[test]
fn a_secret_that_a_server_sends_back_is_never_shown() {
    let server = TinyServer::start();
    let url = server.url("/echo/503");
    let with_user = url.replace("//", "//me:s3cret%2F@") + "?access_token=s3cret";
    for flags in [
        &["-H", "X-Api-Key: s3cret/+"][..],
        &["-H", "Cookie: lang=en; sid=s3cret"],
        &["-H", "Authorization: Basic bWU6czNjcmV0Lys="],
        &["--user", "me:s3cret/+"],
        &["--data", r#"{"password": "s3cret\"x"}"#],
        &[&with_user],
    ] {
        let url = if flags.len() == 1 { None } else { Some(&*url) };
        let words: Vec<&str> =
            url.into_iter().chain(flags.iter().copied()).chain(["-n", "1", "--json"]).collect();
        let output = load(&words).output().unwrap();
        let text = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        assert!(text.contains("/echo/503"), "{text}");
        assert!(!text.contains("s3cret") && !text.contains("bWU6czNjcmV0"), "{flags:?}: {text}");
    }
    assert_eq!(server.seen().len(), 6, "{:?}", server.seen());
}

#[test]
fn fewer_threads_than_were_requested_are_a_warning_and_as_many_are_none() {
    let server = TinyServer::start();
    let warnings = |threads: &str| {
        json(&[&server.url("/"), "-n", "8", "-c", "2", "--threads", threads])["warnings"].to_string()
    };
    assert!(warnings("4").contains("2 of 4 threads were used"), "{}", warnings("4"));
    assert!(!warnings("2").contains("threads were used"), "{}", warnings("2"));
}

#[test]
fn some_failures_may_be_allowed() {
    let server = TinyServer::start();
    let (good, bad) = (server.url("/"), server.url("/status/503"));
    let mixed = [&good, &bad, "-n", "100", "-c", "1", "--quiet"];
    load(&[&mixed[..], &["--fail-above", "50%"]].concat()).assert().code(0);
    load(&[&mixed[..], &["--fail-above", "49%"]].concat()).assert().code(1);
    load(&mixed).assert().code(1);
}

#[test]
fn the_time_to_the_first_byte_stands_beside_the_others() {
    let server = TinyServer::start();
    let output = load(&[&server.url("/"), "-n", "20", "--quiet"]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("response time  service time  first byte"), "{text}");
    let document = json(&[&server.url("/"), "-n", "20"]);
    let p50 = |key: &str| document[key]["p50"].as_f64().unwrap();
    assert!(0.0 < p50("first_byte_time_ms") && p50("first_byte_time_ms") <= p50("service_time_ms"));
}

#[test]
fn several_urls_are_asked_by_their_weights() {
    let server = TinyServer::start();
    let (often, seldom) = (server.url("/often"), server.url("/seldom"));
    load(&[&often, &seldom, "-n", "400", "-c", "2", "--weights", "3,1", "--quiet"]).assert().code(0);
    let seen = server.seen();
    let asked_often = seen.iter().filter(|request| request.line.contains("/often")).count();
    assert_eq!(seen.len(), 400);
    assert!((240..=360).contains(&asked_often), "{asked_often}");
    let text = stderr_of(&[&often, &seldom, "--weights", "1"]);
    assert!(text.contains("--weights has 1 and there are 2 URLs"), "{text}");
}

#[test]
fn a_target_file_of_vegeta_is_read_and_a_mistake_in_it_is_named_with_its_line() {
    let server = TinyServer::start();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("targets.txt");
    let path = file.to_str().unwrap();
    fs::write(&file, format!("GET {}\nX-Test: yes\n\nPUT {}\n", server.url("/a"), server.url("/b"))).unwrap();
    load(&["--targets", path, "-n", "40", "--quiet"]).assert().code(0);
    let seen = server.seen();
    assert!(seen.iter().any(|request| request.line.starts_with("PUT /b ")), "{seen:?}");
    let with_header = seen.iter().find(|request| request.line.starts_with("GET /a ")).unwrap();
    assert!(with_header.headers.iter().any(|line| line.eq_ignore_ascii_case("X-Test: yes")), "{seen:?}");
    fs::write(&file, "GET http://localhost/\nno header\n").unwrap();
    let text = stderr_of(&["--targets", path]);
    assert!(text.contains("targets.txt") && text.contains("line 2"), "{text}");
    load(&["--targets", path]).assert().code(2);
    load(&["--targets", path, "http://localhost/"]).assert().code(2);
}

#[test]
fn a_url_that_cannot_be_asked_is_answered_with_what_to_write() {
    let text = stderr_of(&["localhost:8080/x"]);
    assert!(text.contains("http://localhost:8080/x"), "{text}");
    load(&["localhost:8080/x"]).assert().code(2);
}

#[test]
fn the_summary_goes_to_stdout_without_colours_where_it_is_no_terminal() {
    let server = TinyServer::start();
    let output = load(&[&server.url("/"), "-n", "100"]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0));
    for part in ["100 sent = 100 ok + 0 failed + 0 unfinished", "response time", "p99", "status    200  100"]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains('\u{1b}'), "{text:?}");
}

#[test]
fn all_files_are_written() {
    let server = TinyServer::start();
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (out, hgrm, hlog, csv) = (path("o.json"), path("o.hgrm"), path("o.hlog"), path("o.csv"));
    fs::write(&out, "x".repeat(100_000)).unwrap();
    load(&[&server.url("/"), "-n", "50", "--out", &out, "--hgrm", &hgrm, "--hlog", &hlog, "--csv", &csv])
        .assert()
        .code(0);
    let document: Value = serde_json::from_str(&fs::read_to_string(&out).unwrap()).unwrap();
    assert_fits_the_schema(&document);
    assert!(fs::read_to_string(&hgrm).unwrap().contains("Total count    =           50]"));
    assert!(fs::read_to_string(&hlog).unwrap().contains("Tag=service,"));
    let seconds = fs::read_to_string(&csv).unwrap();
    let answered: u64 =
        seconds.lines().skip(1).map(|line| line.split(',').nth(3).unwrap().parse::<u64>().unwrap()).sum();
    assert_eq!(answered, 50, "{seconds}");
}

#[test]
fn a_file_that_cannot_be_written_is_named_before_anything_is_sent() {
    let server = TinyServer::start();
    for flag in ["--out", "--hgrm", "--hlog", "--csv"] {
        let arguments = [&server.url("/"), "-n", "5", flag, "/no/such/folder/file"];
        load(&arguments).assert().code(2);
        let text = stderr_of(&arguments);
        assert!(text.contains(flag) && text.contains("make its folder first"), "{text}");
    }
    assert!(server.seen().is_empty());
}

#[test]
fn an_old_file_stays_where_the_new_one_cannot_be_written() {
    let server = TinyServer::start();
    let folder = tempfile::tempdir().unwrap();
    let files = ["o.json", "o.hgrm", "o.hlog", "o.csv", "log.csv"].map(|name| folder.path().join(name));
    files.iter().for_each(|file| fs::write(file, "an old result").unwrap());
    let flags = ["--out", "--hgrm", "--hlog", "--csv", "--log"];
    let shell = "ulimit -f 0; exec \"$0\" \"$@\"";
    let program = assert_cmd::cargo::cargo_bin("threadcount");
    let mut limited = std::process::Command::new("sh");
    limited.arg("-c").arg(shell).arg(program).args(["load", &server.url("/"), "-n", "5", "--quiet"]);
    for (flag, file) in flags.iter().zip(&files) {
        limited.arg(flag).arg(file);
    }
    let output = limited.output().unwrap();
    assert_eq!(output.status.code(), Some(4), "{}", String::from_utf8_lossy(&output.stderr));
    for file in &files {
        assert_eq!(fs::read_to_string(file).unwrap(), "an old result", "{}", file.display());
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), files.len(), "nothing is left over");
}

#[test]
fn two_flags_that_name_the_same_file_are_refused_before_the_load() {
    let server = TinyServer::start();
    let folder = tempfile::tempdir().unwrap();
    let mut command = load(&[&server.url("/"), "-n", "5", "--out", "x", "--hlog", "./x"]);
    let output = command.current_dir(folder.path()).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(text.contains("--out and --hlog name the same file: ./x"), "{text}");
    assert!(server.seen().is_empty() && fs::read_dir(folder.path()).unwrap().next().is_none());
    let twice = ["-n", "5", "--quiet", "--out", "/dev/null", "--csv", "/dev/null"];
    assert!(load(&[&[server.url("/").as_str()][..], &twice].concat()).output().unwrap().status.success());
}

#[test]
fn a_full_disk_is_named_after_the_result_and_is_exit_code_4() {
    let server = TinyServer::start();
    let output = load(&[&server.url("/"), "-n", "5", "--out", "/dev/full"]).output().unwrap();
    assert_eq!(output.status.code(), Some(4));
    assert!(String::from_utf8_lossy(&output.stdout).contains("5 sent = 5 ok"));
    assert!(String::from_utf8_lossy(&output.stderr).contains("--out /dev/full"));
}

#[test]
fn files_are_written_where_the_result_cannot_be_shown() {
    let server = TinyServer::start();
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name);
    let (json, csv) = (file("load.json"), file("load.csv"));
    let mut full = std::process::Command::new(assert_cmd::cargo::cargo_bin("threadcount"));
    full.args(["load", &server.url("/"), "-n", "5", "--quiet", "--out"]).arg(&json).arg("--csv").arg(&csv);
    let output = full.stdout(fs::File::create("/dev/full").unwrap()).output().unwrap();
    assert_eq!(output.status.code(), Some(4), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(fs::read_to_string(json).unwrap().contains("threadcount/load/1"));
    assert!(fs::read_to_string(csv).unwrap().lines().count() > 1);
}

#[test]
fn a_wrong_value_is_answered_with_its_flag_and_what_to_write() {
    for (arguments, parts) in [
        (["-d", "10"], ["--duration", "write 10s for seconds"]),
        (["-r", "fast"], ["--rate", "5000/s"]),
        (["-c", "0"], ["--connections", "at least 1"]),
        (["-d", "{\"a\":1}"], ["--duration", "for a body write --data TEXT"]),
        (["--user", "me"], ["--user", "write NAME:PASSWORD"]),
        (["--fail-above", "1"], ["--fail-above", "e.g. 5%"]),
        (["-t", "2"], ["--timeout", "--threads 2"]),
        (["-H", "oops"], ["--header", "write it as 'Name: value'"]),
        (["--ramp", "1:2"], ["--ramp", "100:5000:30s"]),
        (["--expect", "20"], ["--expect", "200,301-399"]),
        (["--cores", "x"], ["--cores", "0,1"]),
    ] {
        let arguments = [&["http://127.0.0.1:1/"], &arguments[..]].concat();
        load(&arguments).assert().code(2);
        let text = stderr_of(&arguments);
        assert!(parts.iter().all(|part| text.contains(part)), "{text}");
    }
}

#[test]
fn a_hang_up_under_nohup_ends_nothing() {
    let server = TinyServer::start();
    let child = std::process::Command::new("nohup")
        .arg(assert_cmd::cargo::cargo_bin("threadcount"))
        .args(["load", &server.url("/"), "-d", "60s", "-c", "2"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let wait_for = |requests: usize| {
        while server.seen().len() < requests {
            thread::sleep(Duration::from_millis(5));
        }
    };
    wait_for(10);
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::HUP).unwrap();
    // The load continues: after a first signal each connection would send at most one more request.
    wait_for(server.seen().len() + 100);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("! interrupted: the figures cover the"), "Ctrl-C is the first signal: {text}");
}

#[test]
fn ctrl_c_ends_the_load_early_and_still_shows_what_was_measured() {
    let server = TinyServer::start();
    let child = std::process::Command::new(assert_cmd::cargo::cargo_bin("threadcount"))
        .args(["load", &server.url("/"), "-d", "60s", "-c", "2"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // Each of the two connections sends its next request only after its response.
    while server.seen().len() < 10 {
        thread::sleep(Duration::from_millis(5));
    }
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("! interrupted: the figures cover the"), "{text}");
    assert!(text.contains("response time"), "{text}");
}
