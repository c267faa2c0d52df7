//! Runs `threadcount diagnose` on a server whose requests hang in a known way (`tests/hung/Service.java`), on platform and virtual threads
//! of Java 21 and 25, and on servers that look alike.

use crate::java;

use assert_cmd::cargo::cargo_bin;
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};
use threadcount_machine::process_sockets::ProcessSockets;

const SOURCES: [&str; 7] = [
    concat!(env!("CARGO_MANIFEST_DIR"), "/tests/hung/Service.java"),
    concat!(env!("CARGO_MANIFEST_DIR"), "/tests/hung/Pools.java"),
    concat!(env!("CARGO_MANIFEST_DIR"), "/tests/hung/Loops.java"),
    concat!(env!("CARGO_MANIFEST_DIR"), "/tests/hung/Callbacks.java"),
    concat!(env!("CARGO_MANIFEST_DIR"), "/tests/hung/Backlogs.java"),
    concat!(env!("CARGO_MANIFEST_DIR"), "/tests/hung/Limiters.java"),
    concat!(env!("CARGO_MANIFEST_DIR"), "/tests/hung/Children.java"),
];
const GIVE_UP: Duration = Duration::from_secs(120);
pub const KINDS: [&str; 2] = ["platform", "virtual"];

/// A server, and clients that wait for its responses.
pub struct Service {
    jvm: Child,
    port: u16,
    /// Stays open, but is not read any more.
    _output: BufReader<ChildStdout>,
    _clients: Vec<TcpStream>,
}

impl Service {
    pub fn start(java: u16, mode: &str, kind: &str, clients: usize, classes: &Path) -> Self {
        let mut command = Command::new(java::runtime(java).java());
        command.args(["-Xmx256m", "-XX:TieredStopAtLevel=1", "-XX:ActiveProcessorCount=2"]);
        command.args(["-Djdk.virtualThreadScheduler.parallelism=2", "-cp"]).arg(classes);
        let command = command.args(["Service", mode, kind]).stdin(Stdio::null()).stdout(Stdio::piped());
        let mut jvm = command.stderr(Stdio::null()).spawn().unwrap();
        let mut output = BufReader::new(jvm.stdout.take().unwrap());
        let mut port = String::new();
        output.read_line(&mut port).unwrap();
        let port: u16 = port.trim().parse().unwrap();
        let clients = (0..clients).map(|_| ask(port)).collect();
        let service = Self { jvm, port, _output: output, _clients: clients };
        service.wait_until_it_rests(["spin", "retry"].contains(&mode) || mode.starts_with("limiter"));
        service
    }

    /// Waits until the server has read all requests and has nothing more to do.
    fn wait_until_it_rests(&self, computes: bool) {
        let pid = self.jvm.id();
        let give_up = Instant::now() + GIVE_UP;
        let state = || (unread(pid), if computes { 0 } else { cpu_ticks(pid) });
        // A server that gets no core uses no CPU either.
        let rests = || computes || !wants_a_core(pid);
        let mut alike = 0;
        let mut last = state();
        while alike < 8 {
            assert!(Instant::now() < give_up, "the server does not rest: {last:?}");
            sleep(Duration::from_millis(250));
            let now = state();
            // The JVM's own threads always have some work.
            alike = if now.0 == last.0 && now.1 <= last.1 + 2 && rests() { alike + 1 } else { 0 };
            last = now;
        }
    }

    /// Starts clients that get one response after the other until the returned value is dropped.
    pub fn traffic(&self, clients: usize) -> Traffic {
        let mut load = Command::new(cargo_bin("threadcount"));
        let load = load.args(["load", &format!("http://127.0.0.1:{}/", self.port), "-d", "10m", "-c"]);
        let load =
            load.arg(clients.to_string()).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let traffic = Traffic(load.spawn().unwrap());
        let is_answered = || {
            let all = ProcessSockets::read(self.jvm.id()).unwrap().inbound;
            all.iter().any(|it| it.counters.is_some_and(|it| it.sent_bytes > 0))
        };
        let give_up = Instant::now() + GIVE_UP;
        while !is_answered() {
            assert!(Instant::now() < give_up, "no response");
            sleep(Duration::from_millis(10));
        }
        traffic
    }

