//! Settings of a load besides its size, given to `threadcount compare` and in files, on real servers: TLS, HTTP/2, limits, expected
//! answers, several requests with placeholders.

use crate::schema;

use assert_cmd::cargo::cargo_bin;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use tempfile::TempDir;

const SERVER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/servers/asked.py");

fn threadcount(arguments: &[&str], out: &Path) -> Output {
    let mut command = Command::new(cargo_bin("threadcount"));
    command.args(arguments).args(["--no-probe", "--runs", "1", "--replace", "--out"]).arg(out);
    command.env("THREADCOUNT_HOME", concat!(env!("CARGO_MANIFEST_DIR"), "/..")).output().unwrap()
}

/// Compares two variants with the same command under a load of a few requests.
fn compare(url: &str, server: &str, load: &[&str], out: &Path) -> Output {
    let (a, b) = (format!("a={server}"), format!("b={server}"));
    let fixed = ["compare", "--url", url, "--variant", &a, "--variant", &b, "--warmup", "0s"];
    threadcount(&[&fixed[..], load].concat(), out)
}

/// Runs an experiment with one variant.
fn run(folder: &Path, server: &str, load: &str) -> Output {
    let file = folder.join("x.yaml");
    let text =
        format!("question: q\nserver: {server}\nvariants: {{a: {{}}}}\nwarmup: 0s\nloads:\n  - {load}\n");
    fs::write(&file, text).unwrap();
    threadcount(&["run", file.to_str().unwrap()], &folder.join("out"))
}

fn result(out: &Path) -> Value {
    schema::result_file(out)
}

