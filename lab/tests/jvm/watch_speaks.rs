//! `threadcount watch` says what limits a real JVM, in lines and in JSON that fits its schema. A `watch` stopped by Ctrl-Z blocks nobody,
//! and the JVM is unchanged afterwards.

use crate::java;

use assert_cmd::cargo::cargo_bin;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader, Lines, Write};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};
use threadcount_machine::attach::{JvmProcess, diagnostic_command};
use threadcount_machine::live_heap::HeapReader;
use threadcount_machine::probe::{attach, jar};

const GIVE_UP: Duration = Duration::from_secs(120);
const SOURCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/hung/Busy.java");
const SCHEMA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../schema/watch-1.schema.json");

/// A JVM that runs `Busy.java`.
struct Busy {
    jvm: Child,
    out: Lines<BufReader<ChildStdout>>,
    /// The `java.io.tmpdir` of the JVM.
    tmp: tempfile::TempDir,
    _classes: tempfile::TempDir,
}

impl Busy {
    fn start(feature: u16, arguments: &[&str]) -> Self {
        java::probe();
        let (classes, tmp) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let mut javac = Command::new(java::jdk().home.join("bin/javac"));
        javac.args(["--release", "21", "-d"]).arg(classes.path()).arg(SOURCE);
        assert!(javac.status().unwrap().success());
        let mut jvm = Command::new(java::runtime(feature).java());
        jvm.args([
            "-Xmx128m",
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            "-XX:+EnableDynamicAgentLoading",
        ]);
        jvm.args(["-Djdk.virtualThreadScheduler.parallelism=2", "-XX:ActiveProcessorCount=2"]);
        jvm.arg(format!("-Djava.io.tmpdir={}", tmp.path().display())).arg("-cp").arg(classes.path());
        jvm.arg("Busy").args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut jvm = jvm.spawn().unwrap();
        let mut out = BufReader::new(jvm.stdout.take().unwrap()).lines();
        assert_eq!(out.next().unwrap().unwrap(), "up");
        Self { jvm, out, tmp, _classes: classes }
    }

    fn pid(&self) -> String {
        self.jvm.id().to_string()
    }

    fn open_packages(&mut self) -> String {
        self.jvm.stdin.as_mut().unwrap().write_all(b"\n").unwrap();
        self.out.next().unwrap().unwrap()
    }

    fn live_heap_bytes(&self) -> u64 {
        HeapReader { pid: self.jvm.id() }.read().unwrap().live_bytes
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.jvm.kill().ok();
        self.jvm.wait().ok();
    }
}

/// A `threadcount watch` with a pipe as stdout.
struct Watch {
    process: Child,
    lines: Receiver<String>,
}

impl Watch {
    fn start(pid: &str, more: &[&str]) -> Self {
        let mut command = Command::new(cargo_bin("threadcount"));
        command.args(["watch", pid]).args(more).stdin(Stdio::null()).stdout(Stdio::piped());
        let mut process = command.stderr(Stdio::null()).spawn().unwrap();
        let out = BufReader::new(process.stdout.take().unwrap());
        let (sender, lines) = channel();
        thread::spawn(move || out.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
        Self { process, lines }
    }

    /// All lines up to the first one that fulfils the condition.
    fn until(&self, what: &str, is_it: impl Fn(&str) -> bool) -> Vec<String> {
        let give_up = Instant::now() + GIVE_UP;
        let mut read = Vec::new();
        loop {
            let left = give_up.saturating_duration_since(Instant::now());
            let line = self.lines.recv_timeout(left);
            let line = line
                .unwrap_or_else(|_| panic!("{what}: {:?}", read.iter().rev().take(20).collect::<Vec<_>>()));
            read.push(line);
            if is_it(&read[read.len() - 1]) {
                return read;
            }
        }
    }

    /// All lines of the second in which this limit was printed: all limits of one judgement.
    fn until_judged(&self, limit: &str) -> Vec<String> {
        let mut lines = self.until("a judgement", |line| line.contains(limit));
        lines.extend(self.until("its figures", |line| line.contains("heap ")));
        lines
    }

    fn signal(&self, name: &str) {
        let id = self.process.id().to_string();
        assert!(Command::new("kill").args([name, &id]).status().unwrap().success());
    }

    fn leave(mut self) {
        self.signal("-INT");
        assert!(self.process.wait().unwrap().success());
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.process.kill().ok();
        self.process.wait().ok();
    }
}

fn json(line: &str) -> Value {
    serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))
}