    /// The output of a command about this process, and whether the command succeeded.
    pub fn told_by(&self, command: &str, options: &[&str]) -> (bool, String) {
        let mut threadcount = Command::new(cargo_bin("threadcount"));
        threadcount.arg(command);
        if command == "compare" {
            threadcount.args(["--url", &format!("http://127.0.0.1:{}/", self.port), "--attach"]);
        }
        let output = threadcount.arg(self.jvm.id().to_string()).args(options).output().unwrap();
        let told = [output.stdout, output.stderr].concat();
        (output.status.success(), String::from_utf8(told).unwrap())
    }

    pub fn diagnose(&self, folder: &Path) -> Diagnosis {
        let out = folder.join(format!("{}.json", self.jvm.id()));
        let mut command = Command::new(cargo_bin("threadcount"));
        let output =
            command.args(["diagnose", &self.jvm.id().to_string(), "--out"]).arg(&out).output().unwrap();
        let text =
            String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        let document: Value = serde_json::from_str(&fs::read_to_string(&out).unwrap()).unwrap();
        Diagnosis {
            code: output.status.code(),
            verdicts: document["verdicts"].as_array().unwrap().clone(),
            text,
        }
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        self.jvm.kill().ok();
        self.jvm.wait().ok();
    }
}

/// A load that runs beside a diagnosis.
pub struct Traffic(Child);

impl Drop for Traffic {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

fn ask(port: u16) -> TcpStream {
    let mut client = TcpStream::connect(("127.0.0.1", port)).unwrap();
    client.write_all(b"GET / HTTP/1.1\r\nHost: service\r\n\r\n").unwrap();
    client
}

fn unread(pid: u32) -> usize {
    ProcessSockets::read(pid).unwrap().inbound.iter().filter(|it| it.unread_bytes > 0).count()
}

/// User and system time: the 14th and 15th field of `proc_pid_stat(5)`.
fn cpu_ticks(pid: u32) -> u64 {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_ascii_whitespace().collect();
    fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
}

/// Whether a thread runs or is ready to: the third field of `proc_pid_stat(5)`.
fn wants_a_core(pid: u32) -> bool {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).unwrap().flatten();
    let stats = threads.filter_map(|it| fs::read_to_string(it.path().join("stat")).ok());
    stats.into_iter().any(|stat| stat.rsplit(')').next().unwrap().trim_start().starts_with('R'))
}

pub struct Diagnosis {
    pub code: Option<i32>,
    verdicts: Vec<Value>,
    pub text: String,
}

impl Diagnosis {
    pub fn kind(&self) -> &str {
        self.verdicts[0]["kind"].as_str().unwrap()
    }
}

pub fn classes() -> tempfile::TempDir {
    java::probe();
    let folder = tempfile::tempdir().unwrap();
    let mut javac = Command::new(java::jdk().home.join("bin/javac"));
    let javac = javac.args(["--release", "21", "-d"]).arg(folder.path()).args(SOURCES);
    assert!(javac.status().unwrap().success());
    folder
}

/// Runs `check` on both Javas and both kinds of thread.
pub fn on_all(mode: &str, clients: usize, check: impl Fn(&Diagnosis, &str)) {
    let folder = classes();
    for java in [21, 25] {
        for kind in KINDS {
            let service = Service::start(java, mode, kind, clients, folder.path());
            let diagnosis = service.diagnose(folder.path());
            let how = format!("{mode} on Java {java}, {kind}:\n{}", diagnosis.text);
            check(&diagnosis, &how);
        }
    }
}

/// Checks that the verdict is a hang of this kind, and that the text contains all these words.
pub fn assert_hangs(mode: &str, clients: usize, kind: &str, words: &[&str]) {
    on_all(mode, clients, |diagnosis, how| {
        assert_eq!((diagnosis.kind(), diagnosis.code), (kind, Some(1)), "{how}");
        for word in words {
            assert!(diagnosis.text.contains(word), "{word}: {how}");
        }
    });
}

