//! `threadcount diagnose` on JVMs that hang in a known way, on Java 21 and 25, and on those that only look like it. What it says is
//! right, it takes at most ten seconds, and the JVM lives on.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test ends where something is missing")]

mod java;

use assert_cmd::cargo::cargo_bin;
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const LIMIT: Duration = Duration::from_secs(10);
const SOURCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/hung/Hung.java");
/// As few cores as the fewest that a machine has: what waits for a carrier is the same everywhere.
const CARRIERS: &str = "-Djdk.virtualThreadScheduler.parallelism=2";

/// A JVM that hangs, in the mode `how` of `Hung.java`.
struct Hung(Child);

impl Hung {
    fn start(java: u16, how: &str, classes: &Path) -> Self {
        let mut jvm = Command::new(java::runtime(java).java());
        jvm.args([
            "-Xmx64m",
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            "-XX:ActiveProcessorCount=2",
            CARRIERS,
            "-cp",
        ]);
        let jvm = jvm.arg(classes).args(["Hung", how]).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut jvm = jvm.spawn().unwrap();
        let mut up = String::new();
        BufReader::new(jvm.stdout.take().unwrap()).read_line(&mut up).unwrap();
        assert_eq!(up, "up\n");
        Self(jvm)
    }
}

impl Drop for Hung {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

/// The verdicts of both Javas.
fn diagnose(how: &str) -> [Vec<Value>; 2] {
    java::probe();
    let folder = tempfile::tempdir().unwrap();
    let mut javac = Command::new(java::jdk().home.join("bin/javac"));
    assert!(javac.args(["--release", "21", "-d"]).arg(folder.path()).arg(SOURCE).status().unwrap().success());
    [21, 25].map(|java| diagnose_on(java, how, folder.path()))
}

fn diagnose_on(java: u16, how: &str, folder: &Path) -> Vec<Value> {
    let mut hung = Hung::start(java, how, folder);
    let out = folder.join(format!("{java}.json"));
    let began = Instant::now();
    let pid = hung.0.id().to_string();
    let mut command = Command::new(cargo_bin("threadcount"));
    command.args(["diagnose", &pid, "--out"]).arg(&out).stdin(Stdio::null());
    let ours = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let prefix = format!("threadcount-diagnose-{}-", ours.id());
    let output = ours.wait_with_output().unwrap();
    let took = began.elapsed();
    let says =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(took <= LIMIT, "{took:?}: {says}");
    assert!(hung.0.try_wait().unwrap().is_none(), "the JVM lives");
    assert!(!fs::exists(format!("/proc/{pid}/cwd/.attach_pid{pid}")).unwrap());
    let mut in_tmp = fs::read_dir("/tmp").unwrap().flatten();
    assert!(!in_tmp.any(|it| it.file_name().to_string_lossy().starts_with(&prefix)));
    let document: Value = serde_json::from_str(&fs::read_to_string(&out).unwrap()).unwrap();
    let verdicts = document["verdicts"].as_array().unwrap().clone();
    // Dumps by Java code are left out where the heap is short.
    let has_dump = document["thread_dump"]["threadContainers"].is_array();
    assert!(has_dump || verdicts[0]["kind"] == "gc-thrashing", "{says}");
    assert!(document["thread_print"].is_string(), "{says}");
    let is_quiet = ["idle", "slow"].contains(&verdicts[0]["kind"].as_str().unwrap());
    assert_eq!(output.status.code(), Some(i32::from(!is_quiet)), "{says}");
    verdicts
}

/// The only verdict, which is of this kind.
fn only<'a>(verdicts: &'a [Value], kind: &str) -> &'a Value {
    assert!(verdicts.len() == 1 && verdicts[0]["kind"] == kind, "{kind}: {verdicts:#?}");
    &verdicts[0]
}

fn names(threads: &Value) -> Vec<&str> {
    let mut names: Vec<&str> =
        threads.as_array().unwrap().iter().map(|it| it["thread"]["name"].as_str().unwrap()).collect();
    names.sort_unstable();
    names
}