fn printed(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// All requests that the server of the first run has logged.
fn asked(out: &Path, document: &Value) -> Vec<Value> {
    let log = out.join(document["records"][0]["server"]["log"].as_str().unwrap());
    let log = fs::read_to_string(log).unwrap();
    log.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

/// The paths of requests, without those that check whether the server is ready.
fn paths(asked: &[Value]) -> Vec<&str> {
    let ours = |request: &&Value| {
        request["headers"]["user-agent"].as_str().is_some_and(|agent| agent.starts_with("threadcount/"))
    };
    asked.iter().filter(ours).map(|request| request["path"].as_str().unwrap()).collect()
}

fn tls_server(folder: &Path) -> String {
    let made = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
    let (certificate, key) = (folder.join("certificate.pem"), folder.join("key.pem"));
    fs::write(&certificate, made.cert.pem()).unwrap();
    fs::write(&key, made.signing_key.serialize_pem()).unwrap();
    format!("python3 {SERVER} {{port}} {} {}", certificate.display(), key.display())
}

#[test]
fn a_service_over_tls_is_compared_where_its_certificate_need_not_be_verified() {
    let folder = TempDir::new().unwrap();
    let url = "https://127.0.0.1:{port}/shop";
    let server = tls_server(folder.path());
    let output = compare(url, &server, &["-n", "20", "-c", "2", "--insecure"], folder.path());
    assert!(output.status.success(), "{}", printed(&output));
    let document = result(folder.path());
    for record in document["records"].as_array().unwrap() {
        assert_eq!(record["measured"]["requests"]["ok"], 20, "{}", record["measured"]);
    }
    assert_eq!(document["experiment"]["loads"][0]["sending"]["insecure"], true);
    assert_eq!(paths(&asked(folder.path(), &document)), ["/shop"; 20]);
    let report = fs::read_to_string(folder.path().join("report.html")).unwrap();
    assert!(report.contains("not verified"), "how to repeat it is in the report");
}

#[test]
fn a_certificate_that_nobody_vouches_for_is_a_failure_with_its_cause() {
    let folder = TempDir::new().unwrap();
    let server = tls_server(folder.path());
    compare("https://127.0.0.1:{port}/", &server, &["-n", "3", "-c", "1"], folder.path());
    let measured = &result(folder.path())["records"][0]["measured"];
    assert_eq!((&measured["requests"]["ok"], &measured["requests"]["failed"]), (&json!(0), &json!(3)));
    let causes: Vec<&String> = measured["failures"].as_object().unwrap().keys().collect();
    assert!(causes.iter().all(|cause| cause.contains("certificate")), "{causes:?}");
}

#[test]
fn several_requests_with_placeholders_bodies_and_random_arrivals_are_sent_and_kept_in_the_result() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("order.json"), r#"{"id": {seq:1}}"#).unwrap();
    let load = "{rate: 200/s, requests: 40, poisson: true, seed: 3, connections: 4, expect: [200, 404], request: \
        ['/item/{rand:5:5}', {path: /status/404, method: PUT, body: '@order.json', headers: {X-Id: 'n{seq:1}', Accept: }}]}";
    let output =
        run(folder.path(), &format!("{{command: 'python3 {SERVER} {{port}}', ready: /ready}}"), load);
    assert!(output.status.success(), "{}", printed(&output));
    let out = folder.path().join("out");
    let document = result(&out);
    let measured = &document["records"][0]["measured"];
    assert_eq!((&measured["requests"]["ok"], &measured["requests"]["failed"]), (&json!(40), &json!(0)));
    assert_eq!(measured["status"], json!({"200": 20, "404": 20}));
    assert_eq!((&measured["plan"]["arrivals"], &measured["plan"]["seed"]), (&json!("poisson"), &json!(3)));

    let asked = asked(&out, &document);
    let put: Vec<&Value> = asked.iter().filter(|request| request["method"] == "PUT").collect();
    let bodies: BTreeSet<&str> = put.iter().map(|request| request["body"].as_str().unwrap()).collect();
    assert_eq!(bodies.len(), 20, "each has a number of its own: {bodies:?}");
    for request in &put {
        let id = request["headers"]["x-id"].as_str().unwrap().trim_start_matches('n');
        assert_eq!(request["body"], format!(r#"{{"id": {id}}}"#), "all numbers of one request agree");
        assert!(request["headers"]["accept"].is_null(), "{request}");
    }
    assert_eq!(paths(&asked).iter().filter(|path| **path == "/item/5").count(), 20);

    let kept = &document["experiment"]["loads"][0];
    assert_eq!(kept["request"]["path"], "/item/{rand:5:5}");
    assert_eq!(kept["more_requests"][0]["body"], r#"{"id": {seq:1}}"#);
    let report = fs::read_to_string(out.join("report.html")).unwrap().replace("&#x2f;", "/");
    let asked = "GET /item/{rand:5:5} · PUT /status/404 (X-Id: n{seq:1}; no Accept; body ";
    for part in [asked, "Poisson", "200,404"] {
        assert!(report.contains(part), "how to repeat it is in the report: {part}");
    }
}

#[test]
fn a_request_that_is_not_answered_within_its_limit_has_failed_by_then() {
    let folder = TempDir::new().unwrap();
    let load = "{clients: 2, requests: 4, timeout: 100ms, request: /never}";
    run(folder.path(), &format!("{{command: 'python3 {SERVER} {{port}}', ready: /ready}}"), load);
    let measured = &result(&folder.path().join("out"))["records"][0]["measured"];
    assert_eq!((&measured["requests"]["ok"], &measured["requests"]["failed"]), (&json!(0), &json!(4)));
    let causes: Vec<&String> = measured["failures"].as_object().unwrap().keys().collect();
    assert!(causes.iter().all(|cause| cause.contains("time")), "{causes:?}");
}

#[test]
fn a_status_that_is_not_expected_is_a_failure_and_one_that_is_is_none() {
    let folder = TempDir::new().unwrap();
    let server = format!("python3 {SERVER} {{port}}");
    let load = ["-n", "5", "-c", "1", "--expect", "404", "--ready", "/ready"];
    let output = compare("http://127.0.0.1:{port}/status/404", &server, &load, folder.path());
    assert!(output.status.success(), "{}", printed(&output));
    assert_eq!(result(folder.path())["records"][1]["measured"]["requests"]["ok"], 5);
    compare("http://127.0.0.1:{port}/status/404", &server, &load[..4], folder.path());
    let failures = &result(folder.path())["records"][1]["measured"]["failures"];
    assert_eq!(failures, &json!({"unexpected status 404": 5}));
}

#[test]
fn a_target_file_gives_the_requests_and_the_url_the_address() {
    let folder = TempDir::new().unwrap();
    let targets = folder.path().join("targets.txt");
    fs::write(&targets, "GET http://elsewhere:81/a\n\nGET http://elsewhere:81/b\n").unwrap();
    let load = ["-n", "6", "-c", "1", "--targets", targets.to_str().unwrap()];
    let server = format!("python3 {SERVER} {{port}}");
    let output = compare("http://127.0.0.1:{port}/ready", &server, &load, folder.path());
    assert!(output.status.success(), "{}", printed(&output));
    let document = result(folder.path());
    assert_eq!(paths(&asked(folder.path(), &document)), ["/a", "/b", "/a", "/b", "/a", "/b"]);
}

#[test]
fn http_2_without_tls_is_spoken_with_prior_knowledge() {
    let folder = TempDir::new().unwrap();
    let server = "{jar: avatar-vertx, args: '--port={port}', ready: /thread-info}";
    let load = "{clients: 2, requests: 30, http: 2, streams: 5, request: /thread-info}";
    let output = run(folder.path(), server, load);
    assert!(output.status.success(), "{}", printed(&output));
    let document = result(&folder.path().join("out"));
    let measured = &document["records"][0]["measured"];
    assert_eq!((&measured["protocol"], &measured["requests"]["ok"]), (&json!("HTTP/2 (h2c)"), &json!(30)));
    assert_eq!(document["experiment"]["loads"][0]["sending"]["streams"], 5);
}