/// Checks that requests stand, and that the text contains these words. What would end their wait is not visible, so no cause is claimed.
pub fn assert_stands(mode: &str, clients: usize, words: &[&str]) {
    on_all(mode, clients, |diagnosis, how| {
        assert_eq!((diagnosis.kind(), diagnosis.code), ("requests-stand", Some(3)), "{how}");
        for word in words.iter().chain(&["who ends that is not visible", "nothing sent since, for up to "]) {
            assert!(diagnosis.text.contains(word), "{word}: {how}");
        }
    });
}

#[test]
fn requests_hold_a_lock_that_the_workers_want_whose_results_they_wait_for() {
    let words = ["a result", "held by", "computed by", "Service$LockAndFuture.render", "behind them"];
    assert_hangs("lock-and-future", 12, "deadlock", &words);
}

#[test]
fn requests_hold_a_permit_and_wait_for_a_second_one() {
    let words =
        ["4 threads hold a permit of a Semaphore", "Service$NestedPool.audit", "Service$NestedPool.run"];
    assert_hangs("nested-pool", 12, "pool-waits-for-itself", &words);
}

#[test]
fn requests_wait_for_room_in_a_queue_whose_consumer_has_ended() {
    assert_hangs(
        "dead-consumer",
        12,
        "dead-end",
        &["8 threads wait for room in a queue that no thread gives"],
    );
}

#[test]
fn requests_wait_for_a_consumer_that_writes_to_a_pipe_that_nobody_reads() {
    let words = ["room in a queue", "log-writer", "standard output, a pipe"];
    assert_hangs("unread-log", 12, "dead-end", &words);
}

#[test]
fn readers_wait_behind_a_writer_that_waits_for_a_reader_that_stands_still() {
    let words = ["Service$ReadLock.export", "a lock", "an element of a queue"];
    assert_hangs("read-lock", 12, "dead-end", &words);
}

#[test]
fn a_read_lock_whose_reader_has_ended() {
    assert_hangs("lost-read-lock", 6, "lock-not-given-back", &["its owner has ended"]);
}

#[test]
fn stamped_locks_in_opposite_order() {
    assert_hangs(
        "stamped-locks",
        2,
        "deadlock",
        &["StampedLock", "Service$StampedLocks.sell", "Service$StampedLocks.order"],
    );
}

#[test]
fn classes_that_need_each_other_to_begin() {
    assert_hangs("classes", 2, "deadlock", &["the initialisation of a class", "Service$Classes"]);
}

#[test]
fn tasks_wait_for_tasks_in_the_queue_of_their_own_pool() {
    assert_hangs(
        "own-pool",
        8,
        "deadlock",
        &["queued in java.util.concurrent.ThreadPoolExecutor", "Service$OwnPool.report"],
    );
}

#[test]
fn tasks_wait_for_a_latch_that_tasks_in_the_queue_of_their_own_pool_count_down() {
    assert_hangs(
        "latch-of-pool",
        8,
        "deadlock",
        &[
            "2 threads wait, each for what only it can give",
            "queued in java.util.concurrent.ThreadPoolExecutor",
        ],
    );
}

#[test]
fn two_event_loops_wait_for_promises_in_the_queue_of_each_other() {
    assert_hangs(
        "event-loops",
        8,
        "deadlock",
        &["2 threads wait for each other", "queued in Service$EventLoop", "thread loop"],
    );
}

#[test]
fn tasks_of_a_parallel_stream_want_the_lock_of_its_caller() {
    assert_hangs(
        "parallel-stream",
        2,
        "deadlock",
        &["Service$ParallelStream.add", "Service$ParallelStream.run"],
    );
}

#[test]
fn a_neighbour_that_never_responds_to_an_asynchronous_client() {
    assert_hangs("neighbour", 12, "dead-end", &["waits for an answer of 127.0.0.1:"]);
}

#[test]
fn permits_that_failed_requests_did_not_give_back() {
    let words = [
        "10 requests stood at Service$LostPermit.run",
        "waiting for a permit of a Semaphore",
        "none is left, and no thread is in the code that takes one",
    ];
    assert_stands("lost-permit", 12, &words);
}

