//! Follows the steps of docs/how-to/write-an-experiment.md literally.

use crate::tiny_server::TinyServer;
use assert_cmd::cargo::cargo_bin;
use std::path::Path;
use std::process::Command;
use threadcount_machine::jdk_finder::{Places, choose};

const DOC: &str = include_str!("../../../docs/how-to/write-an-experiment.md");

/// The section with the steps.
fn steps() -> &'static str {
    DOC.split("## Adding a variant or an experiment").nth(1).unwrap()
}

/// The files of the steps: a line with only the path, a blank line, and a block.
fn files() -> Vec<(&'static str, &'static str)> {
    let parts = steps().split("```").collect::<Vec<_>>();
    let named = parts.windows(2).filter_map(|pair| {
        let path = pair[0].trim_end().lines().last()?.strip_prefix('`')?.strip_suffix("`:")?;
        Some((path, pair[1].split_once('\n')?.1))
    });
    named.collect()
}

fn write_all(folder: &Path) {
    for (path, text) in files() {
        let file = folder.join(path);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        // The sizes are reduced.
        std::fs::write(file, text.replace("warmup: 2s, duration: 3s", "warmup: 200ms, duration: 1s"))
            .unwrap();
    }
}

/// Builds the module as `./dev build` does, but without Maven.
fn build_jar(folder: &Path) {
    let jdks = Places::of_this_machine().find();
    let bin = choose(&jdks, Some(25)).unwrap().java().parent().unwrap().to_owned();
    let run = |program: &str, arguments: &[&str]| {
        let status = Command::new(bin.join(program)).args(arguments).current_dir(folder).status().unwrap();
        assert!(status.success(), "{program} {arguments:?}");
    };
    let module = "jvm/mine/target";
    let classes = format!("{module}/classes");
    let jar = format!("{module}/mine.jar");
    run(
        "javac",
        &[
            "--release",
            "21",
            "-Xlint:all",
            "-Werror",
            "-d",
            &classes,
            "jvm/mine/src/main/java/mine/Mine.java",
        ],
    );
    run("jar", &["--create", "--file", &jar, "--main-class", "mine.Mine", "-C", &classes, "."]);
}

#[test]
fn a_newcomer_who_follows_the_steps_has_an_experiment_with_three_servers() {
    let folder = tempfile::tempdir().unwrap();
    write_all(folder.path());
    build_jar(folder.path());
    let commands = steps().rsplit("```sh\n").next().unwrap().split("```").next().unwrap();
    let mut printed = Vec::new();
    for line in commands.lines() {
        let mut words = shlex::split(line.split("   #").next().unwrap()).unwrap();
        if words.get(1).is_some_and(|word| word == "run") {
            // Exactly one round, because disturbed runs would be repeated on a busy machine.
            words.extend(["--runs", "1"].map(str::to_owned));
        }
        let program =
            if words[0] == "threadcount" { cargo_bin("threadcount") } else { words[0].clone().into() };
        let output = Command::new(program).args(&words[1..]).current_dir(folder.path()).output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        // Other programs may use the cores that the experiment's claim is about.
        let is_doubted = output.status.code() == Some(3) && errors.contains("other processes used");
        assert!(output.status.success() || is_doubted, "{line}\n{errors}");
        printed.push(String::from_utf8(output.stdout).unwrap());
    }
    assert!(printed[1].contains("needs: Java 25; jars mine; peers mine"), "{}", printed[1]);
    let result = std::fs::read_to_string(folder.path().join("out/mine/latest/result.json")).unwrap();
    let result: serde_json::Value = serde_json::from_str(&result).unwrap();
    let kinds = result["records"].as_array().unwrap().iter().map(|record| {
        (record["variant"].as_str().unwrap(), record["server"]["request_thread"]["is_virtual"].as_bool())
    });
    let kinds: Vec<_> = kinds.collect();
    assert_eq!(kinds, [("platform", Some(false)), ("virtual", Some(true)), ("python", None)]);
    assert!(folder.path().join("out/mine/latest/report.html").is_file());
}

#[test]
fn a_run_on_another_kind_of_thread_than_the_variant_says_fails_with_the_threads_name() {
    let folder = tempfile::tempdir().unwrap();
    write_all(folder.path());
    build_jar(folder.path());
    let yaml = folder.path().join("experiments/mine.yaml");
    let wrong =
        std::fs::read_to_string(&yaml).unwrap().replace("answers_on: virtual", "answers_on: platform");
    std::fs::write(&yaml, wrong.replace("  python: {server: {peer: mine}}\n", "")).unwrap();
    let output = Command::new(cargo_bin("threadcount"))
        .args(["run", "mine", "--quick", "--runs", "1", "--variant", "virtual"])
        .current_dir(folder.path())
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(stderr.contains("expected a platform thread, but ``"), "{stderr}");
    assert!(stderr.contains("is a virtual thread"), "{stderr}");
}

#[test]
fn the_client_with_virtual_threads_is_usable_alone() {
    let jar = Path::new(env!("CARGO_MANIFEST_DIR")).join("../jvm/client/target/client.jar");
    assert!(jar.is_file(), "{} is missing; `./dev test` builds it", jar.display());
    let server = TinyServer::start();
    let jdks = Places::of_this_machine().find();
    let output = Command::new(choose(&jdks, Some(25)).unwrap().java())
        .arg("-jar")
        .arg(jar)
        .args(["20", "10", &server.url("/word")])
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
    assert!(stderr.contains("20 answers, 0 failures, all after"), "{stderr}");
    assert_eq!(server.seen().len(), 20);
}
