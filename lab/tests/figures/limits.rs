//! How many requests of a service run at once, whatever limits them, and services without a limit.

use crate::java;

use assert_cmd::cargo::cargo_bin;
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::Command;

const SOURCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/servers/Limits.java");
const CLIENTS: &str = "20";

/// The findings of `compare` for services in these modes, by mode.
fn findings(modes: &[&str], feature: u16) -> Vec<(String, Value)> {
    java::probe();
    let folder = tempfile::tempdir().unwrap();
    let mut javac = Command::new(java::jdk().home.join("bin/javac"));
    javac.args(["--release", "21", "-d"]).arg(folder.path()).arg(SOURCE);
    assert!(javac.status().unwrap().success());
    let java = java::runtime(feature).java().display().to_string();
    let variant = |mode: &&str| {
        format!(
            "{mode}={java} -Xmx128m -XX:+UseSerialGC -cp {} Limits {{port}} {mode}",
            folder.path().display()
        )
    };
    let variants: Vec<String> = modes.iter().map(variant).collect();
    let mut compare = Command::new(cargo_bin("threadcount"));
    compare.args(["compare", "--url", "http://127.0.0.1:{port}/", "-c", CLIENTS, "-d", "5s"]);
    compare.args(["--runs", "1", "--warmup", "1s", "--out", "out"]).current_dir(folder.path());
    compare.env("THREADCOUNT_HOME", concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    variants.iter().for_each(|variant| {
        compare.args(["--variant", variant]);
    });
    let output = compare.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    found(&folder.path().join("out/result.json"))
}

fn found(result: &Path) -> Vec<(String, Value)> {
    let document: Value = serde_json::from_str(&fs::read_to_string(result).unwrap()).unwrap();
    let limits = document["findings"].as_array().unwrap().iter();
    let limits = limits.filter(|finding| finding["rule"] == "concurrency-limit");
    limits.map(|it| (it["variant"].as_str().unwrap().to_owned(), it["figures"].clone())).collect()
}

fn are_found(feature: u16) {
    let modes = [
        "fork",
        "core",
        "permits",
        "monitor",
        "consumer",
        "let-in",
        "ordered",
        "sleeps",
        "offers",
        "unthreaded",
    ];
    let found = findings(&modes, feature);
    let limit = |mode: &str| {
        let figures = found.iter().find(|(variant, _)| variant == mode).map(|(_, figures)| figures);
        let figures = figures.unwrap_or_else(|| panic!("{mode}: {found:#?}"));
        (
            figures["servers"]["count"].as_f64().unwrap(),
            figures["resource"]["name"].as_str().map(str::to_owned),
        )
    };
    let named = |name: &str| Some(name.to_owned());
    assert_eq!(limit("fork"), (2.0, named("ForkJoinPool-1-worker-*")));
    assert_eq!(limit("core"), (4.0, named("task-*")));
    assert_eq!(limit("consumer"), (1.0, named("consumer-*")));
    assert_eq!(limit("monitor"), (1.0, None));
    assert_eq!(limit("let-in"), (5.0, named("roomy-*")));
    assert_eq!(limit("ordered"), (1.0, named("ordered-*")));
    let (permits, threads) = limit("permits");
    assert!((4.0..=6.0).contains(&permits) && threads.is_none(), "{found:#?}");
    for mode in ["sleeps", "offers"] {
        assert!((4.0..=6.0).contains(&limit(mode).0), "{mode}: {found:#?}");
    }
    let (unthreaded, threads) = limit("unthreaded");
    assert!((5.0..=7.0).contains(&unthreaded) && threads.is_none(), "{found:#?}");
}

#[test]
fn a_limit_is_found_by_how_many_requests_run_and_named_by_their_threads_on_java_25() {
    are_found(25);
}

#[test]
fn a_limit_is_found_by_how_many_requests_run_and_named_by_their_threads_on_java_21() {
    are_found(21);
}

#[test]
fn services_without_a_limit_have_none() {
    let found = findings(&["free", "jobs", "poll", "polls", "apart"], 25);
    assert!(found.is_empty(), "{found:#?}");
}
