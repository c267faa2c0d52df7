//! Runs `threadcount diagnose` on JVMs of Java 21 and 25 that hang in a known way, and on look-alikes. The verdict must be right and come
//! within ten seconds, or twenty on a full CPU, and the JVM must live on.

use crate::java;

use assert_cmd::cargo::cargo_bin;
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};
use threadcount_machine::attach;
use threadcount_machine::attach::JvmProcess;
use threadcount_machine::live_heap::HeapReader;

const LIMIT: Duration = Duration::from_secs(10);
/// The limit if threads compute on all cores and leave the dumps and the probe little of the CPU.
const LIMIT_OF_FULL_CPU: Duration = Duration::from_secs(20);
const GIVE_UP: Duration = Duration::from_secs(60);
const SOURCES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/hung");
/// Two carriers on every machine, so that the same threads wait for a carrier everywhere.
const CARRIERS: &str = "-Djdk.virtualThreadScheduler.parallelism=2";

/// A JVM that runs a class of `tests/hung` in one of its modes. `how` is both words, or only a mode of `Hung`.
struct Hung {
    jvm: Child,
    says: BufReader<ChildStdout>,
    how: String,
}

/// The state of a JVM as far as its user would notice a change.
#[derive(Debug)]
struct Condition {
    threads: Vec<String>,
    files: Vec<String>,
    sockets: usize,
    open_packages: String,
}

impl Hung {
    fn start(java: u16, how: &str, classes: &Path) -> Self {
        let mut jvm = Command::new(java::runtime(java).java());
        jvm.args([
            "-Xmx64m",
            if how == "gc-g1" { "-XX:+UseG1GC" } else { "-XX:+UseSerialGC" },
            "-XX:TieredStopAtLevel=1",
            "-XX:ActiveProcessorCount=2",
            CARRIERS,
            "-cp",
        ]);
        let (class, mode) = how.split_once(' ').unwrap_or(("Hung", how.strip_suffix("-g1").unwrap_or(how)));
        let jvm = jvm.arg(classes).args([class, mode]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut jvm = jvm.stderr(Stdio::null()).spawn().unwrap();
        let mut says = BufReader::new(jvm.stdout.take().unwrap());
        let mut up = String::new();
        says.read_line(&mut up).unwrap();
        assert_eq!(up, "up\n");
        Self { jvm, says, how: how.to_owned() }
    }

    fn pid(&self) -> u32 {
        self.jvm.id()
    }

    fn condition(&mut self) -> Condition {
        let mut seen = self.open_files();
        let mut alike = 0;
        // The JVM closes its end of a connection some time after we have the answer, and some of these JVMs have traffic of their own.
        let give_up = Instant::now() + Duration::from_secs(5);
        while alike < 5 && Instant::now() < give_up {
            sleep(Duration::from_millis(100));
            let now = self.open_files();
            alike = if now == seen { alike + 1 } else { 0 };
            seen = now;
        }
        let (files, sockets) = seen;
        Condition { threads: self.threads(), files, sockets, open_packages: self.open_packages() }
    }

    /// The threads by the kernel's names, without compilers, carriers and others that come and go.
    fn threads(&self) -> Vec<String> {
        let tasks = fs::read_dir(format!("/proc/{}/task", self.pid())).unwrap().flatten();
        let names = tasks.filter_map(|it| fs::read_to_string(it.path().join("comm")).ok());
        let is_own = |name: &String| {
            ["C1 ", "C2 ", "ForkJoinPool", "neighbour"].iter().all(|other| !name.starts_with(other))
        };
        let mut names: Vec<String> = names.map(|it| it.trim().to_owned()).filter(is_own).collect();
        names.sort_unstable();
        names
    }

    fn open_files(&self) -> (Vec<String>, usize) {
        let links = fs::read_dir(format!("/proc/{}/fd", self.pid())).unwrap().flatten();
        let links = links.filter_map(|it| fs::read_link(it.path()).ok()).map(|it| it.display().to_string());
        let (sockets, mut files): (Vec<String>, Vec<String>) =
            links.partition(|it| it.starts_with("socket:"));
        files.sort_unstable();
        (files, sockets.len())
    }

    /// The packages of the JDK that are open to the JVM's program.
    fn open_packages(&mut self) -> String {
        // With a full heap the program cannot answer.
        if self.how.starts_with("gc") {
            return String::new();
        }
        self.jvm.stdin.as_mut().unwrap().write_all(b"x").unwrap();
        let mut open = String::new();
        self.says.read_line(&mut open).unwrap();
        assert!(open.starts_with("open:"), "{open}");
        open
    }

    /// Attaches once before the test, because this leaves a thread and a socket for as long as the JVM lives.
    fn attached_to(self) -> Self {
        let jvm = JvmProcess::find(self.pid()).unwrap();
        attach::diagnostic_command(&jvm, "VM.version", GIVE_UP).unwrap();
        self
    }
}

impl Drop for Hung {
    fn drop(&mut self) {
        self.jvm.kill().ok();
        self.jvm.wait().ok();
    }
}

/// The programs of `tests/hung`.
fn classes() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let mut javac = Command::new(java::jdk().home.join("bin/javac"));
    let sources = ["ConcurrentBag", "Borrowers", "Hung"].map(|it| format!("{SOURCES}/{it}.java"));
    let javac = javac.args(["--release", "21", "-d"]).arg(folder.path()).args(sources);
    assert!(javac.status().unwrap().success());
    folder
}

