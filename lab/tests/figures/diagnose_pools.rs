//! Runs `threadcount diagnose` on a real HikariCP over a real JDBC driver, on Java 21 and 25, and tries what its documentation shows. A
//! diagnosis that is interrupted must leave nothing in the JVM's folder.

use crate::java;

use assert_cmd::cargo::cargo_bin;
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use threadcount_machine::app;

const GIVE_UP: Duration = Duration::from_secs(60);
const SOURCES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/hung");
const VERDICTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/reference/diagnoses.md");
const COMMANDS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/how-to/watch-and-diagnose.md");

struct Jvm {
    process: Child,
    /// The rest of the line that begins with `up`.
    up: String,
}

impl Jvm {
    fn start(feature: u16, class_path: &str, arguments: &[&str]) -> Self {
        let mut jvm = Command::new(java::runtime(feature).java());
        jvm.args(["-Xmx96m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:ActiveProcessorCount=2"]);
        jvm.args(["-XX:+EnableDynamicAgentLoading", "-cp", class_path]).args(arguments);
        let jvm = jvm.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut process = jvm.spawn().unwrap();
        let mut up = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut up).unwrap();
        let up = up.strip_prefix("up").unwrap().trim().to_owned();
        Self { process, up }
    }

    fn pid(&self) -> String {
        self.process.id().to_string()
    }
}

impl Drop for Jvm {
    fn drop(&mut self) {
        self.process.kill().ok();
        self.process.wait().ok();
    }
}

fn compile(source: &str, class_path: &str, into: &Path) {
    java::probe();
    let mut javac = Command::new(java::jdk().home.join("bin/javac"));
    javac.args(["--release", "21", "-cp", class_path, "-d"]).arg(into).arg(format!("{SOURCES}/{source}"));
    assert!(javac.status().unwrap().success());
}

/// The libraries of the web application `waits`: HikariCP, H2, and what they need.
fn libraries(folder: &Path) -> String {
    let war = app::find("waits").unwrap_or_else(|error| panic!("{error}; `./dev test` builds it"));
    let mut unpack = Command::new(java::jdk().home.join("bin/jar"));
    assert!(unpack.current_dir(folder).arg("xf").arg(war).status().unwrap().success());
    folder.join("WEB-INF/lib/*").display().to_string()
}

fn threadcount(arguments: &[&str], folder: &Path) -> Output {
    let mut command = Command::new(cargo_bin("threadcount"));
    command.args(arguments).current_dir(folder).stdin(Stdio::null()).output().unwrap()
}

/// The only verdict on the pool in this state on both Javas, each with the output of the program and that of the diagnosis.
fn verdicts(how: &str) -> [(Value, String, String); 2] {
    let folder = tempfile::tempdir().unwrap();
    let libraries = libraries(folder.path());
    compile("LeakyPool.java", &libraries, folder.path());
    let class_path = format!("{}:{libraries}", folder.path().display());
    [21, 25].map(|feature| {
        let jvm = Jvm::start(feature, &class_path, &["LeakyPool", how]);
        let output = threadcount(&["diagnose", &jvm.pid(), "--out", "hang.json"], folder.path());
        let says = String::from_utf8_lossy(&output.stdout).into_owned();
        let document: Value =
            serde_json::from_slice(&fs::read(folder.path().join("hang.json")).unwrap()).unwrap();
        let all = document["verdicts"].as_array().unwrap().clone();
        assert_eq!(all.len(), 1, "{says}");
        let is_trouble = !["idle", "slow"].contains(&all[0]["kind"].as_str().unwrap());
        assert_eq!(output.status.code(), Some(is_trouble.into()), "{says}");
        (all[0].clone(), jvm.up.clone(), says)
    })
}

#[test]
fn connections_of_a_hikari_pool_that_were_never_given_back() {
    for (verdict, _, says) in verdicts("leaked") {
        assert_eq!(verdict["kind"], "leaked-permits", "{says}");
        assert_eq!(
            (&verdict["what"], &verdict["waiters"]),
            (&"a HikariCP connection".into(), &20.into()),
            "{says}"
        );
        assert_eq!(verdict["at"]["method"], "LeakyPool.find", "{says}");
    }
}

