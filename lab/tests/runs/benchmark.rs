//! A microbenchmark as an experiment, with the real JMH and small sizes.

use crate::schema;

use assert_cmd::cargo::cargo_bin;
use rustix::fs::FlockOperation;
use serde_json::Value;
use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Output};
use std::sync::{Mutex, PoisonError};

/// A lock, because JMH refuses to run twice at once.
static ONE_JMH: Mutex<()> = Mutex::new(());

fn run(folder: &Path, variants: &str) -> Output {
    run_with(folder, variants, "")
}

fn run_with(folder: &Path, variants: &str, more: &str) -> Output {
    let _alone = ONE_JMH.lock().unwrap_or_else(PoisonError::into_inner);
    let text = format!(
        "question: q\nserver: {{benchmark: computation-bench}}\njdk: 25\njvm: [-Xmx64m]\nvariants: {{{variants}}}\n\
         loads: [{{forks: 1, warmups: 1, iterations: 2, duration: 100ms, runs: 2, drop: 0}}]\n\
         claims: [{{claim: platform.score > caller.score, says: a thread costs something}}]\n\
         {more}"
    );
    fs::write(folder.join("small.yaml"), text).unwrap();
    let mut command = Command::new(cargo_bin("threadcount"));
    command.current_dir(env!("CARGO_MANIFEST_DIR")).arg("run").arg(folder.join("small.yaml"));
    command.args(["--replace", "--out"]).arg(folder.join("out")).output().unwrap()
}

#[test]
fn a_benchmark_runs_in_jmhs_forks_and_its_scores_are_compared_and_claimed() {
    let folder = tempfile::tempdir().unwrap();
    let variants = "caller: {server: {method: Computation.inCallersThread}}, \
        platform: {server: {method: Computation.inNewPlatformThread}}";
    let output = run(folder.path(), variants);
    let printed =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{printed}");
    assert!(printed.contains("time/operation"), "{printed}");
    let result = schema::result_file(&folder.path().join("out"));
    let records = result["records"].as_array().unwrap();
    assert_eq!(records.len(), 4);
    for record in records {
        let benchmark = &record["benchmark"];
        assert!(benchmark["score_us"].as_f64().unwrap() > 0.0, "{benchmark}");
        assert_eq!((&benchmark["forks"], &benchmark["iterations"]), (&1.into(), &2.into()));
        let file = folder.path().join("out").join(benchmark["file"].as_str().unwrap());
        let jmhs: Value = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
        assert_eq!(
            jmhs[0]["primaryMetric"]["score"], benchmark["score_us"],
            "JMH's own figure, in its own unit"
        );
        assert_eq!(jmhs[0]["jvmArgs"][0], "-Xmx64m", "the forks have the variant's flags");
        assert!(record["cost"]["cpu_s"].as_f64().unwrap() > 0.0, "{}", record["cost"]);
    }
    assert_eq!(result["claims"][0]["holds"], true, "{printed}");
}

#[test]
fn a_method_that_is_not_there_is_a_failed_run_that_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let one = "caller: {server: {method: Computation.inNoThread}}, platform: {server: {method: Computation.inNoThread}}";
    let output = run(folder.path(), one);
    assert_eq!(output.status.code(), Some(1));
    let answer = String::from_utf8_lossy(&output.stdout);
    assert!(answer.contains("measured: No matching benchmarks"), "{answer}");
}

#[test]
fn a_benchmark_beside_another_one_is_a_failed_run_that_names_the_lock() {
    let folder = tempfile::tempdir().unwrap();
    // JMH's own lock is in the JVM's folder for temporary files. This one belongs to no other benchmark.
    let lock = File::create(folder.path().join("jmh.lock")).unwrap();
    rustix::fs::fcntl_lock(&lock, FlockOperation::LockExclusive).unwrap();
    let one = "caller: {server: {method: Computation.inCallersThread}}, \
        platform: {server: {method: Computation.inNewPlatformThread}}";
    let elsewhere = format!("env: {{JAVA_TOOL_OPTIONS: -Djava.io.tmpdir={}}}\n", folder.path().display());
    let output = run_with(folder.path(), one, &elsewhere);
    let printed = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{printed}");
    assert!(printed.contains("another JMH benchmark runs on this machine"), "{printed}");
}