/// The verdicts on Java 21 and on Java 25.
fn diagnose(how: &str) -> [Vec<Value>; 2] {
    java::probe();
    let folder = classes();
    [21, 25].map(|java| diagnose_on(java, how, folder.path()))
}

fn diagnose_on(java: u16, how: &str, folder: &Path) -> Vec<Value> {
    let mut hung = Hung::start(java, how, folder).attached_to();
    let before = hung.condition();
    let out = folder.join(format!("{java}.json"));
    let began = Instant::now();
    let pid = hung.pid().to_string();
    let mut command = Command::new(cargo_bin("threadcount"));
    command.args(["diagnose", &pid, "--out"]).arg(&out).stdin(Stdio::null());
    let ours = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let prefix = format!("threadcount-diagnose-{}-", ours.id());
    let output = ours.wait_with_output().unwrap();
    let took = began.elapsed();
    let says =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    let limit = if how == "spin" { LIMIT_OF_FULL_CPU } else { LIMIT };
    assert!(took <= limit, "{took:?}: {says}");
    assert!(hung.jvm.try_wait().unwrap().is_none(), "the JVM lives");
    assert!(!fs::exists(format!("/proc/{pid}/cwd/.attach_pid{pid}")).unwrap());
    let mut in_tmp = fs::read_dir("/tmp").unwrap().flatten();
    assert!(!in_tmp.any(|it| it.file_name().to_string_lossy().starts_with(&prefix)));
    assert_unharmed(&before, &hung.condition(), how);
    let document: Value = serde_json::from_str(&fs::read_to_string(&out).unwrap()).unwrap();
    let verdicts = document["verdicts"].as_array().unwrap().clone();
    // Dumps by Java code are left out where the heap is short.
    let has_dump = document["thread_dump"]["threadContainers"].is_array();
    assert!(has_dump || how.starts_with("gc"), "{says}");
    assert_record(&document, has_dump);
    let is_quiet = ["idle", "slow"].contains(&verdicts[0]["kind"].as_str().unwrap());
    assert_eq!(output.status.code(), Some(i32::from(!is_quiet)), "{how} on Java {java}: {says}");
    verdicts
}

/// Checks that the document has what an issue tracker needs besides the verdict.
fn assert_record(document: &Value, has_dump: bool) {
    assert!(document["thread_print"].is_string() && document["thread_dump"].is_object() == has_dump);
    let length = |at: &str| document.pointer(at).and_then(Value::as_array).unwrap().len();
    let dumps = length("/dumps_at_seconds");
    assert!(length("/cpu/at_seconds") >= dumps + 2 && length("/gc") >= 2, "{dumps} dumps");
    // A JVM that collects garbage all the time may print nothing in time.
    assert!(dumps >= 3 || !has_dump, "{dumps} dumps");
    if dumps == 0 {
        return;
    }
    let vm = document["jvm"]["vm"].as_str().unwrap();
    assert!(vm.contains(document["jvm"]["java_version"].as_str().unwrap()), "{vm}");
    let earlier = document["earlier_dumps"].as_array().unwrap();
    assert_eq!(earlier.len(), dumps - 1);
    assert!(earlier.iter().all(|it| it["thread_print"].as_str().unwrap().contains("\"main\"")));
    assert_eq!(length("/profile/0/threads"), dumps);
}

