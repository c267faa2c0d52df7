//! Results that somebody else wrote. Nothing in them runs unless the user has typed their command on this machine.

use crate::result_folders::{done, experiment, threadcount};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// An experiment whose peer leaves a trace when it is built.
const PEER: &str = "question: Is it data?\nserver: {peer: ./x}\nrequest: /\nvariants: {a: {}}\nloads: [{clients: 1, duration: 1s}]\n";

/// A result from elsewhere in the folder `received`, with `command` in it, beside an experiment with a peer.
fn received(command: &[&str]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let received = folder.path().join("received");
    fs::create_dir_all(received.join("x")).unwrap();
    let proof = folder.path().join("PROOF");
    for program in ["build", "run"] {
        let program = received.join("x").join(program);
        fs::write(&program, format!("#!/bin/sh\nid >{}\nexit 1\n", proof.display())).unwrap();
        mode(&program, 0o755);
    }
    fs::write(received.join("e.yaml"), PEER).unwrap();
    let from = concat!(env!("CARGO_MANIFEST_DIR"), "/../report/tests/data/tomcat-blocking/result.json");
    fs::copy(from, received.join("result.json")).unwrap();
    change(&received.join("result.json"), |document| {
        document["command"] = command.into();
        document["experiment"]["name"] = "e".into();
    });
    folder
}

fn change(file: &Path, how: impl Fn(&mut Value)) {
    let mut document: Value = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
    how(&mut document);
    fs::write(file, document.to_string()).unwrap();
}

fn mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// The error of a command in `received`, after which nothing has run.
fn refused(folder: &TempDir, words: &[&str]) -> String {
    let mut command = threadcount(folder, words);
    let output = command.current_dir(folder.path().join("received")).output().unwrap();
    let output_text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{output_text}");
    assert!(!folder.path().join("PROOF").exists(), "{output_text}");
    output_text
}

#[test]
fn a_received_result_runs_no_command_of_its_own_and_no_build_of_a_peer() {
    for command in [
        &["threadcount", "run", "./e.yaml"][..],
        &[
            "threadcount",
            "compare",
            "--url",
            "http://127.0.0.1:{port}/",
            "--variant",
            "a=./x/run {port}",
            "--variant",
            "b=./x/run {port}",
        ],
        &["threadcount", "compare", "--attach", "http://127.0.0.1:1", "--crossover", "--url", "/"],
    ] {
        let folder = received(command);
        let output_text = refused(&folder, &["run", "--resume", "."]);
        assert!(
            output_text.contains("is not among those that this user typed on this machine"),
            "{output_text}"
        );
        assert!(output_text.contains(command[2]), "the command is shown: {output_text}");
    }
}

#[test]
fn a_received_result_of_another_plan_is_refused_before_a_peer_is_built() {
    let folder = received(&["threadcount", "run", "./e.yaml"]);
    let output_text = refused(&folder, &["run", "./e.yaml", "--resume", "."]);
    assert!(output_text.contains("because something differs"), "{output_text}");
}

#[test]
fn a_result_that_others_may_write_or_whose_command_was_changed_does_not_go_on() {
    let folder = tempfile::tempdir().unwrap();
    experiment(&folder, 1);
    done(&folder, &["run", "./mine.yaml", "--no-probe", "--out", "here"], 0);
    let here = folder.path().join("here");
    for (path, open) in
        [(here.clone(), 0o777), (here.join("result.json"), 0o666), (folder.path().join("mine.yaml"), 0o666)]
    {
        let before = fs::metadata(&path).unwrap().permissions().mode();
        mode(&path, open);
        let output_text = done(&folder, &["run", "--resume", "here"], 2);
        assert!(
            output_text.contains("others can write") && output_text.contains("chmod -R go-w"),
            "{output_text}"
        );
        mode(&path, before);
    }
    let theirs = experiment(&folder, 1).with_file_name("theirs.yaml");
    fs::copy(folder.path().join("mine.yaml"), theirs).unwrap();
    change(&here.join("result.json"), |document| document["command"][2] = "./theirs.yaml".into());
    let output_text = done(&folder, &["run", "--resume", "here"], 2);
    assert!(output_text.contains("is not among those that this user typed on this machine"), "{output_text}");
}

/// The commands are printed before the first of them can have printed anything.
#[test]
fn the_commands_of_a_session_that_goes_on_are_printed_before_they_run() {
    let folder = tempfile::tempdir().unwrap();
    let mine: PathBuf = experiment(&folder, 1);
    let text =
        fs::read_to_string(&mine).unwrap().replacen("b: {", "b: {before: \"sh -c 'date >>seeded'\", ", 1);
    fs::write(&mine, text).unwrap();
    done(&folder, &["run", "./mine.yaml", "--no-probe", "--out", "here"], 0);
    let moved = folder.path().join("moved");
    fs::rename(folder.path().join("here"), &moved).unwrap();
    // One run is missing.
    change(&moved.join("result.json"), |document| {
        document["records"].as_array_mut().unwrap().pop();
    });
    let output_text = done(&folder, &["run", "--resume", "moved"], 0);
    let [own, before, run] = ["    a: python3 ", "    b, before each run: sh -c 'date >>seeded'", "round 1"]
        .map(|text| output_text.find(text).unwrap_or_else(|| panic!("{text}: {output_text}")));
    assert!(own < run && before < run, "{output_text}");
}
