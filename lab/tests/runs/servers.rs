//! The other kinds of server: runnable jars, peers, servers behind the server, and Tomcats with our executors.

use crate::java;

use std::path::Path;
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};
use tempfile::TempDir;
use threadcount_load::clock::now_ns;
use threadcount_machine::probe::{Instruments, ProbeChoice};
use threadcount_machine::process_tree::ProcessTree;
use threadcount_model::experiment::{
    Backend, DropIn, JarServer, JettyServer, PeerServer, PoolSize, RequestLimit, Server, Threads,
    TomcatServer, Variant,
};
use threadcount_model::window::Window;
use threadcount_servers::http_get::{BaseUrl, get};
use threadcount_servers::{LaunchError, Launcher, RunningServer};

const AMPLE: Duration = Duration::from_secs(120);

/// Answers `/` with its backend's answer, or says that it has none, and `/thread-info` with the thread.
const WEB: &str = r#"
import com.sun.net.httpserver.*; import java.net.*; import java.net.http.*; import java.util.concurrent.*;
class Web {
  public static void main(String[] args) throws Exception {
    var server = HttpServer.create(new InetSocketAddress("127.0.0.1", Integer.parseInt(args[0])), 9);
    server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
    server.createContext("/", exchange -> answer(exchange, args.length < 2 ? "alone" : "behind me: " + ask(args[1])));
    server.createContext("/thread-info", exchange ->
      answer(exchange, "{\"thread\": \"web\", \"virtual\": " + Thread.currentThread().isVirtual() + "}"));
    server.start();
  }
  static String ask(String url) {
    try {
      return HttpClient.newHttpClient().send(HttpRequest.newBuilder(URI.create(url)).build(),
        HttpResponse.BodyHandlers.ofString()).body();
    } catch (Exception e) { return e.toString(); }
  }
  static void answer(HttpExchange exchange, String text) throws java.io.IOException {
    exchange.sendResponseHeaders(200, text.length());
    exchange.getResponseBody().write(text.getBytes());
    exchange.close();
  }
}"#;

/// A folder with `web.jar`, made by the JDK of this machine.
struct Bench {
    launcher: Launcher,
    folder: TempDir,
}

impl Bench {
    fn new() -> Self {
        let (launcher, jdk) = (Launcher::of_this_machine(), java::jdk());
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("Web.java"), WEB).unwrap();
        let tool = |name: &str, args: &[&str]| {
            let made = Command::new(jdk.home.join("bin").join(name)).args(args).current_dir(&folder).status();
            assert!(made.unwrap().success(), "{name}");
        };
        tool("javac", &["--release", "21", "-d", "classes", "Web.java"]);
        tool("jar", &["--create", "--file", "web.jar", "--main-class", "Web", "-C", "classes", "."]);
        Self { launcher, folder }
    }

    fn web(&self, args: &str) -> Server {
        let jar = self.folder.path().join("web.jar").display().to_string();
        Server::Jar(JarServer { jar, args: args.to_owned(), ready: "/".to_owned(), class_path: Vec::new() })
    }

    fn variant(&self, args: &str) -> Variant {
        Variant { jdk: Some(25), jvm: java::flags("-Xmx48m"), ..Variant::new("web", self.web(args)) }
    }

    fn try_launch(&self, variant: &Variant) -> Result<RunningServer, LaunchError> {
        self.launcher.launch(variant, 4, &self.folder.path().join("run"), &AtomicBool::new(false))
    }

    fn launch(&self, variant: &Variant) -> RunningServer {
        self.launcher.prepare(variant).unwrap();
        let server = self.try_launch(variant);
        server.unwrap_or_else(|error| panic!("{error}\n{}", error.log_tail().join("\n")))
    }
}

fn body(url: &str) -> String {
    get(&BaseUrl::parse(url).unwrap(), "/", AMPLE).unwrap().body
}

fn is_alive(pid: u32) -> bool {
    let process = procfs::process::Process::new(pid as i32).and_then(|it| it.stat());
    process.is_ok_and(|it| it.state != 'Z')
}

#[test]
fn a_runnable_jar_gets_its_java_its_flags_the_probe_and_a_port() {
    let mut bench = Bench::new();
    java::probe();
    bench.launcher.instruments = Instruments { probe: ProbeChoice::Light, jfr: false, jvm_log: true };
    let mut variant = bench.variant("{port}");
    variant.jvm.extend(["-XX:+UseSerialGC".to_owned(), "-Dmine={port}".to_owned()]);
    let mut server = bench.launch(&variant);
    assert_eq!(body(&server.url), "alone");
    assert!(server.facts.java.as_ref().unwrap().starts_with("25."), "{:?}", server.facts);
    assert_eq!(server.facts.product.as_deref(), Some("web.jar"));
    assert!(server.facts.request_thread.as_ref().expect("it tells its thread").is_virtual);
    let flags = &server.facts.jvm_flags;
    let port = server.url.rsplit(':').next().unwrap();
    for flag in ["-Xmx48m", "-XX:+UseSerialGC", "-XX:MaxHeapSize=50331648", &format!("-Dmine={port}")] {
        assert!(flags.iter().any(|it| it == flag), "{flag} in {flags:?}");
    }
    assert!(server.native_memory().is_some_and(|memory| memory.threads > 5));
    let now = now_ns();
    let window = Window { started_ns: now, ended_ns: now };
    assert_eq!(server.readings(window), None, "nothing observes it before it is asked to");
    assert_eq!(server.attach_instruments(), None);
    let printed = server.readings(window).expect("the probe says hello");
    assert!(printed.java.starts_with("25."), "{printed:?}");
    let dump = bench.folder.path().join("a folder.json");
    assert!(server.dump_threads(&dump));
    let dump: serde_json::Value = serde_json::from_slice(&std::fs::read(dump).unwrap()).unwrap();
    assert!(dump["threadDump"]["threadContainers"].is_array());
    assert_ends_at_sigterm(server);
}