#[test]
fn a_latch_that_nobody_counts_down_and_a_result_that_nobody_gives() {
    for (mode, what) in [
        ("latch", "a CountDownLatch"),
        ("shared-latch", "a CountDownLatch"),
        ("future", "a result"),
        ("phaser", "a Phaser"),
        ("exchanger", "an Exchanger"),
    ] {
        assert_hangs(mode, 6, "dead-end", &["6 threads wait", what, "no thread gives"]);
    }
}

/// These requests may wait for an event, so a hang is neither claimed nor denied.
#[test]
fn requests_that_wait_for_a_signal_have_an_unknown_cause_and_those_that_compute_a_loop() {
    let loops = "an endless loop, or a long computation";
    for (mode, at, cause) in [
        ("notify", "Service.awaitNotify", "who ends that is not visible"),
        ("spin", "Service.untilDone", loops),
    ] {
        on_all(mode, 2, |diagnosis, how| {
            assert_eq!((diagnosis.kind(), diagnosis.code), ("requests-stand", Some(3)), "{how}");
            assert!(diagnosis.text.contains(at) && diagnosis.text.contains(cause), "{how}");
        });
    }
}

#[test]
fn all_threads_write_to_clients_that_do_not_read() {
    let folder = classes();
    for java in [21, 25] {
        let service = Service::start(java, "slow-client", "platform", 12, folder.path());
        let diagnosis = service.diagnose(folder.path());
        assert!(
            diagnosis.code != Some(0) && diagnosis.text.contains("writing to a socket"),
            "{}",
            diagnosis.text
        );
    }
}

#[test]
fn an_idle_server_and_long_polls_do_not_hang() {
    let calm = [
        ("idle", 0, "idle"),
        ("idle", 3, "idle"),
        ("long-poll", 8, "waiting"),
        ("answered-later", 8, "waiting"),
    ];
    for (mode, clients, kind) in calm {
        on_all(mode, clients, |diagnosis, how| {
            assert_eq!((diagnosis.kind(), diagnosis.code), (kind, Some(0)), "{how}");
        });
    }
}

#[test]
fn requests_without_a_thread_that_nobody_answers_stand_though_other_tasks_are_scheduled() {
    on_all("forgotten", 8, |diagnosis, how| {
        assert_eq!((diagnosis.kind(), diagnosis.code), ("requests-stand", Some(3)), "{how}");
    });
}

#[test]
fn a_load_on_a_service_that_hangs_fails_with_its_diagnosis_and_one_on_a_slow_service_does_not() {
    let folder = classes();
    let load = ["-c", "12", "-d", "6s"];
    let hung = Service::start(25, "lock-and-future", "virtual", 0, folder.path());
    let (succeeded, told) = hung.told_by("compare", &load);
    let hangs = "the server hangs: no response to 12 requests";
    assert!(!succeeded && told.contains(hangs) && told.contains("Deadlock: "), "{told}");
    let (succeeded, told) = hung.told_by("compare", &["-c", "12", "--crossover"]);
    assert!(!succeeded && told.contains("the server hangs: ") && told.contains("Deadlock: "), "{told}");
    let slow = Service::start(25, "slow", "virtual", 0, folder.path());
    let (succeeded, told) = slow.told_by("compare", &load);
    assert!(succeeded && !told.contains("hangs"), "{told}");
}

#[test]
fn requests_without_a_response_are_said_while_a_service_is_watched_and_none_of_an_idle_one() {
    let folder = classes();
    let printed = "requests have had no response for 5 s and longer";
    let hung = Service::start(25, "latch", "virtual", 12, folder.path());
    let (_, told) = hung.told_by("watch", &["-d", "9s"]);
    assert!(told.contains(&format!("12 {printed}")), "{told}");
    let idle = Service::start(25, "idle", "virtual", 3, folder.path());
    let (_, told) = idle.told_by("watch", &["-d", "9s"]);
    assert!(told.contains("none found") && !told.contains(printed), "{told}");
}