#[test]
fn the_limit_of_a_real_jvm_is_said_in_words_where_stdout_is_no_terminal() {
    let pinned = Busy::start(21, &["1", "busy"]);
    let watch = Watch::start(&pinned.pid(), &[]);
    let pins = "limit: virtual threads are pinned at Busy.wait30ms:";
    let lines = watch.until("a limit", |line| line.contains(pins));
    let last = lines.last().unwrap();
    assert!(last.contains("Try: "), "{last}");
    assert!(lines[0].contains(&format!("process {} · Java 21", pinned.pid())), "{lines:?}");
    assert!(lines.iter().any(|line| line.contains("heap ") && line.contains(" cores | ")), "{lines:?}");
    watch.leave();

    // On Java 25 the same program does not pin, and its threads have no request that could wait for its monitor.
    let same = Busy::start(25, &["1", "busy"]);
    let watch = Watch::start(&same.pid(), &[]);
    let lines = watch.until_judged("limit: ");
    let has = |what: &str| lines.iter().any(|line| line.contains(what));
    assert!(!has("pinned at") && !has("threads with a request are"), "{lines:?}");
    watch.leave();
}

#[test]
fn requests_that_wait_for_a_lock_are_a_limit_and_requests_that_sleep_are_none() {
    for feature in [21, 25] {
        let locked = Busy::start(feature, &["0", "locked"]);
        let watch = Watch::start(&locked.pid(), &[]);
        let what = "waiting for a ReentrantLock at Busy$Requests.save:";
        let lines = watch.until("a limit", |line| line.contains("limit: ") && line.contains(what));
        let last = lines.last().unwrap();
        assert!(
            last.contains(". It is held at Busy") && last.contains("Try: the lock at Busy$Requests.save:"),
            "{last}"
        );
        watch.leave();

        let asleep = Busy::start(feature, &["0", "asleep"]);
        let watch = Watch::start(&asleep.pid(), &[]);
        let lines = watch.until_judged("limit: ");
        let mut limits = lines.iter().filter(|line| line.contains("limit: "));
        assert!(limits.all(|it| !it.contains("at once") && !it.contains("waiting for")), "{lines:?}");
        watch.leave();
    }
}

#[test]
fn buffers_that_each_virtual_thread_makes_anew_are_named_and_buffers_of_requests_are_not() {
    let cached = "are caches of threads. Each virtual thread makes its own. ";
    let cores = thread::available_parallelism().unwrap().to_string();
    for feature in [21, 25] {
        let busy = Busy::start(feature, &["0", "cached", &cores]);
        let watch = Watch::start(&busy.pid(), &[]);
        let lines = watch.until("caches", |line| line.contains("limit: ") && line.contains(cached));
        let asked = "MB/s (byte[]) at Busy$Requests.answer:";
        assert!(lines.last().unwrap().contains(asked), "{lines:?}");
        watch.leave();
    }
    let busy = Busy::start(25, &["0", "allocated", &cores]);
    let watch = Watch::start(&busy.pid(), &[]);
    let lines = watch.until_judged("limit: the CPU");
    assert!(lines.iter().all(|line| !line.contains(cached)), "{lines:?}");
    watch.leave();
}