fn assert_ends_at_sigterm(mut server: RunningServer) {
    let pid = server.pid().unwrap();
    server.stop_within = AMPLE;
    assert!(!server.stop().was_killed && !is_alive(pid));
}

#[test]
fn a_backend_runs_before_the_server_and_is_not_in_its_tree() {
    let bench = Bench::new();
    let mut variant = bench.variant("{port} {backend}/");
    let jvm = java::flags("-Xmx32m");
    variant.backends = vec![Backend { jdk: Some(25), jvm, ..Backend::new("backend", bench.web("{port}")) }];
    let mut server = bench.launch(&variant);
    assert_eq!(body(&server.url), "behind me: alone");
    let facts = server.facts.backends.first().expect("there is a backend").clone();
    assert!(facts.command.contains(&"-Xmx32m".to_owned()), "{facts:?}");
    assert_eq!(body(&facts.url), "alone");
    assert!(Path::new(facts.log.as_ref().unwrap()).ends_with("run/backend/server.log"), "{facts:?}");

    let listens = |arguments: &[String]| arguments == &facts.command[..];
    let mut processes = procfs::process::all_processes().unwrap().flatten();
    let backend = processes.find(|it| it.cmdline().is_ok_and(|words| listens(&words))).unwrap().pid();
    let tree = ProcessTree::rooted_at(server.pid().unwrap()).members();
    assert!(!tree.iter().any(|&(pid, _)| pid == backend), "{tree:?}");

    assert!(server.backend_has_exited().is_none());
    assert!(Command::new("kill").args(["-KILL", &backend.to_string()]).status().unwrap().success());
    let give_up = Instant::now() + AMPLE;
    let end = loop {
        if let Some(end) = server.backend_has_exited() {
            break end;
        }
        assert!(Instant::now() < give_up, "its end is not noticed");
    };
    assert_eq!((end.name.as_str(), end.status.to_string().as_str()), ("backend", "signal: 9 (SIGKILL)"));
    server.stop();
}

#[test]
fn a_backend_that_does_not_start_is_told_as_the_backend() {
    let bench = Bench::new();
    let mut variant = bench.variant("{port} {backend}/");
    let server = bench.web("no-port {port}");
    variant.backends = vec![Backend { jdk: Some(25), ..Backend::new("backend", server) }];
    let error = bench.try_launch(&variant).err().expect("it should fail");
    let says = error.to_string();
    assert!(says.starts_with("The backend of variant `web` does not run. The server ended"), "{says}");
    assert!(error.log_tail().iter().any(|line| line.contains("no-port")), "{:?}", error.log_tail());
}