/// Checks that threads, files, sockets and opened packages are as before. The JVM keeps the file of an agent open, and that of random
/// numbers once it has used it.
fn assert_unharmed(before: &Condition, after: &Condition, how: &str) {
    assert_eq!(before.threads, after.threads, "{how}");
    assert_eq!(before.open_packages, after.open_packages, "{how}");
    let mut new = after.files.clone();
    for file in &before.files {
        let at = new.iter().position(|it| it == file).unwrap_or_else(|| panic!("{how}: {file} was closed"));
        new.remove(at);
    }
    let is_kept = |file: &String| file.ends_with("/probe.jar") || file.ends_with("random");
    assert!(new.iter().all(is_kept) && new.len() <= 3, "{how}: {new:?}");
    let has_traffic = ["slow-neighbour", "readers"].contains(&how);
    assert!(has_traffic || after.sockets == before.sockets, "{how}: {before:?} {after:?}");
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

/// The hang of qos-ch/logback#786. Since Java 24 a thread in a monitor leaves its carrier, and nothing hangs.
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

/// A third request waits in the same filter, without a carrier: it owns no monitor.
#[test]
fn virtual_threads_that_came_through_one_filter_to_two_monitors() {
    let [old, new] = diagnose("filtered-monitors");
    assert_eq!(assert_deadlock(&old)["owners_known"], false);
    assert_eq!(assert_deadlock(&new)["owners_known"], true);
}

/// The JVM prints platform threads without Java code; what virtual threads do stays open.
#[test]
fn platform_threads_that_take_two_locks_in_a_heap_that_is_nearly_full() {
    for verdicts in diagnose("gc-locks") {
        let [deadlock, open] = &verdicts[..] else { panic!("{verdicts:#?}") };
        assert_deadlock(std::slice::from_ref(deadlock));
        assert_eq!((&open["kind"], &open["platform_threads_judged"]), (&"inconclusive".into(), &true.into()));
    }
}

#[test]
fn platform_threads_that_take_two_locks_in_opposite_order() {
    for verdicts in diagnose("platform-locks") {
        assert_deadlock(&verdicts);
    }
}

/// Without requests these threads look like workers that wait for a signal, so a hang is neither claimed nor denied.
#[test]
fn permits_that_were_not_given_back() {
    for verdicts in diagnose("permits") {
        let verdict = only(&verdicts, "idle");
        assert_eq!(
            (&verdict["for_permits"], &verdict["groups"][0]["at"]["method"]),
            (&8.into(), &"Hung.handle".into()),
            "{verdict:#}"
        );
    }
}

/// A pool that is recognised by its class. Its connections were never given back, or other code has them.
#[test]
fn connections_that_were_not_given_back() {
    for verdicts in diagnose("Borrowers leaked") {
        let verdict = only(&verdicts, "leaked-permits");
        assert_eq!(verdict["what"], "a HikariCP connection", "{verdict:#}");
        assert_eq!(
            (&verdict["waiters"], &verdict["at"]["method"]),
            (&12.into(), &"Borrowers.find".into()),
            "{verdict:#}"
        );
    }
    for verdicts in diagnose("Borrowers elsewhere") {
        let verdict = only(&verdicts, "pool-exhausted");
        assert_eq!(
            names(&verdict["holders"]),
            ["report-0", "report-1", "report-2", "report-3"],
            "{verdict:#}"
        );
        assert_eq!(verdict["waits_in"], Value::Null, "they may hold one: no line of theirs shows it");
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

/// One neighbour hangs, and another one responds after 1.5 s.
#[test]
fn a_limit_that_a_slow_neighbour_exhausts() {
    for how in ["neighbour", "slow-neighbour"] {
        for verdicts in diagnose(how) {
            let verdict = only(&verdicts, "pool-exhausted");
            let hold = verdict["hold_seconds"].as_f64();
            assert!(hold.is_none() || how == "slow-neighbour" && hold >= Some(0.7), "{verdict:#}");
            assert_eq!(verdict["waits_in"], "reading from a socket", "{verdict:#}");
            assert!(verdict["waiters"].as_u64().unwrap() >= 30, "{verdict:#}");
            assert_eq!(verdict["at"]["method"], "Hung.call", "{verdict:#}");
        }
    }
}

#[test]
fn a_limit_that_a_neighbour_asked_by_a_client_of_http_exhausts() {
    for verdicts in diagnose("http-neighbour") {
        let verdict = only(&verdicts, "pool-exhausted");
        assert_eq!(verdict["waits_in"], "waiting for an HTTP response", "{verdict:#}");
        assert_eq!((names(&verdict["holders"]).len(), &verdict["waiters"]), (4, &36.into()), "{verdict:#}");
    }
}

/// The owner of the lock has ended, or waits for its next task.
#[test]
fn a_lock_that_was_not_given_back() {
    for (how, owner) in [("lost-lock", "/owner/ended/name"), ("lost-lock-of-worker", "/owner/idle/name")] {
        for verdicts in diagnose(how) {
            let verdict = only(&verdicts, "lock-not-given-back");
            let name = if how == "lost-lock" { "job" } else { "worker" };
            assert_eq!(verdict.pointer(owner).and_then(Value::as_str), Some(name), "{verdict:#}");
            assert_eq!(
                (&verdict["waiters"], &verdict["at"]["method"]),
                (&3.into(), &"Hung.reserve".into()),
                "{verdict:#}"
            );
        }
    }
}

#[test]
fn a_heap_that_is_nearly_full_of_what_lives() {
    for how in ["gc", "gc-g1"] {
        for verdicts in diagnose(how) {
            let verdict = only(&verdicts, "gc-thrashing");
            let share = verdict["share"].as_f64().unwrap();
            assert!((0.5..=1.0).contains(&share), "{verdict:#}");
            let most = verdict["most_bytes"].as_u64().unwrap();
            assert!((56 << 20..=64 << 20).contains(&most), "{how}: the heap has 64 MiB: {verdict:#}");
        }
    }
}

fn assert_quiet(modes: &[(&str, &str)]) {
    for (how, kind) in modes {
        for verdicts in diagnose(how) {
            only(&verdicts, kind);
        }
    }
}

/// Look-alikes: idle workers at queues, at semaphores that are signals to the next or from somebody else, and idle connections.
#[test]
fn nothing_hangs_where_threads_are_idle() {
    assert_quiet(&[("idle", "idle"), ("signals", "idle"), ("stages", "idle"), ("clients", "idle")]);
}

/// Look-alikes: a lock that many want and each gets, full cores, a pool or a limit whose holders change, calls of a neighbour one
/// after the other.
#[test]
fn nothing_hangs_where_threads_are_merely_slow() {
    let modes = ["busy-lock", "slow", "Borrowers busy", "long-queue", "readers"];
    assert_quiet(&modes.map(|how| (how, "slow")));
}

/// The first visit leaves classes of the JDK, and each later one those of its agent in place of the last; beyond this nothing adds up.
#[test]
fn a_jvm_that_is_diagnosed_again_and_again_keeps_no_heap_of_it() {
    const NOISE_BYTES: u64 = 300_000;
    java::probe();
    let folder = classes();
    for java in [21, 25] {
        let idle = Hung::start(java, "idle", folder.path()).attached_to();
        let pid = idle.pid();
        let visit = || {
            let status = Command::new(cargo_bin("threadcount"))
                .args(["diagnose", &pid.to_string()])
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .status();
            assert!(status.unwrap().success());
            HeapReader { pid }.read().unwrap().live_bytes
        };
        let visits = [visit(), visit(), visit(), visit()];
        let grown = visits[3].saturating_sub(visits[1]);
        assert!(grown <= NOISE_BYTES, "Java {java}: live heap after each visit {visits:?}");
        println!("Java {java}: live heap after each visit {visits:?}");
    }
}