#[test]
fn every_json_line_of_both_javas_is_what_the_schema_says() {
    let schema: Value = serde_json::from_str(&fs::read_to_string(SCHEMA).unwrap()).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    for feature in [21, 25] {
        let busy = Busy::start(feature, &["1", "busy"]);
        let watch = Watch::start(&busy.pid(), &["--json"]);
        let mut missing = BTreeSet::from([
            "hello",
            "sample",
            "carriers",
            "pool",
            "stacks",
            "stack_group",
            "events_until",
            "limits",
        ]);
        while !missing.is_empty() {
            let lines = watch.until(&format!("{missing:?} on Java {feature}"), |line| {
                missing.iter().any(|kind| line.contains(&format!("\"type\":\"{kind}\"")))
            });
            for line in &lines {
                let value = json(line);
                let complaint = validator.iter_errors(&value).next().map(|error| error.to_string());
                assert_eq!(complaint, None, "{line}");
                missing.remove(value["type"].as_str().unwrap());
            }
        }
        watch.leave();
    }
    for wrong in [r#"{"type":"hello","t_ns":1}"#, r#"{"type":"dropped","t_ns":1,"lines":2,"more":3}"#] {
        assert!(!validator.is_valid(&json(wrong)), "{wrong}");
    }
}

/// JFR ends the JVM when it cannot write its files.
#[test]
fn a_jvm_whose_tmpdir_cannot_hold_a_recording_is_watched_without_one_and_no_run_is() {
    for feature in [21, 25] {
        let mut idle = Busy::start(feature, &["0"]);
        let (tmp, lines) = (idle.tmp.path().to_owned(), tempfile::tempdir().unwrap());
        fs::remove_dir(&tmp).unwrap();
        let why =
            format!("JFR would end the JVM when it cannot write to {}: it is not a folder", tmp.display());
        let watched = Command::new(cargo_bin("threadcount"))
            .args(["watch", &idle.pid(), "--json", "-d", "1s"])
            .output();
        let watched = watched.unwrap();
        let says = String::from_utf8_lossy(&watched.stdout).into_owned();
        assert_eq!(watched.status.code(), Some(0), "{says}");
        assert!(says.contains("\"what\":\"events\"") && says.contains(&why), "{says}");
        assert!(says.contains("\"type\":\"sample\""), "{says}");
        let file = lines.path().join("probe.jsonl");
        let refused = attach::load(idle.jvm.id(), &jar::find().unwrap(), &file).unwrap_err();
        assert!(refused.to_string().contains(&why), "{refused}");
        assert!(fs::read_to_string(&file).unwrap().starts_with("{\"type\":\"refused\""));
        assert!(!idle.open_packages().is_empty() && !tmp.exists(), "it lives, and nobody made a folder");
    }
}

#[test]
fn a_recording_that_somebody_else_ends_ends_the_visit_with_the_reason() {
    for feature in [21, 25] {
        let idle = Busy::start(feature, &["0"]);
        let watch = Watch::start(&idle.pid(), &["--json"]);
        watch.until("events", |line| line.contains("\"type\":\"events_until\""));
        let jvm = JvmProcess::find(idle.jvm.id()).unwrap();
        let ask = |text: &str| diagnostic_command(&jvm, text, GIVE_UP).unwrap();
        let recordings = ask("JFR.check");
        let number = recordings.split("Recording ").nth(1).unwrap().split(':').next().unwrap();
        ask(&format!("JFR.stop name={number}"));
        let lines = watch.until("why it ended", |line| line.contains("\"what\":\"visit\""));
        let problem = json(lines.last().unwrap());
        assert_eq!(problem["why"], "the recording was ended by somebody else");
        let mut watch = watch;
        assert_eq!(watch.process.wait().unwrap().code(), Some(1), "it leaves before anybody asked it to");
    }
}

fn bytes_below(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let size = |entry: fs::DirEntry| match entry.metadata() {
        Ok(it) if it.is_dir() => bytes_below(&entry.path()),
        Ok(it) => it.len(),
        Err(_) => 0,
    };
    entries.map(size).sum()
}