/// A folder with the executables `build` and `run`.
fn peer(build: &str, run: &str) -> (TempDir, Variant) {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    for (name, script) in [("build", build), ("run", run)] {
        let path = folder.path().join(name);
        std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let peer = folder.path().display().to_string();
    let server = Server::Peer(PeerServer { peer, args: "--mine".to_owned(), ready: "/".to_owned() });
    (folder, Variant::new("peer", server))
}

#[test]
fn a_peer_is_built_and_run_with_its_port() {
    let run = "echo \"$1 $2\"; exec python3 -m http.server --bind 127.0.0.1 \"$1\"";
    let (folder, variant) = peer("echo built >> builds", run);
    let launcher = Launcher::of_this_machine();
    launcher.prepare(&variant).unwrap();
    let server = launcher.launch(&variant, 1, &folder.path().join("out"), &AtomicBool::new(false)).unwrap();
    let port = server.url.rsplit(':').next().unwrap().to_owned();
    assert_eq!(server.log_tail().first(), Some(&format!("{port} --mine")));
    assert_eq!(std::fs::read_to_string(folder.path().join("builds")).unwrap(), "built\n");
    assert_eq!(server.facts.jvm_flags, Vec::<String>::new());
    server.stop();
}

#[test]
fn a_peer_without_its_toolchain_cannot_run_here_and_says_why_in_its_own_words() {
    let (_folder, variant) =
        peer("echo looking for gnatmake; echo no Ada compiler here >&2; exit 3", "exit 1");
    let error = Launcher::of_this_machine().prepare(&variant).unwrap_err();
    assert_eq!(error.cannot_here(), Some("no Ada compiler here"), "{error}");
}

#[test]
fn a_peer_that_does_not_build_is_an_error_with_what_the_compiler_said() {
    let (_folder, variant) = peer("echo syntax error in line 7 >&2; exit 1", "exit 1");
    let error = Launcher::of_this_machine().prepare(&variant).unwrap_err();
    assert_eq!(error.cannot_here(), None);
    assert!(error.to_string().contains("was not built"), "{error}");
    assert_eq!(error.log_tail(), ["syntax error in line 7"]);
    let missing =
        Server::Peer(PeerServer { peer: "no-such-peer".into(), args: String::new(), ready: "/".into() });
    let error = Launcher::of_this_machine().prepare(&Variant::new("x", missing)).unwrap_err();
    assert!(error.to_string().starts_with("The peer `no-such-peer` was not found; looked for"), "{error}");
}

/// Checks which thread answers on a Tomcat with one of our executors.
fn answers_on(tomcat: &str, executor: DropIn, name: &str, is_virtual: bool) {
    let launcher = Launcher::of_this_machine();
    java::runtime(25);
    java::servlets_and_probe();
    let server = Server::Tomcat(TomcatServer {
        version: tomcat.to_owned(),
        app: "servlets".to_owned(),
        threads: Threads::Executor(executor),
        accept_count: 100,
        max_connections: Some(500),
        processor_cache: None,
    });
    let folder = tempfile::tempdir().unwrap();
    let variant = Variant { jdk: Some(25), jvm: java::flags("-Xmx64m"), ..Variant::new("x", server) };
    let server = launcher.launch(&variant, 4, &folder.path().join("run"), &AtomicBool::new(false));
    let server = server.unwrap_or_else(|error| panic!("{error}\n{}", error.log_tail().join("\n")));
    let seen = server.facts.request_thread.clone().expect("our servlets tell the thread");
    assert!(seen.name.starts_with(name) && seen.is_virtual == is_virtual, "{seen:?}");
    server.stop();
}

#[test]
fn tomcat_10_0_runs_on_our_virtual_threads_which_it_has_none_of_its_own_of() {
    answers_on("10.0", DropIn::Virtual, "virtual-", true);
}

#[test]
fn tomcat_11_runs_on_our_cached_pool() {
    answers_on("11.0", DropIn::Cached, "cached-", false);
}

#[test]
fn tomcat_10_1_and_11_run_on_our_bounded_virtual_threads() {
    let limit = RequestLimit { max_concurrent: 2, max_queue: 10, queue_timeout_ms: 60_000 };
    for line in ["10.1", "11.0"] {
        answers_on(line, DropIn::BoundedVirtual(limit), "virtual-", true);
    }
}

/// Checks which thread serves requests on a distribution of Jetty, and the largest number of threads.
fn jetty_serves_on(version: &str, threads: Threads, name: &str, is_virtual: bool, most: u32) {
    let launcher = Launcher::of_this_machine();
    java::runtime(25);
    java::servlets_and_probe();
    let server = Server::Jetty(JettyServer {
        version: version.to_owned(),
        app: "servlets".to_owned(),
        threads,
        accept_count: 100,
        max_concurrent_tasks: None,
    });
    let folder = tempfile::tempdir().unwrap();
    let variant = Variant { jdk: Some(25), jvm: java::flags("-Xmx64m"), ..Variant::new("x", server) };
    launcher.prepare(&variant).unwrap();
    let server = launcher.launch(&variant, 37, &folder.path().join("run"), &AtomicBool::new(false));
    let server = server.unwrap_or_else(|error| panic!("{error}\n{}", error.log_tail().join("\n")));
    let facts = &server.facts;
    assert!(facts.product.as_ref().unwrap().starts_with(&format!("Eclipse Jetty {version}.")), "{facts:?}");
    let seen = facts.request_thread.clone().expect("our servlets tell the thread");
    assert!(seen.name.starts_with(name) && seen.is_virtual == is_virtual, "{seen:?}");
    assert_eq!(facts.pool_max_threads, Some(most));
    assert!(facts.jvm_flags.iter().any(|it| it == "-Xmx64m"), "{:?}", facts.jvm_flags);
    assert!(folder.path().join("run/start.ini").is_file());
    assert_ends_at_sigterm(server);
}

#[test]
fn jetty_12_1_runs_on_its_default_pool() {
    jetty_serves_on("12.1", Threads::Platform(PoolSize::Default), "qtp", false, 200);
}

#[test]
fn jetty_12_1_runs_on_its_virtual_threads() {
    jetty_serves_on("12.1", Threads::Virtual, "", true, 200);
}

#[test]
fn jetty_12_0_runs_on_a_pool_as_large_as_the_load() {
    jetty_serves_on("12.0", Threads::Platform(PoolSize::Clients), "qtp", false, 37);
}
