//! `threadcount run` in a project with a `threadcount.yaml`, and secrets from the environment.

use crate::tiny_server::TinyServer;
use assert_cmd::cargo::cargo_bin;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

const SERVER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/servers/asked.py");
const SECRET: &str = "s3cret-of-a-test";

/// A server that writes the requests that it gets, with a secret in a header and in its environment.
fn project() -> TempDir {
    let folder = TempDir::new().unwrap();
    let text = format!(
        "server: {{command: \"sh -c 'echo KEY=$KEY; exec python3 {SERVER} {{port}}'\"}}\n\
         env: {{KEY: 'k-${{THREADCOUNT_TEST_SECRET}}'}}\n\
         variants: {{a: {{}}}}\n\
         warmup: 0s\n\
         experiments:\n  \
           read:\n    question: Is reading fast?\n    \
             request: {{path: /read, headers: {{Authorization: 'Bearer ${{THREADCOUNT_TEST_SECRET}}'}}}}\n    \
             loads: [{{clients: 1, requests: 5}}]\n  \
           write:\n    question: Is writing fast?\n    request: {{path: '/write?key=${{THREADCOUNT_TEST_SECRET}}', body: x}}\n    \
             loads: [{{clients: 1, requests: 5}}]\n"
    );
    fs::write(folder.path().join("threadcount.yaml"), text).unwrap();
    folder
}

fn run(folder: &Path, arguments: &[&str], secret: Option<&str>) -> Output {
    let mut command = Command::new(cargo_bin("threadcount"));
    command
        .arg("run")
        .args(arguments)
        .args(["--runs", "1", "--no-probe", "--replace", "--out", "out"])
        .current_dir(folder);
    command.env_remove("THREADCOUNT_TEST_SECRET").env("NO_COLOR", "1");
    command.envs(secret.map(|secret| ("THREADCOUNT_TEST_SECRET", secret))).output().unwrap()
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|it| it.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

#[test]
fn run_without_an_argument_runs_the_projects_experiments_and_stores_no_secret() {
    let project = project();
    let output = run(project.path(), &[], Some(SECRET));
    let printed = [&output.stdout[..], &output.stderr].concat();
    let printed = String::from_utf8_lossy(&printed);
    assert!(output.status.success(), "{printed}");
    assert!(!printed.contains(SECRET), "{printed}");
    let out = project.path().join("out");
    let logs: Vec<PathBuf> = files(&out).into_iter().filter(|it| it.ends_with("server.log")).collect();
    assert_eq!(logs.len(), 2, "one run of each experiment");
    let logged: String = logs.iter().map(|it| fs::read_to_string(it).unwrap()).collect();
    assert!(logged.contains(&format!("Bearer {SECRET}")), "the server is sent the value: {logged}");
    assert!(logged.contains(&format!("/write?key={SECRET}")), "and is sent it in the path: {logged}");
    assert!(logged.contains(&format!("KEY=k-{SECRET}")), "and has it in its environment: {logged}");
    for file in files(&out).iter().filter(|it| !it.ends_with("server.log")) {
        let bytes = fs::read(file).unwrap();
        assert!(!String::from_utf8_lossy(&bytes).contains(SECRET), "{}", file.display());
    }
    let result = fs::read_to_string(out.join("read/result.json")).unwrap();
    let document: Value = serde_json::from_str(&result).unwrap();
    let header = &document["experiment"]["loads"][0]["request"]["headers"][0][1];
    assert_eq!(header, "Bearer ${THREADCOUNT_TEST_SECRET}");
}

#[test]
fn an_experiment_of_the_project_is_run_by_its_name() {
    let project = project();
    let output = run(project.path(), &["write"], Some(SECRET));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let result = fs::read_to_string(project.path().join("out/result.json")).unwrap();
    assert!(result.contains("Is writing fast?"));
}

#[test]
fn a_secret_that_is_not_set_and_a_folder_without_a_project_are_refused() {
    let printed = |output: Output| {
        assert_eq!(output.status.code(), Some(2));
        String::from_utf8(output.stderr).unwrap()
    };
    let unset = printed(run(project().path(), &[], None));
    assert!(unset.contains("the environment variable `THREADCOUNT_TEST_SECRET` is not set"), "{unset}");
    assert!(unset.contains("threadcount.yaml:8"), "{unset}");
    let nothing = printed(run(TempDir::new().unwrap().path(), &[], None));
    assert!(nothing.contains("threadcount.yaml") && nothing.contains("threadcount list"), "{nothing}");
}

#[test]
fn a_target_url_has_its_host_from_the_environment_and_no_result_has_it() {
    let server = TinyServer::start();
    let folder = TempDir::new().unwrap();
    let port = server.url("").rsplit_once(':').unwrap().1.to_owned();
    let text = "question: How fast?\nserver: {target_url: \"http://127.0.0.1:${THREADCOUNT_TEST_SECRET}\"}\n\
        request: /there\nwarmup: 0s\nvariants: {elsewhere: {}}\nloads: [{clients: 1, requests: 5}]\n";
    fs::write(folder.path().join("mine.yaml"), text).unwrap();
    let output = run(folder.path(), &["./mine.yaml"], Some(&port));
    let printed = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{printed}");
    assert!(server.seen().iter().all(|it| it.line == "GET /there HTTP/1.1"), "{:?}", server.seen());
    assert!(!server.seen().is_empty());
    let result = fs::read_to_string(folder.path().join("out/result.json")).unwrap();
    assert!(result.contains("http://127.0.0.1:${THREADCOUNT_TEST_SECRET}"));
    assert!(!result.contains(&format!("127.0.0.1:{port}")));
    let unset = run(folder.path(), &["./mine.yaml"], None);
    let printed = String::from_utf8_lossy(&unset.stderr);
    assert!(printed.contains("the environment variable `THREADCOUNT_TEST_SECRET` is not set"), "{printed}");
    assert_eq!(unset.status.code(), Some(2));
}