/// qos-ch/logback#786. Since Java 24 a thread in a monitor leaves its carrier, and nothing hangs.
#[test]
fn carriers_that_wait_pinned_for_a_lock_whose_next_owner_has_no_carrier() {
    let [old, new] = diagnose("pinned");
    let verdict = only(&old, "lock-without-runnable-owner");
    assert_eq!(
        (names(&verdict["pinned"]).len(), names(&verdict["unmounted"])),
        (2, vec!["first"]),
        "{verdict:#}"
    );
    assert!(
        verdict["lock"].as_str().unwrap().starts_with("java.util.concurrent.locks.ReentrantLock"),
        "{verdict:#}"
    );
    assert_eq!(verdict["owner"], Value::Null);
    assert_eq!(verdict["pinned"][0]["at"]["method"], "Hung.append");
    only(&new, "idle");
}

fn assert_deadlock(verdicts: &[Value]) -> &Value {
    let verdict = only(verdicts, "deadlock");
    let links = verdict["links"].as_array().unwrap();
    let waiters: Vec<&str> =
        links.iter().map(|it| it["waiter"]["thread"]["name"].as_str().unwrap()).collect();
    assert!(waiters.len() == 2 && waiters.contains(&"debit") && waiters.contains(&"credit"), "{verdict:#}");
    assert!(links.iter().all(|it| it["waiter"]["at"]["method"] == "Hung.inOrder"), "{verdict:#}");
    verdict
}

#[test]
fn virtual_threads_that_take_two_locks_in_opposite_order() {
    for verdicts in diagnose("locks") {
        assert_eq!(assert_deadlock(&verdicts)["owners_known"], true);
    }
}

#[test]
fn virtual_threads_that_enter_two_monitors_in_opposite_order() {
    let [old, new] = diagnose("monitors");
    assert_eq!(assert_deadlock(&old)["owners_known"], false, "Java 21 does not say it");
    assert_eq!(assert_deadlock(&new)["owners_known"], true);
}

#[test]
fn platform_threads_that_take_two_locks_in_opposite_order() {
    for verdicts in diagnose("platform-locks") {
        assert_deadlock(&verdicts);
    }
}

#[test]
fn permits_that_were_not_given_back() {
    for verdicts in diagnose("permits") {
        let verdict = only(&verdicts, "leaked-permits");
        assert_eq!(
            (&verdict["waiters"], &verdict["at"]["method"]),
            (&8.into(), &"Hung.handle".into()),
            "{verdict:#}"
        );
    }
}

#[test]
fn virtual_threads_that_spin_on_all_carriers() {
    for verdicts in diagnose("spin") {
        let verdict = only(&verdicts, "carriers-spinning");
        assert_eq!(names(&verdict["held_by"]), ["spinner-0", "spinner-1"], "{verdict:#}");
        assert_eq!(
            (&verdict["held_by"][0]["at"]["method"], &verdict["not_started"]),
            (&"Hung.untilDone".into(), &20.into())
        );
    }
}

/// One that hangs, and one that responds after 1.5 s.
#[test]
fn a_limit_that_a_slow_neighbour_exhausts() {
    for how in ["neighbour", "slow-neighbour"] {
        for verdicts in diagnose(how) {
            let verdict = only(&verdicts, "pool-exhausted");
            assert_eq!(verdict["waits_in"], "reading from a socket", "{verdict:#}");
            assert!(verdict["waiters"].as_u64().unwrap() >= 30, "{verdict:#}");
            assert_eq!(verdict["at"]["method"], "Hung.call", "{verdict:#}");
        }
    }
}

#[test]
fn a_heap_that_is_nearly_full_of_what_lives() {
    for verdicts in diagnose("gc") {
        let share = only(&verdicts, "gc-thrashing")["share"].as_f64().unwrap();
        assert!((0.5..=1.0).contains(&share), "{share}");
    }
}

/// Look-alikes: idle workers at queues and at a semaphore that is a signal, a lock that many want and each gets, full cores.
#[test]
fn nothing_hangs_where_threads_are_idle_or_merely_slow() {
    for (how, kind) in [("idle", "idle"), ("signals", "idle"), ("busy-lock", "slow"), ("slow", "slow")] {
        for verdicts in diagnose(how) {
            only(&verdicts, kind);
        }
    }
}
