//! The probe in real Tomcats: it reads pools correctly, finds pins where the servlet makes them, and leaves nothing behind.

use crate::java;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;
use threadcount_load::clock::now_ns;
use threadcount_machine::jdk::Jdk;
use threadcount_machine::probe::{Instruments, ProbeChoice};
use threadcount_machine::process_tree::ProcessTree;
use threadcount_model::experiment::{CommandServer, PoolSize, Server, Threads, TomcatServer, Variant};
use threadcount_model::record::jvm::{JvmReadings, SiteReason};
use threadcount_model::window::Window;
use threadcount_servers::{Launcher, RunningServer};

struct Bench {
    server: RunningServer,
    _folder: TempDir,
}

impl Bench {
    /// A Tomcat 11 with the probe.
    fn start(feature: u16, threads: Threads) -> Self {
        java::runtime(feature);
        java::servlets_and_probe();
        let launcher = Launcher {
            instruments: Instruments { probe: ProbeChoice::Light, jfr: false, jvm_log: true },
            ..Launcher::of_this_machine()
        };
        let folder = tempfile::tempdir().unwrap();
        let server = Server::Tomcat(TomcatServer {
            version: "11.0".to_owned(),
            app: "servlets".to_owned(),
            threads,
            accept_count: 100,
            max_connections: None,
            processor_cache: None,
        });
        let variant =
            Variant { jdk: Some(feature), jvm: java::flags("-Xmx128m"), ..Variant::new("tomcat", server) };
        let server = launcher.launch(&variant, 8, &folder.path().join("run"), &AtomicBool::new(false));
        let mut server = server.unwrap_or_else(|error| panic!("{error}\n{}", error.log_tail().join("\n")));
        assert_eq!(server.attach_instruments(), None);
        Self { server, _folder: folder }
    }

    /// Sends requests for `path` from clients until `enough` is satisfied with the probe's readings.
    fn loaded(&self, path: &str, clients: u32, enough: impl Fn(&JvmReadings) -> bool) -> JvmReadings {
        let stop = AtomicBool::new(false);
        let started_ns = now_ns();
        thread::scope(|scope| {
            for _ in 0..clients {
                scope.spawn(|| {
                    while !stop.load(Ordering::Relaxed) {
                        ask(&self.server.url, path);
                    }
                });
            }
            let give_up = Instant::now() + Duration::from_secs(100);
            loop {
                thread::sleep(Duration::from_millis(500));
                let readings = self.server.readings(Window { started_ns, ended_ns: now_ns() }).unwrap();
                if enough(&readings) || Instant::now() > give_up {
                    stop.store(true, Ordering::Relaxed);
                    return readings;
                }
            }
        })
    }
}