#[test]
fn a_hikari_pool_that_a_silent_neighbour_exhausts_with_its_address() {
    for (verdict, port, says) in verdicts("neighbour") {
        assert_eq!(verdict["kind"], "pool-exhausted", "{says}");
        assert_eq!(verdict["peer"], format!("127.0.0.1:{port}"), "{says}");
        assert_eq!(
            (&verdict["waiters"], verdict["holders"].as_array().unwrap().len()),
            (&30.into(), 10),
            "{says}"
        );
        assert_eq!(verdict["at"]["method"], "LeakyPool.price", "{says}");
        assert!(says.contains(&format!("reading from a socket (127.0.0.1:{port})")), "{says}");
    }
}

/// As in the shop on Java 21 (`experiments/orders-pins.yaml`), a thread that has a connection needs a carrier to give it back.
#[test]
fn carriers_that_wait_for_a_connection_in_a_monitor_hang_java_21_and_not_25() {
    let [(on_21, _, says), (on_25, _, says_25)] = verdicts("carriers");
    assert_eq!(on_21["kind"], "carriers-held", "{says}");
    let held_by = on_21["held_by"].as_array().unwrap();
    assert_eq!((held_by.len(), &on_21["not_started"]), (2, &20.into()), "{says}");
    assert!(says.contains("LeakyPool.take") && says.contains("jdk.internal.misc.Unsafe.park"), "{says}");
    assert_eq!(on_25["kind"], "idle", "{says_25}");
}

/// Runs every command of the how-to on a JVM that hangs like the example in the reference.
#[test]
fn the_commands_of_the_documentation_do_what_it_says() {
    let folder = tempfile::tempdir().unwrap();
    compile("Hung.java", "", folder.path());
    let jvm = Jvm::start(
        21,
        &folder.path().display().to_string(),
        &["-Djdk.virtualThreadScheduler.parallelism=2", "Hung", "pinned"],
    );
    let verdicts = fs::read_to_string(VERDICTS).unwrap();
    let headline = verdicts.split("```").nth(1).unwrap().trim().lines().next().unwrap();
    let how_to = fs::read_to_string(COMMANDS).unwrap();
    let commands: Vec<&str> = how_to.lines().filter(|it| it.starts_with("threadcount diagnose ")).collect();
    assert!(commands.len() >= 2, "{commands:?}");
    for command in commands {
        let command = command.replace("PID", &jvm.pid());
        let arguments: Vec<&str> = command.split_whitespace().skip(1).collect();
        let output = threadcount(&arguments, folder.path());
        let says = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(output.status.code(), Some(1), "{command}: {says}");
        assert_eq!(says.lines().next(), Some(headline), "{command}");
        let named =
            says.lines().filter(|line| line.contains("holds a carrier: virtual thread pinned-")).count();
        assert_eq!(named, 2, "{says}");
    }
    assert!(folder.path().join("hang.json").is_file());
}

#[test]
fn a_diagnosis_that_is_interrupted_takes_its_files_away() {
    let folder = tempfile::tempdir().unwrap();
    compile("Hung.java", "", folder.path());
    let mut jvm = Jvm::start(25, &folder.path().display().to_string(), &["Hung", "idle"]);
    for signal in ["-INT", "-TERM"] {
        let mut command = Command::new(cargo_bin("threadcount"));
        command
            .args(["diagnose", &jvm.pid()])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        let diagnosis = command.spawn().unwrap();
        let prefix = format!("threadcount-diagnose-{}-", diagnosis.id());
        let is_there = || {
            let mut in_tmp = fs::read_dir("/tmp").unwrap().flatten();
            in_tmp.any(|it| it.file_name().to_string_lossy().starts_with(&prefix))
        };
        let give_up = Instant::now() + GIVE_UP;
        while !is_there() {
            assert!(Instant::now() < give_up, "it has begun");
            thread::sleep(Duration::from_millis(5));
        }
        assert!(Command::new("kill").args([signal, &diagnosis.id().to_string()]).status().unwrap().success());
        let output = diagnosis.wait_with_output().unwrap();
        let says = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(2) && says.contains("Interrupted"), "{says}");
        assert!(!is_there() && !fs::exists(format!("/tmp/.attach_pid{}", jvm.pid())).unwrap());
        assert!(jvm.process.try_wait().unwrap().is_none(), "the JVM lives");
    }
}
