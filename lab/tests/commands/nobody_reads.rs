//! Output that nobody takes: a full disk, a closed stream, a reader that has gone.

use assert_cmd::cargo::cargo_bin;
use std::fs::File;
use std::process::{Command, Output, Stdio};

const CALLS: [&[&str]; 9] = [
    &["list"],
    &["check"],
    &["self"],
    &["completions", "bash"],
    &["history", "."],
    &["report", "/nowhere"],
    &["run", "/nowhere.yaml"],
    &["load", "http://127.0.0.1:1/", "-n", "1"],
    &["--help"],
];

fn ended(call: &[&str], stdout: Stdio, stderr: Stdio) -> Output {
    let command = Command::new(cargo_bin("threadcount")).args(call).stdout(stdout).stderr(stderr).output();
    command.unwrap()
}

#[test]
fn no_command_panics_where_its_output_cannot_be_written() {
    let full = || Stdio::from(File::options().write(true).open("/dev/full").unwrap());
    let closed = || {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        Stdio::from(writer)
    };
    for call in CALLS {
        for stdout in [full(), closed()] {
            let output = ended(call, stdout, Stdio::piped());
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(!said.contains("panicked"), "{call:?}: {said}");
            assert_ne!(output.status.code(), Some(101), "{call:?}: {said}");
            assert!(output.status.code().is_some(), "{call:?}: {said}");
        }
        for stderr in [full(), closed()] {
            let output = ended(call, Stdio::piped(), stderr);
            assert!(output.status.code().is_some_and(|code| code != 101), "{call:?}: {:?}", output.status);
        }
    }
}