fn ask(url: &str, path: &str) {
    let host = url.strip_prefix("http://").unwrap();
    let mut connection = TcpStream::connect(host).unwrap();
    write!(connection, "GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    connection.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
}

/// A command whose JVM is the child of a shell and gets the probe while it runs. Needs a compiler (JEP 330).
fn command(jdk: Jdk, folder: TempDir, jfr: bool) -> (RunningServer, TempDir) {
    java::probe();
    let feature = jdk.feature;
    let launcher = Launcher {
        instruments: Instruments { probe: ProbeChoice::Light, jfr, jvm_log: false },
        jdks: vec![jdk],
        ..Launcher::of_this_machine()
    };
    let source = "import com.sun.net.httpserver.*; class Web { public static void main(String[] port) throws Exception {
        HttpServer.create(new java.net.InetSocketAddress(\"127.0.0.1\", Integer.parseInt(port[0])), 9).start(); } }";
    let file = folder.path().join("Web.java");
    std::fs::write(&file, source).unwrap();
    let command = format!("sh -c 'java -Xmx64m {} {{port}}; true'", file.display());
    let server = Server::Command(CommandServer {
        command,
        url: "http://127.0.0.1:{port}".to_owned(),
        ready: "/".to_owned(),
    });
    let variant = Variant { jdk: Some(feature), ..Variant::new("mine", server) };
    let server = launcher.launch(&variant, 1, &folder.path().join("run"), &AtomicBool::new(false));
    let server = server.unwrap_or_else(|error| panic!("{error}\n{}", error.log_tail().join("\n")));
    (server, folder)
}

#[test]
fn the_jvm_below_a_command_gets_the_probe_while_it_runs() {
    let (mut server, _folder) = command(java::jdk(), tempfile::tempdir().unwrap(), false);
    assert_eq!(server.attach_instruments(), None);
    let started_ns = now_ns();
    let give_up = Instant::now() + Duration::from_secs(100);
    let readings = loop {
        thread::sleep(Duration::from_millis(500));
        let readings = server.readings(Window { started_ns, ended_ns: now_ns() }).expect("it says hello");
        if !readings.samples.is_empty() || Instant::now() > give_up {
            break readings;
        }
    };
    assert!(readings.java.starts_with("25."), "{readings:?}");
    assert!(!readings.samples.is_empty(), "{readings:?}");
}

#[test]
fn the_flight_recording_of_a_commands_jvm_is_kept_when_it_is_stopped() {
    let (mut server, folder) = command(java::jdk(), tempfile::tempdir().unwrap(), true);
    assert_eq!(server.attach_instruments(), None);
    server.stop();
    let recording = std::fs::read(folder.path().join("run/run.jfr")).expect("it is beside the log");
    assert_eq!(&recording[..4], b"FLR\0", "a flight recording begins so");
}

#[test]
fn a_jvm_too_old_for_the_probe_is_measured_without_it() {
    let (mut server, _folder) = command(java::jdk(), tempfile::tempdir().unwrap(), false);
    crate::java17::pretend(ProcessTree::rooted_at(server.pid().unwrap()).java_pid().unwrap());
    let why = server.attach_instruments().unwrap_or_default();
    assert!(why.contains("Java 17") && why.contains("needs Java 21 or newer"), "{why}");
    assert_eq!(server.readings(Window { started_ns: 0, ended_ns: 1 }), None);
}

fn pins(readings: &JvmReadings) -> u64 {
    readings.pins.iter().map(|site| site.total.count).sum()
}

#[test]
fn a_pool_of_seven_busy_threads_reads_seven_of_seven() {
    let bench = Bench::start(25, Threads::Platform(PoolSize::Fixed(7)));
    let is_full = |readings: &JvmReadings| {
        let samples = readings.pools.iter().flat_map(|pool| &pool.samples);
        samples.filter(|sample| sample.busy == Some(7)).count() >= 2
    };
    let readings = bench.loaded("/thread-info?sleep=3s", 7, is_full);
    assert!(is_full(&readings), "{:?}", readings.pools);
    assert_eq!((readings.pools.len(), readings.pools[0].max), (1, Some(7)));
    assert!(readings.pools[0].name.starts_with("http-nio-"), "{:?}", readings.pools[0].name);
    assert!(readings.pools[0].samples.iter().all(|sample| sample.busy <= Some(7)), "{:?}", readings.pools);
}

#[test]
fn on_java_21_a_servlet_that_sleeps_in_synchronized_is_named_to_class_and_line() {
    let bench = Bench::start(21, Threads::Virtual);
    let all_mounted = |readings: &JvmReadings| {
        readings.carriers.iter().any(|it| it.parallelism > 0 && it.mounted >= it.parallelism && it.queued > 0)
    };
    let readings = bench
        .loaded("/synchronized?sleep=250ms", 8, |readings| pins(readings) >= 10 && all_mounted(readings));
    let site = readings.pins.first().expect("there are pins");
    let holder = site.holder.as_deref().unwrap();
    let line =
        holder.strip_prefix("dev.threadcount.servlets.Synchronized.").and_then(|it| it.split_once(':'));
    assert!(line.is_some_and(|(_, line)| line.parse::<u32>().is_ok()), "{holder}");
    // A pin begins after its sleep begins, on a loaded machine milliseconds later.
    assert!(site.total.count >= 10 && site.total.longest_ms >= 200.0, "{:?}", site.total);
    assert!(all_mounted(&readings), "{:?}", readings.carriers);
    assert!(
        readings.pools.iter().all(|pool| pool.max.is_none()),
        "virtual threads have no limit: {:?}",
        readings.pools
    );
}

#[test]
fn on_java_25_the_same_servlet_pins_nothing() {
    let bench = Bench::start(25, Threads::Virtual);
    let path = "/synchronized?sleep=250ms";
    // The JVM pins while it loads a class, so the first request comes before.
    ask(&bench.server.url, path);
    let started = Instant::now();
    let readings = bench.loaded(path, 8, |readings| readings.carriers.len() >= 8);
    // On Java 21 the pins of the eight clients are as long as all carriers together.
    let pinned_ms: f64 = readings.pins.iter().map(|site| site.total.total_ms).sum();
    let lasted_ms = started.elapsed().as_secs_f64() * 1_000.0;
    assert!(pinned_ms <= 0.25 * lasted_ms, "{pinned_ms} of {lasted_ms} ms: {:?}", readings.pins);
}

#[test]
fn on_java_25_a_class_initializer_still_pins() {
    let bench = Bench::start(25, Threads::Virtual);
    let readings = bench.loaded("/initializer?sleep=250ms", 8, |readings| pins(readings) >= 10);
    let holder = readings.pins.first().and_then(|site| site.holder.as_deref()).unwrap_or_default();
    assert!(holder.contains("BlocksWhenInitialized") && holder.contains("<clinit>"), "{:?}", readings.pins);
    assert!(readings.pins[0].reason.is_some(), "Java 25 says why: {:?}", readings.pins);
}

#[test]
fn on_java_25_a_native_frame_still_pins() {
    let bench = Bench::start(25, Threads::Virtual);
    let native = |readings: &JvmReadings| {
        let is_native =
            |reason: Option<&SiteReason>| reason.is_some_and(|it| it.words().starts_with("Native"));
        readings.pins.iter().find(|site| is_native(site.reason.as_ref())).cloned()
    };
    let is_enough = |readings: &JvmReadings| native(readings).is_some_and(|site| site.total.count >= 10);
    let readings = bench.loaded("/native-frame?sleep=50ms", 8, is_enough);
    let site = native(&readings).expect("there are pins");
    let application = site.application.as_deref().unwrap_or_default();
    assert!(
        application.starts_with("dev.threadcount.servlets.NativeFrame.blockAndCompare:"),
        "{:?}",
        readings.pins
    );
    assert!(site.total.count >= 10 && site.total.longest_ms >= 49.0, "{:?}", site.total);
}
