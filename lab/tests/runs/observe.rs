//! Compares each figure of the observation with a process whose answer is known.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use threadcount_load::clock::now_ns;
use threadcount_machine::{Sampler, Samples};
use threadcount_model::record::Cost;
use threadcount_model::window::Window;

/// A python program that talks over its pipes: it prints a line when it is ready, and continues at a line from us.
struct Actor {
    child: Child,
    lines: BufReader<std::process::ChildStdout>,
}

impl Actor {
    fn start(program: &str) -> Self {
        let mut child = Command::new("python3")
            .args(["-u", "-c", program])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .process_group(0)
            .spawn()
            .expect("python3 is needed by the tests");
        let lines = BufReader::new(child.stdout.take().unwrap());
        Self { child, lines }
    }

    fn says(&mut self) -> String {
        let mut line = String::new();
        self.lines.read_line(&mut line).unwrap();
        line.trim().to_owned()
    }

    fn go_on(&mut self) {
        self.child.stdin.as_mut().unwrap().write_all(b"\n").unwrap();
    }

    /// Samples from the moment at which the actor continues until its next line.
    fn watched(&mut self) -> (Samples, Cost, String) {
        let sampler = Sampler::start(self.child.id(), Duration::from_millis(50)).unwrap();
        sampler.window_begins();
        self.go_on();
        let answer = self.says();
        let ended = now_ns();
        let samples = sampler.stop();
        // The window is too wide on both sides. It is bounded by the samples at start and stop, which on a busy machine may be long before
        // the actor begins and long after it has answered.
        let cost = samples.cut(Window { started_ns: 0, ended_ns: ended + 60_000_000_000 }).0.unwrap();
        (samples, cost, answer)
    }
}

impl Drop for Actor {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

fn is_within(value: f64, share: f64, truth: f64) -> bool {
    (value - truth).abs() <= truth * share
}

/// The truth is the process's own getrusage, because on a loaded machine a second of work takes longer than a second.
#[test]
fn a_process_that_burns_a_core_reads_as_what_its_own_rusage_says() {
    let mut actor = Actor::start(
        "import resource, sys
def used():
    it = resource.getrusage(resource.RUSAGE_SELF)
    return it.ru_utime + it.ru_stime
print('ready'); sys.stdin.readline()
start = used()
while used() - start < 1.0: pass
print(used() - start); sys.stdin.readline()",
    );
    actor.says();
    let (_, cost, used_s) = actor.watched();
    let used_s: f64 = used_s.parse().unwrap();
    assert!(is_within(cost.cpu_s, 0.05, used_s), "read {} s, used {used_s} s", cost.cpu_s);
    assert!(is_within(cost.cpu_cores, 0.05, used_s / cost.window_s), "{cost:?}");
    // The CPU that the hypervisor took from a process is not in the machine's CPU.
    assert!(cost.machine_cpu_cores + cost.stolen_cores >= cost.cpu_cores - 0.1, "{cost:?}");
}

#[test]
fn the_work_of_threads_that_ended_is_counted() {
    let mut actor = Actor::start(
        "import threading, time, sys
def burn():
    start = time.thread_time()
    while time.thread_time() - start < 0.1: pass
print('ready'); sys.stdin.readline()
for _ in range(5):
    it = threading.Thread(target=burn); it.start(); it.join()
print(time.process_time()); sys.stdin.readline()",
    );
    actor.says();
    let (_, cost, _) = actor.watched();
    assert!(cost.cpu_s >= 0.5, "{cost:?}");
}

#[test]
fn a_process_that_touches_100_mb_reads_as_100_mb_more() {
    let mut actor = Actor::start(
        "import sys
print('ready'); sys.stdin.readline()
held = bytearray(b'x') * 100_000_000
print('held'); sys.stdin.readline()",
    );
    actor.says();
    let (samples, cost, _) = actor.watched();
    let before = samples.readings()[0];
    let grown = (cost.rss_peak_bytes - before.rss_bytes) as f64;
    assert!(is_within(grown, 0.02, 100e6), "resident set grew by {grown}");
    let pss_before = before.costly.unwrap().pss_bytes.unwrap();
    let pss_grown = (cost.pss_peak_bytes.unwrap() - pss_before) as f64;
    assert!(is_within(pss_grown, 0.02, 100e6), "proportional set grew by {pss_grown}");
}

#[test]
fn seven_extra_threads_read_as_seven_more() {
    let mut actor = Actor::start(
        "import threading, sys
print('ready'); sys.stdin.readline()
for _ in range(7): threading.Thread(target=threading.Event().wait, daemon=True).start()
print('started'); sys.stdin.readline()",
    );
    actor.says();
    let (samples, cost, _) = actor.watched();
    assert_eq!(cost.os_threads_peak, samples.readings()[0].os_threads + 7);
}

#[test]
fn a_process_that_waits_200_times_switches_200_times() {
    let mut actor = Actor::start(
        "import time, sys
print('ready'); sys.stdin.readline()
for _ in range(200): time.sleep(0.001)
print('waited'); sys.stdin.readline()",
    );
    actor.says();
    let (_, cost, _) = actor.watched();
    let waits = cost.voluntary_switches_per_s.unwrap() * cost.window_s;
    assert!((200.0..400.0).contains(&waits), "{waits} voluntary switches");
}

#[test]
fn children_and_their_children_belong_to_the_server() {
    let mut actor = Actor::start(
        "import subprocess, sys
print('ready'); sys.stdin.readline()
held = 'import sys; it = bytearray(b\"x\") * 30_000_000; print(1, flush=True); sys.stdin.read()'
nested = f'import subprocess, sys; subprocess.run([sys.executable, \"-c\", {held!r}])'
both = [subprocess.Popen([sys.executable, '-c', it], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        for it in (held, nested)]
for it in both: it.stdout.readline()
print('grown'); sys.stdin.readline()",
    );
    actor.says();
    let (samples, cost, _) = actor.watched();
    let before = samples.readings()[0];
    assert_eq!(before.os_threads, 1);
    assert_eq!(cost.os_threads_peak, 4, "itself, two children, a grandchild");
    let grown = (cost.rss_peak_bytes - before.rss_bytes) as f64;
    assert!(grown > 60e6, "resident sets grew by {grown}");
}

#[test]
fn children_that_came_and_went_between_two_samples_are_in_the_cpu() {
    let mut actor = Actor::start(
        "import os, resource, subprocess, sys
print('ready'); sys.stdin.readline()
burn = 'import time\\nwhile time.process_time() < 0.2: pass'
for _ in range(3): subprocess.run([sys.executable, '-c', burn])
it = resource.getrusage(resource.RUSAGE_CHILDREN)
print(it.ru_utime + it.ru_stime); sys.stdin.readline()",
    );
    actor.says();
    let (_, cost, used_s) = actor.watched();
    let used_s: f64 = used_s.parse().unwrap();
    assert!(used_s > 0.6);
    // The kernel keeps the time of ended children in ticks of 10 ms, twice for each of the three.
    assert!(is_within(cost.cpu_s, 0.25, used_s), "read {} s, the children used {used_s} s", cost.cpu_s);
}

#[test]
fn a_server_that_ends_while_it_is_sampled_is_no_error() {
    let mut actor = Actor::start("import sys\nprint('ready'); sys.stdin.readline(); print('bye')");
    actor.says();
    let (samples, _, _) = actor.watched();
    actor.child.wait().unwrap();
    let after = Sampler::start(actor.child.id(), Duration::from_millis(50)).unwrap().stop();
    assert_eq!(after.readings()[0].rss_bytes, 0);
    assert!(samples.readings().len() >= 2);
}
