//! `threadcount watch` on real JVMs: its lines, its recording, its refusals, and that it leaves nothing behind.

use crate::java;

use assert_cmd::cargo::CommandCargoExt;
use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};
use threadcount_machine::attach::Refusal;
use threadcount_machine::jdk::Jdk;
use threadcount_machine::probe::attach::{AttachError, Attached};
use threadcount_machine::probe::jar;
use threadcount_machine::probe::target::TargetError;

/// A secret in the environment of the JVM.
const SECRET: &str = "correct-horse-battery";
/// A secret in a system property that the environment sets.
const SECRET_OF_PROPERTY: &str = "staple-of-the-orders";

/// A JVM that does nothing. If there is a compiler, Java runs a single source file (JEP 330).
struct Idle {
    jvm: Child,
    _folder: tempfile::TempDir,
}

impl Idle {
    fn start(jdk: &Jdk, flags: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let source = folder.path().join("Idle.java");
        fs::write(
            &source,
            "class Idle { public static void main(String[] none) throws Exception {
                System.out.println(\"up\"); Thread.sleep(600_000); } }",
        )
        .unwrap();
        let mut jvm = Command::new(jdk.java());
        jvm.args(["-Xmx64m", "-XX:+UseSerialGC"]).args(flags).arg(&source);
        let options = format!("-Ddatabase.password={SECRET_OF_PROPERTY}");
        let jvm = jvm.env("DATABASE_PASSWORD", SECRET).env("JAVA_TOOL_OPTIONS", options);
        let mut jvm = jvm.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut up = String::new();
        BufReader::new(jvm.stdout.take().unwrap()).read_line(&mut up).unwrap();
        assert_eq!(up, "up\n");
        Self { jvm, _folder: folder }
    }

    fn pid(&self) -> u32 {
        self.jvm.id()
    }
}

impl Drop for Idle {
    fn drop(&mut self) {
        self.jvm.kill().ok();
        self.jvm.wait().ok();
    }
}

/// A JDK 25, after the probe was built.
fn jdk_and_probe() -> Jdk {
    java::probe();
    java::jdk()
}

fn watch(pid: u32, more: &[&str]) -> Output {
    let mut command = Command::cargo_bin("threadcount").unwrap();
    command.args(["watch", &pid.to_string()]).args(more).stdin(Stdio::null()).output().unwrap()
}

fn jcmd(jdk: &Jdk, pid: u32, command: &str) -> String {
    let output = Command::new(jdk.jcmd().unwrap()).args([&pid.to_string(), command]).output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

fn comes_true(what: &str, condition: impl Fn() -> bool) {
    let give_up = Instant::now() + Duration::from_secs(100);
    while !condition() {
        assert!(Instant::now() < give_up, "{what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn a_reader_that_leaves_takes_the_probe_with_it() {
    let jdk = jdk_and_probe();
    let idle = Idle::start(&jdk, &[]);
    let jar = jar::find().unwrap();
    let mut attached = Attached::to(idle.pid(), &jar, None).unwrap();
    let hello = attached.next_line().unwrap();
    assert!(hello.contains(&format!("\"pid\":{},\"java\":\"25", idle.pid())), "{hello}");
    let threads = || jcmd(&jdk, idle.pid(), "Thread.print");
    assert!(threads().contains("\"threadcount-probe\""), "{}", threads());
    comes_true("it records", || jcmd(&jdk, idle.pid(), "JFR.check").contains("Recording"));

    // The connection ends without a goodbye, as when `watch` is killed.
    drop(attached);
    comes_true("its threads end", || !threads().contains("threadcount"));
    comes_true("its recording ends", || {
        jcmd(&jdk, idle.pid(), "JFR.check").contains("No available recordings")
    });
    assert!(Attached::to(idle.pid(), &jar, None).is_ok(), "it can come again");
}

#[test]
fn lines_come_as_json_and_the_recording_is_kept() {
    let jdk = jdk_and_probe();
    let idle = Idle::start(&jdk, &["-XX:+EnableDynamicAgentLoading"]);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a, recording.jfr");
    let output = watch(idle.pid(), &["--json", "-d", "6s", "--record", file.to_str().unwrap()]);
    let says = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{says}");
    assert!(says.contains("a, recording.jfr: ") && says.contains("JDK Mission Control"), "{says}");
    let recording = fs::read(&file).unwrap();
    assert_eq!(&recording[..4], b"FLR\0", "a flight recording begins so");
    let holds = |text: &str| recording.windows(text.len()).any(|it| it == text.as_bytes());
    assert!(holds("DefNew"), "the name of the collector can be read in it");
    assert!(!holds(SECRET), "the environment of the JVM cannot");
    assert!(!holds(SECRET_OF_PROPERTY), "nor can what the environment adds to its arguments");
    let text = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<serde_json::Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines[0]["type"], "hello");
    assert!(lines.iter().any(|line| line["type"] == "sample"), "{text}");
}

#[test]
fn a_jvm_that_ends_while_it_is_watched_is_said_to_have_ended_and_is_exit_code_1() {
    let jdk = jdk_and_probe();
    for format in [&["--json"][..], &[]] {
        let mut idle = Idle::start(&jdk, &[]);
        let mut command = Command::cargo_bin("threadcount").unwrap();
        command.args(["watch", &idle.pid().to_string(), "-d", "100s"]).args(format).stdin(Stdio::null());
        let mut watching = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // The output is read until the end, because a reader that leaves would end the watching.
        let mut shown = BufReader::new(watching.stdout.take().unwrap());
        shown.read_line(&mut String::new()).unwrap();
        idle.jvm.kill().unwrap();
        idle.jvm.wait().unwrap();
        let output = watching.wait_with_output().unwrap();
        drop(shown);
        let says = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{says}");
        assert!(says.contains(&format!("the JVM {} has ended: it was watched for ", idle.pid())), "{says}");
    }
}

/// The kernel gives no process the id 2^22 (PID_MAX_LIMIT) or a larger one.
#[test]
fn what_cannot_be_watched_is_told_in_words() {
    let output = watch(4_194_304, &["--json"]);
    let says = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{says}");
    assert!(says.contains("There is no process 4194304"), "{says}");

    let output = watch(std::process::id(), &[]);
    let says = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{says}");
    assert!(says.contains("is not a JVM"), "{says}");
}

#[test]
fn a_jvm_that_lets_nobody_in_and_one_too_old_are_told_apart() {
    let jdk = jdk_and_probe();
    let jar = jar::find().unwrap();
    let locked = Idle::start(&jdk, &["-XX:+DisableAttachMechanism"]);
    let error = Attached::to(locked.pid(), &jar, None).err().unwrap();
    assert!(
        matches!(error, AttachError::Target(TargetError::Refused(Refusal::AttachDisabled { .. }))),
        "{error}"
    );

    let old = Idle::start(&jdk, &[]);
    crate::java17::pretend(old.pid());
    let error = Attached::to(old.pid(), &jar, None).err().unwrap().to_string();
    assert!(error.contains("runs Java 17.") && error.contains("the probe needs Java 21 or newer"), "{error}");
}
