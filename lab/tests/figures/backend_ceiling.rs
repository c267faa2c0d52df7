//! If a server behind the server is the limit, it is named, and threads are not mentioned.

use crate::schema;

use assert_cmd::cargo::cargo_bin;
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::Command;

const SERVERS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/servers");

/// Measures two equal variants of a front that asks a line server, which uses this many milliseconds of CPU per request. `mode` says how
/// the line server shares its work. Returns the document and the output.
fn measured(folder: &Path, cpu_ms: &str, mode: &str, load: &str) -> (Value, String) {
    let text = format!(
        r#"
question: What limits a front that asks a line server?
server: {{command: "python3 {SERVERS}/front.py {{port}} {{line.port}}", ready: /}}
backends:
  line: {{command: "python3 {SERVERS}/line.py {{port}} {cpu_ms} {folder}/terminated {mode}", ready: tcp}}
request: /
warmup: 500ms
variants: {{a: {{}}, b: {{env: {{B: "1"}}}}}}
loads: [{{{load}, duration: 2s, lead_in: 500ms}}]
runs: 2
drop: 0
"#,
        folder = folder.display()
    );
    fs::write(folder.join("front.yaml"), text).unwrap();
    let mut command = Command::new(cargo_bin("threadcount"));
    command
        .arg("run")
        .arg(folder.join("front.yaml"))
        .args(["--no-probe", "--replace", "--out"])
        .arg(folder.join("out"));
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    (schema::result_file(&folder.join("out")), String::from_utf8_lossy(&output.stdout).into_owned())
}

fn rules(document: &Value) -> Vec<&str> {
    document["findings"].as_array().unwrap().iter().filter_map(|finding| finding["rule"].as_str()).collect()
}

fn is_named(document: &Value, printed: &str, kind: &str) {
    let finding = document["findings"].as_array().unwrap().iter().find(|it| it["rule"] == "backend-ceiling");
    let figures = &finding.unwrap_or_else(|| panic!("{printed}"))["figures"];
    assert_eq!((&figures["backend"], &figures["limit"]["kind"]), (&"line".into(), &kind.into()), "{figures}");
    assert_eq!(document["trusted"], false);
    let reasons = document["why_not"].as_array().unwrap();
    assert!(reasons.iter().any(|doubt| doubt["reason"]["kind"] == "backend-limit"), "{reasons:?}");
    let ratios = document["comparisons"][0]["ratios"].as_array().unwrap();
    assert!(ratios.iter().all(|ratio| ratio["verdict"] == "not_enough_runs"), "{ratios:?}");
    let words = printed.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("the backend `line` was the limit, not the server's threads"), "{printed}");
    assert!(!rules(document).iter().any(|rule| rule.starts_with("kind-")), "{printed}");
}

#[test]
fn a_backend_that_uses_up_its_cores_is_named_as_the_limit_without_a_verdict() {
    let folder = tempfile::tempdir().unwrap();
    let clients = 4 * threadcount_machine::machine::cores();
    let (document, printed) = measured(folder.path(), "20", "processes", &format!("clients: {clients}"));
    is_named(&document, &printed, "cpu");
}

#[test]
fn a_backend_that_is_full_with_one_thread_is_named_as_the_limit_without_a_verdict() {
    let folder = tempfile::tempdir().unwrap();
    let (document, printed) = measured(folder.path(), "20", "one-process", "clients: 8");
    // On a machine with one core, one full thread uses all cores.
    let limit = if threadcount_machine::machine::cores() > 1 { "one-thread" } else { "cpu" };
    is_named(&document, &printed, limit);
}

#[test]
fn a_backend_that_is_busy_and_not_full_is_not_named() {
    let folder = tempfile::tempdir().unwrap();
    let (document, printed) = measured(folder.path(), "10", "processes", "rate: 20/s");
    assert!(!rules(&document).contains(&"backend-ceiling"), "{printed}");
    let reasons = document["why_not"].as_array().unwrap();
    assert!(reasons.iter().all(|doubt| doubt["reason"]["kind"] != "backend-limit"), "{reasons:?}");
}
