//! Every command in the README runs, in small: the same words, with shorter times and our own servers behind them.

use crate::tiny_server::TinyServer;
use assert_cmd::cargo::cargo_bin;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use threadcount_config::parse;
use threadcount_machine::app::find_jar;
use threadcount_machine::jdk_finder::{Places, choose};

const README: &str = include_str!("../../../README.md");
const DELAY_SERVER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/servers/delay.py");
/// Two results of servers that answer after another time.
const RESULTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/results");
const SLEEPS: &str = "public class Sleeps { public static void main(String[] a) throws Exception { Thread.sleep(3_600_000); } }";

/// The blocks of one language.
fn blocks(language: &str) -> Vec<&'static str> {
    let opening = format!("```{language}\n");
    README.split(&opening).skip(1).map(|rest| rest.split("```").next().unwrap()).collect()
}

/// The commands that begin with `threadcount`, one line each, without their comments.
fn commands() -> Vec<String> {
    let joined = blocks("sh").join("\n").replace("\\\n", " ");
    let lines = joined.lines().map(|line| line.split("   #").next().unwrap().trim().to_owned());
    lines.filter(|line| line.starts_with("threadcount ")).collect()
}

/// A JVM to look at, ended with the test.
struct Jvm(Child);

impl Jvm {
    fn start(folder: &Path) -> Self {
        let source = folder.join("Sleeps.java");
        std::fs::write(&source, SLEEPS).unwrap();
        let jdks = Places::of_this_machine().find();
        let java = choose(&jdks, Some(25)).unwrap().java();
        Self(Command::new(java).arg(source).stderr(Stdio::null()).spawn().unwrap())
    }
}

impl Drop for Jvm {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A Spring Boot application that `./dev test` has built.
fn application() -> String {
    find_jar("spring-boot-4").unwrap().display().to_string()
}

/// The same command, in small.
fn in_small(command: &str, server: &TinyServer, jvm: &Jvm) -> String {
    let delayed = |name: &str| format!("{name}='python3 {DELAY_SERVER} {{port}} 5'");
    let mut small = command
        .replace("http://127.0.0.1:8080/", &server.url("/"))
        .replace("-d 5s", "-d 1s")
        .replace("-d 10s", "-d 1s")
        .replace("-r 5000/s", "-r 100/s")
        .replace("out/before", &format!("{RESULTS}/before"))
        .replace("out/after", &format!("{RESULTS}/after"))
        .replace("PID", &jvm.0.id().to_string())
        .replace("app.jar --url /orders/1", &format!("'{}' --url /hello", application()));
    for name in ["platform", "virtual"] {
        if let Some((before, after)) = small.split_once(&format!("--variant {name}='")) {
            let rest = after.split_once('\'').unwrap().1;
            small = format!("{before}--variant {}{rest}", delayed(name));
        }
    }
    small += match small.split_whitespace().nth(1).unwrap() {
        "run" => " --runs 1 --variant virtual --warmup 500ms --no-probe",
        "compare" => " --runs 1 --warmup 200ms --no-probe",
        "watch" => " -d 2s --json",
        _ => "",
    };
    small
}

#[test]
fn every_command_of_the_readme_runs() {
    let folder = tempfile::tempdir().unwrap();
    let server = TinyServer::start();
    let jvm = Jvm::start(folder.path());
    let commands = commands();
    assert!(commands.len() >= 8, "{commands:#?}");
    for command in commands {
        let small = in_small(&command, &server, &jvm);
        let words = shlex::split(&small).unwrap();
        let output = Command::new(cargo_bin("threadcount"))
            .args(&words[1..])
            .current_dir(folder.path())
            .env("THREADCOUNT_HOME", concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        // Other programs may take the cores that a claim of the experiment speaks of.
        let is_doubted = output.status.code() == Some(3) && said.contains("other processes used");
        assert!(output.status.success() || is_doubted, "{small}\n{said}");
        assert!(!output.stdout.is_empty(), "{small}");
    }
}

#[test]
fn the_experiment_of_the_readme_is_one() {
    let yaml = blocks("yaml");
    let experiment = parse("mine", "README.md", yaml[0], false).unwrap();
    assert_eq!((experiment.variants.len(), experiment.loads.len()), (3, 1));
}

#[test]
fn the_two_commands_are_those_of_the_dev_script() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
    let output = Command::new("./dev").arg("help").current_dir(root).output().unwrap();
    let help = String::from_utf8(output.stdout).unwrap();
    for line in blocks("sh")[0].lines() {
        let command = line.split("   #").next().unwrap().trim();
        assert!(help.contains(command), "{command} is not in\n{help}");
    }
}
