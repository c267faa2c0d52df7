//! Servers that start, fail, hang, die and stop, among them real Tomcats.

use crate::java;

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};
use tempfile::TempDir;
use threadcount_machine::app;
use threadcount_machine::jdk::Jdk;
use threadcount_model::experiment::{
    CommandServer, PoolSize, Server, Subject, Threads, TomcatServer, Variant,
};
use threadcount_servers::command_line::ServerCommand;
use threadcount_servers::distribution::DistributionStore;
use threadcount_servers::server_process::ServerProcess;
use threadcount_servers::tomcat::distribution::TOMCAT;
use threadcount_servers::{LaunchError, Launcher, RunningServer};

/// Answers everything with `200`, after `BUSY` answers with `503`.
const PYTHON_SERVER: &str = "python3 -u -c '
import http.server, os
busy = int(os.environ.get(\"BUSY\", 0))
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        global busy
        self.send_response(503 if busy > 0 else 200); self.end_headers()
        busy -= 1
http.server.HTTPServer((\"127.0.0.1\", {port}), Handler).serve_forever()'";

struct Bench {
    folder: TempDir,
    launcher: Launcher,
}

impl Bench {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let launcher = Launcher { jdks: Vec::new(), ..Launcher::of_this_machine() };
        Self { folder, launcher }
    }

    fn try_launch(&self, variant: &Variant) -> Result<RunningServer, LaunchError> {
        self.launcher.launch(variant, 4, &self.folder.path().join("run"), &AtomicBool::new(false))
    }

    /// Launches with a short limit, which is only for commands that never answer.
    fn fails_within(mut self, limit: Duration, variant: &Variant) -> LaunchError {
        self.launcher.ready_within = limit;
        self.try_launch(variant).err().expect("it should fail")
    }
}

const AMPLE: Duration = Duration::from_secs(120);

fn command(command: &str) -> Variant {
    let server = Server::Command(CommandServer {
        command: command.to_owned(),
        url: "http://127.0.0.1:{port}".to_owned(),
        ready: "/ready".to_owned(),
    });
    Variant::new("mine", server)
}

fn is_alive(pid: u32) -> bool {
    let process = procfs::process::Process::new(pid as i32).and_then(|it| it.stat());
    process.is_ok_and(|it| it.state != 'Z')
}

/// Whether the server ends at SIGTERM, however busy the machine is.
fn ends_at_sigterm(mut server: RunningServer) -> bool {
    server.stop_within = AMPLE;
    !server.stop().was_killed
}

fn comes_true(what: &str, mut condition: impl FnMut() -> bool) {
    let give_up = Instant::now() + AMPLE;
    while !condition() {
        assert!(Instant::now() < give_up, "{what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_command_is_started_found_ready_and_stopped() {
    let bench = Bench::new();
    let mut variant = command(PYTHON_SERVER);
    variant.env.insert("BUSY".to_owned(), "3".to_owned());
    let mut server = bench.try_launch(&variant).unwrap();
    let pid = server.pid().unwrap();
    assert!(is_alive(pid) && server.has_exited().is_none());
    assert!(server.facts.ready_after_ms > 0.0);
    assert_eq!(server.facts.env, ["BUSY=3"]);
    assert_eq!(server.facts.request_thread, None);
    assert_eq!(server.native_memory(), None);
    assert!(server.log_tail().iter().any(|line| line.contains("GET /ready")), "{:?}", server.log_tail());
    assert!(server.url.starts_with("http://127.0.0.1:") && !server.url.ends_with(":{port}"));
    assert!(ends_at_sigterm(server) && !is_alive(pid));
}

#[test]
fn a_server_that_ends_at_once_is_told_with_its_status_and_the_end_of_its_log() {
    let error = Bench::new().fails_within(AMPLE, &command("sh -c 'echo no such file: app.jar >&2; exit 3'"));
    let says = error.to_string();
    assert!(
        says.starts_with("The server ended (exit status: 3) before it responded at 127.0.0.1:"),
        "{says}"
    );
    assert!(says.contains("server.log"), "{says}");
    assert_eq!(error.log_tail(), ["no such file: app.jar"]);
}

#[test]
fn a_health_path_that_does_not_exist_is_told_and_another_path_shows_by_any_response_that_it_has_started() {
    let mut bench = Bench::new();
    let variant = command("python3 -m http.server --bind 127.0.0.1 {port}");
    assert!(ends_at_sigterm(bench.try_launch(&variant).unwrap()), "404 at the path of the load");
    bench.launcher.health_paths = vec!["/ready".to_owned()];
    let says = bench.fails_within(Duration::from_secs(20), &variant).to_string();
    assert!(says.contains("/ready with status 404") && says.contains("--health"), "{says}");
}

#[test]
fn a_server_that_never_answers_is_given_up_and_killed() {
    let folder = tempfile::tempdir().unwrap();
    let pid_file = folder.path().join("pid");
    let line = format!("sh -c 'echo $$ > {}; echo starting; sleep 600'", pid_file.display());
    let error = Bench::new().fails_within(Duration::from_secs(5), &command(&line));
    let says = error.to_string();
    assert!(says.contains("did not answer 127.0.0.1:") && says.contains("within 5 s"), "{says}");
    assert!(says.contains("refused"), "the last thing that happened is told: {says}");
    assert_eq!(error.log_tail(), ["starting"]);
    let pid = std::fs::read_to_string(pid_file).unwrap().trim().parse().unwrap();
    assert!(!is_alive(pid));
}

#[test]
fn a_program_that_does_not_exist_is_told_before_the_first_run() {
    let bench = Bench::new();
    let says = bench.launcher.prepare(&command("no-such-program-42")).unwrap_err().to_string();
    assert!(says.contains("`no-such-program-42`"), "{says}");
}

#[test]
fn a_port_in_use_is_told_before_the_server_is_started() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let mut variant = command("sleep 600");
    if let Subject::Server(Server::Command(CommandServer { url, .. })) = &mut variant.subject {
        *url = format!("http://127.0.0.1:{port}");
    }
    let says = Bench::new().fails_within(AMPLE, &variant).to_string();
    assert!(says.starts_with(&format!("Port {port} is in use")) && says.contains("{port}"), "{says}");
}

#[test]
fn a_server_whose_port_was_taken_meanwhile_gets_another_one() {
    let bench = Bench::new();
    let mark = bench.folder.path().join("mark");
    let first = format!(
        "sh -c 'test -e {0} || {{ echo $1 > {0}; echo java.net.BindException: Address already in use; exit 1; }}; exec \"$@\"' sh",
        mark.display()
    );
    let server = bench.try_launch(&command(&format!("{first} {}", PYTHON_SERVER))).unwrap();
    assert!(mark.exists());
    server.stop();
}

#[test]
fn ctrl_c_while_a_server_starts_ends_it() {
    let bench = Bench::new();
    let stop = AtomicBool::new(true);
    let error = bench.launcher.launch(&command("sleep 600"), 1, bench.folder.path(), &stop).err().unwrap();
    assert!(error.is_interrupt(), "{error}");
}

#[test]
fn a_folder_that_cannot_be_written_is_named() {
    let launcher = Bench::new().launcher;
    let folder = Path::new("/proc/nowhere");
    let error = launcher.launch(&command("sleep 600"), 1, folder, &AtomicBool::new(false)).err().unwrap();
    assert!(error.to_string().starts_with("Cannot create /proc/nowhere: "), "{error}");
}

#[test]
fn a_server_that_is_killed_is_noticed() {
    let mut server = Bench::new().try_launch(&command(PYTHON_SERVER)).unwrap();
    let killed = Command::new("kill").args(["-KILL", &server.pid().unwrap().to_string()]).status().unwrap();
    assert!(killed.success());
    let give_up = Instant::now() + AMPLE;
    let status = loop {
        if let Some(status) = server.has_exited() {
            break status;
        }
        assert!(Instant::now() < give_up, "its end is not noticed");
    };
    assert_eq!(status.to_string(), "signal: 9 (SIGKILL)");
}

/// A separate process without a URL. Its output is its log.
fn process(script: &str, folder: &Path) -> ServerProcess {
    let command = ServerCommand {
        program: "/bin/sh".into(),
        arguments: vec!["-c".to_owned(), script.to_owned()],
        ..ServerCommand::default()
    };
    ServerProcess::start(&command, &folder.join("log")).unwrap()
}

fn pids_in_log(process: &ServerProcess, count: usize) -> Vec<u32> {
    comes_true("the script writes its pids", || process.log_tail().len() >= count);
    process.log_tail().iter().map(|line| line.parse().unwrap()).collect()
}

#[test]
fn a_server_that_ignores_sigterm_is_killed_with_its_children() {
    let folder = tempfile::tempdir().unwrap();
    let process = process("trap '' TERM; sleep 600 & echo $!; echo $$; wait; sleep 600", folder.path());
    let pids = pids_in_log(&process, 2);
    let stopped = process.stop(Duration::from_millis(100));
    assert!(stopped.was_killed);
    assert_eq!(stopped.status.unwrap().to_string(), "signal: 9 (SIGKILL)");
    comes_true("all are gone", || !pids.iter().any(|&pid| is_alive(pid)));
}

#[test]
fn a_child_that_left_the_group_is_ended_too() {
    let folder = tempfile::tempdir().unwrap();
    let process = process("setsid sh -c 'echo $$; exec sleep 600' & sleep 600", folder.path());
    let pids = pids_in_log(&process, 1);
    process.stop(AMPLE);
    comes_true("the stray is gone", || !is_alive(pids[0]));
}

/// A script starts the daemon.
#[test]
fn a_daemon_whose_parent_has_ended_is_killed_with_its_server() {
    let folder = tempfile::tempdir().unwrap();
    let mut process = process("setsid sh -c 'echo $$; exec sleep 600' & sleep 0.1", folder.path());
    let pids = pids_in_log(&process, 1);
    comes_true("the parent has ended", || process.has_exited().is_some());
    assert!(is_alive(pids[0]));
    process.stop(AMPLE);
    comes_true("the daemon is gone", || !is_alive(pids[0]));
}

#[test]
fn a_server_that_ends_well_is_told_to_stay_in_the_foreground() {
    let says = Bench::new().fails_within(AMPLE, &command("true")).to_string();
    assert!(says.contains(". Its command must stay in the foreground"), "{says}");
}

#[test]
fn a_dropped_server_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let process = process("sleep 600 & echo $!; echo $$; wait", folder.path());
    let pids = pids_in_log(&process, 2);
    drop(process);
    comes_true("all are gone", || !pids.iter().any(|&pid| is_alive(pid)));
}

#[test]
fn a_server_and_its_children_end_when_we_are_killed() {
    let folder = tempfile::tempdir().unwrap();
    let mut us = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "launch::victim", "--ignored", "--nocapture"])
        .env("TMPDIR", folder.path())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(us.stdout.take().unwrap()).lines().map_while(Result::ok);
    let pids: Vec<u32> = lines.filter_map(|line| line.strip_prefix("pid ")?.parse().ok()).take(3).collect();
    assert!(pids.len() == 3 && pids.iter().all(|&pid| is_alive(pid)), "{pids:?}");
    us.kill().unwrap();
    us.wait().unwrap();
    comes_true("all are gone", || !pids.iter().any(|&pid| is_alive(pid)));
}

#[test]
#[ignore = "the process that the test above kills"]
fn victim() {
    let folder = tempfile::tempdir().unwrap();
    let process =
        process("sleep 600 & echo $!; echo $$; setsid sh -c 'echo $$; exec sleep 600' & wait", folder.path());
    let pids = pids_in_log(&process, 3);
    println!("\npid {}\npid {}\npid {}", pids[0], pids[1], pids[2]);
    std::thread::sleep(AMPLE);
}

/// Our servlets if they are built, otherwise a WAR with one page.
fn war() -> String {
    java::servlets_and_probe();
    app::find("servlets").unwrap().display().to_string()
}

fn tomcat(threads: Threads) -> Variant {
    let server = Server::Tomcat(TomcatServer {
        version: "11.0".to_owned(),
        app: war(),
        threads,
        accept_count: 100,
        max_connections: None,
        processor_cache: None,
    });
    Variant { jdk: Some(25), jvm: java::flags("-Xmx128m"), ..Variant::new("tomcat", server) }
}

fn runs_on_tomcat(threads: Threads, pool: Option<u32>) {
    let launcher = Launcher::of_this_machine();
    let folder = tempfile::tempdir().unwrap();
    let is_virtual = threads == Threads::Virtual;
    let variant = tomcat(threads);
    launcher.prepare(&variant).unwrap();
    let server = launcher.launch(&variant, 4, &folder.path().join("run"), &AtomicBool::new(false));
    let server = server.unwrap_or_else(|error| panic!("{error}\n{}", error.log_tail().join("\n")));
    let pid = server.pid().unwrap();
    assert_eq!(server.facts.product.as_deref(), Some("Apache Tomcat 11.0.24"));
    assert!(server.facts.java.as_ref().unwrap().starts_with("25."), "{:?}", server.facts.java);
    assert_eq!(server.facts.pool_max_threads, pool);
    let seen = server.facts.request_thread.as_ref().expect("our servlets tell the thread");
    assert_eq!(seen.is_virtual, is_virtual, "{seen:?}");
    // The JVM ends its compiler's threads when they have nothing to do, so there may be fewer between two readings.
    comes_true("every thread the JVM knows is one of the operating system", || {
        let memory = server.native_memory().expect("tracking is on");
        let threads = threadcount_machine::process_tree::ProcessTree::rooted_at(pid).read().os_threads;
        memory.threads >= 10 && threads >= memory.threads
    });
    assert!(folder.path().join("run/server.xml").is_file());
    assert!(ends_at_sigterm(server) && !is_alive(pid));
}

#[test]
fn a_real_tomcat_runs_on_its_default_platform_pool() {
    runs_on_tomcat(Threads::Platform(PoolSize::Default), Some(200));
}

#[test]
fn a_real_tomcat_runs_on_virtual_threads() {
    runs_on_tomcat(Threads::Virtual, None);
}

#[test]
fn a_real_tomcat_whose_port_is_taken_ends_and_says_so() {
    let jdk = java::runtime(25);
    let folder = tempfile::tempdir().unwrap();
    let distribution = DistributionStore::of_this_machine().get(&TOMCAT, "11.0").unwrap();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let connector = threadcount_servers::tomcat::server_xml::Connector {
        port: taken.local_addr().unwrap().port(),
        threads: Threads::Virtual,
        clients: 1,
        accept_count: 10,
        max_connections: None,
        processor_cache: None,
    };
    let war = war();
    let base = threadcount_servers::tomcat::base::TomcatBase::create(
        &distribution,
        &connector,
        Path::new(&war),
        None,
    );
    let command = base.as_ref().unwrap().command(&distribution, &jdk, &["-Xmx64m".to_owned()]);
    let mut process = ServerProcess::start(&command, &folder.path().join("log")).unwrap();
    let give_up = Instant::now() + AMPLE;
    while process.has_exited().is_none() {
        assert!(Instant::now() < give_up, "it goes on without its port: {:?}", process.log_tail());
        std::thread::sleep(Duration::from_millis(20));
    }
    let log = std::fs::read_to_string(folder.path().join("log")).unwrap();
    assert!(log.contains("Address already in use"), "{log}");
    assert!(threadcount_machine::port::log_says_taken(&process.log_tail()), "{:?}", process.log_tail());
}

#[test]
fn a_missing_java_and_one_too_old_are_told_before_the_first_run() {
    let mut variant = tomcat(Threads::Virtual);
    variant.jdk = Some(99);
    let says = Launcher::of_this_machine().prepare(&variant).unwrap_err().to_string();
    assert!(says.starts_with("No Java 99 runtime was found on this machine"), "{says}");

    variant.jdk = Some(17);
    let old = Jdk { feature: 17, ..java::runtime(25) };
    let launcher = Launcher { jdks: vec![old], ..Launcher::of_this_machine() };
    let says = launcher.prepare(&variant).unwrap_err().to_string();
    assert_eq!(says, "Virtual threads need Java 21 or newer; variant `tomcat` has Java 17");
}