/// SIGSTOP has the effect of Ctrl-Z (SIGTSTP) on a program that does not catch it. Eight seconds of lines are several times what there is
/// room for.
#[test]
fn a_watch_that_is_stopped_blocks_nobody_and_goes_on_with_the_number_of_lines_it_missed() {
    const MOST_BYTES: u64 = 40_000_000;
    let busy = Busy::start(25, &["3000", "busy"]);
    let watch = Watch::start(&busy.pid(), &["--json"]);
    watch.until("pools", |line| line.contains("shop-2999"));
    watch.signal("-STOP");
    let stopped_until = Instant::now() + Duration::from_secs(8);
    let mut most_bytes = 0;
    while Instant::now() < stopped_until {
        most_bytes = most_bytes.max(bytes_below(busy.tmp.path()));
        thread::sleep(Duration::from_millis(200));
    }
    watch.signal("-CONT");
    assert!(most_bytes < MOST_BYTES, "JFR's files had {most_bytes} bytes");
    let lines = watch.until("dropped lines", |line| line.contains("\"type\":\"dropped\""));
    let dropped = json(lines.last().unwrap());
    assert!(dropped["lines"].as_u64().unwrap() > 0, "{dropped}");
    watch.until("readings go on", |line| {
        line.contains("\"type\":\"sample\"") && json(line)["t_ns"].as_u64() > dropped["t_ns"].as_u64()
    });
    watch.until("events go on too", |line| {
        line.contains("\"type\":\"events_until\"")
            && json(line)["events_until_ns"].as_u64() > dropped["t_ns"].as_u64()
    });
    watch.leave();
}

#[test]
fn a_jvm_that_is_stopped_while_it_is_watched_is_said_to_be_stopped() {
    let busy = Busy::start(25, &["0"]);
    let watch = Watch::start(&busy.pid(), &[]);
    watch.until("figures", |line| line.contains(" cores"));
    let pid = rustix::process::Pid::from_raw(busy.pid().parse().unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::STOP).unwrap();
    watch.until("the reason", |line| {
        line.contains("cannot read new figures: its process is stopped (SIGSTOP or Ctrl-Z)")
    });
    rustix::process::kill_process(pid, rustix::process::Signal::CONT).unwrap();
    watch.leave();
}

/// The first visit makes what the JVM keeps (the classes of JFR and of the last one or two probes). After that nothing adds up.
#[test]
fn a_watched_jvm_has_no_file_no_package_and_no_heap_more_than_before() {
    const ONCE_BYTES: u64 = 12_000_000;
    const NOISE_BYTES: u64 = 300_000;
    for feature in [21, 25] {
        let mut idle = Busy::start(feature, &["0"]);
        let (packages, fresh_bytes) = (idle.open_packages(), idle.live_heap_bytes());
        let mut visit = || {
            let watch = Watch::start(&idle.pid(), &["--json"]);
            watch.until("events", |line| line.contains("\"type\":\"events_until\""));
            watch.leave();
            let give_up = Instant::now() + GIVE_UP;
            while fs::read_dir(idle.tmp.path()).unwrap().count() > 0 {
                assert!(Instant::now() < give_up, "java.io.tmpdir is not empty");
                thread::sleep(Duration::from_millis(50));
            }
            assert_eq!(idle.open_packages(), packages);
            idle.live_heap_bytes()
        };
        let visits = [visit(), visit(), visit(), visit(), visit()];
        // What adds up does so in each visit. A class or buffer that comes once may come late, in one of them.
        let mut grown: Vec<u64> =
            visits[1..].windows(2).map(|pair| pair[1].saturating_sub(pair[0])).collect();
        grown.sort_unstable();
        let without_largest: u64 = grown[..grown.len() - 1].iter().sum();
        assert!(without_largest <= NOISE_BYTES, "Java {feature}: {fresh_bytes} and then {visits:?}");
        assert!(
            visits[4] - fresh_bytes.min(visits[4]) <= ONCE_BYTES,
            "Java {feature}: {fresh_bytes} {visits:?}"
        );
        println!("Java {feature}: live heap {fresh_bytes} bytes, after each visit {visits:?}");
    }
}
