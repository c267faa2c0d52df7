//! The JVM's own log compared with known answers: real JVMs that collect, stop and stall at known moments.

use crate::java;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use tempfile::TempDir;
use threadcount_machine::jdk::Jdk;
use threadcount_machine::jvm_log;
use threadcount_machine::jvm_log::flag;
use threadcount_machine::probe::{Instruments, ProbeChoice};
use threadcount_model::experiment::{CommandServer, JarServer, Server, Variant};
use threadcount_model::record::jvm_log::{JvmLog, Stopped};
use threadcount_model::window::Window;
use threadcount_servers::http_get::{BaseUrl, get};
use threadcount_servers::{Launcher, RunningServer};

/// `gc N` collects N times. `keep MB` collects while it holds that much and after it has let go. `allocate N LIVE` makes N arrays of 100 kB
/// and keeps LIVE of them. `serve PORT` collects at each request. Each line printed is a word with two times (`System.nanoTime()`).
const PROGRAM: &str = r#"
import com.sun.net.httpserver.*; import java.net.*;
class Known {
  static Object kept;
  public static void main(String[] args) throws Exception {
    int number = Integer.parseInt(args[1]);
    switch (args[0]) {
      case "gc" -> { for (int i = 0; i < number; i++) { Thread.sleep(60); System.out.println(collect()); } }
      case "keep" -> {
        byte[][] held = new byte[number][];
        for (int i = 0; i < number; i++) held[i] = new byte[1 << 20];
        kept = held;
        System.out.println(collect());
        kept = held = null;
        System.out.println(collect());
      }
      case "allocate" -> allocate(number, new byte[Integer.parseInt(args[2])][]);
      case "serve" -> {
        var server = HttpServer.create(new InetSocketAddress("127.0.0.1", number), 9);
        server.createContext("/", exchange -> {
          byte[] answer = collect().getBytes();
          exchange.sendResponseHeaders(200, answer.length);
          exchange.getResponseBody().write(answer);
          exchange.close();
        });
        server.start();
      }
    }
  }
  static String collect() {
    long from = System.nanoTime();
    System.gc();
    return "gc " + from + " " + System.nanoTime();
  }
  static void allocate(int arrays, byte[][] live) {
    long from = System.nanoTime(), before, now = from, longest = 0;
    for (int i = 0; i < arrays; i++) {
      before = now;
      live[i % live.length] = new byte[100_000];
      now = System.nanoTime();
      longest = Math.max(longest, now - before);
    }
    System.out.println("all " + from + " " + now);
    System.out.println("longest 0 " + longest);
  }
}"#;

struct Bench {
    folder: TempDir,
}

/// The times in a line of the program.
#[derive(Clone, Copy, Debug)]
struct Span {
    from_ns: u64,
    to_ns: u64,
}

impl Span {
    const fn window(self) -> Window {
        Window { started_ns: self.from_ns, ended_ns: self.to_ns }
    }
}

fn span(line: &str) -> Span {
    let mut words = line.split(' ').skip(1).map(|word| word.parse().unwrap());
    Span { from_ns: words.next().unwrap(), to_ns: words.next().unwrap() }
}

impl Bench {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("Known.java"), PROGRAM).unwrap();
        let tool = |name: &str, args: &[&str]| {
            let path = java::jdk().home.join("bin").join(name);
            assert!(Command::new(path).args(args).current_dir(&folder).status().unwrap().success(), "{name}");
        };
        tool("javac", &["--release", "21", "-d", "classes", "Known.java"]);
        tool("jar", &["--create", "--file", "known.jar", "--main-class", "Known", "-C", "classes", "."]);
        Self { folder }
    }

    fn log_file(&self) -> PathBuf {
        self.folder.path().join("jvm.log")
    }

    /// Runs the program to its end and returns its lines.
    fn run(&self, jdk: &Jdk, flags: &[&str], args: &[&str]) -> Vec<Span> {
        let mut command = Command::new(jdk.java());
        command.args(flags).arg(flag::flag(&self.log_file())).args(["-cp", "classes", "Known"]).args(args);
        let done = command.current_dir(&self.folder).output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8(done.stdout).unwrap().lines().map(span).collect()
    }

    fn log(&self, during: Span) -> JvmLog {
        jvm_log::read(&self.log_file(), during.window()).expect("a log")
    }

    fn launch(&self, server: Server, env: &[(&str, &str)], run_folder: &Path) -> RunningServer {
        let instruments = Instruments { probe: ProbeChoice::Off, jfr: false, jvm_log: true };
        let launcher = Launcher { instruments, ..Launcher::of_this_machine() };
        let env: BTreeMap<_, _> =
            env.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
        let variant = Variant { jdk: Some(25), env, ..Variant::new("known", server) };
        let server = launcher.launch(&variant, 1, run_folder, &AtomicBool::new(false));
        server.unwrap_or_else(|error| panic!("{error}\n{}", error.log_tail().join("\n")))
    }
}

/// Collects once, stops the server, and reads its JVM's log of that time.
fn collected(server: RunningServer) -> JvmLog {
    let answer = get(&BaseUrl::parse(&server.url).unwrap(), "/", Duration::from_secs(60)).unwrap();
    let (file, during) = (server.jvm_log().expect("a file"), span(&answer.body));
    server.stop();
    let log = jvm_log::read(&file, during.window());
    log.unwrap_or_else(|| panic!("{} is no log", file.display()))
}

fn is_one_full_collection(log: &JvmLog) {
    assert_eq!(log.gc_pauses.count, 1, "{log:?}");
    assert!(log.pauses[0].name.starts_with("Pause Full (System.gc())"), "{log:?}");
}

#[test]
fn a_collection_is_logged_between_the_nanoseconds_that_the_program_itself_reads_around_it() {
    let bench = Bench::new();
    for java in [21, 25] {
        // Java 21's parallel collector does a young collection before the full one.
        let parallel = if java == 21 { 2 } else { 1 };
        for (collector, pauses) in [("Serial", 1), ("Parallel", parallel), ("G1", 1)] {
            let use_it = format!("-XX:+Use{collector}GC");
            let spans = bench.run(&java::runtime(java), &[&use_it, "-Xmx32m"], &["gc", "5"]);
            for during in &spans {
                let log = bench.log(*during);
                assert_eq!(log.collector, collector);
                assert_eq!(log.gc_pauses.count, pauses, "Java {java}, {collector}: {log:?}");
                let whole = Span { from_ns: during.from_ns - 20_000_000, to_ns: during.to_ns + 20_000_000 };
                // If the clocks differed, the narrow window would cut off a part of the pause.
                let (cut, uncut) = (log.gc_pauses.total_ms, bench.log(whole).gc_pauses.total_ms);
                assert!(uncut > 0.0 && uncut - cut < 0.01, "Java {java}, {collector}: {cut} of {uncut} ms");
                let length_ms = (during.to_ns - during.from_ns) as f64 / 1e6;
                let share = log.gc_pauses.share;
                assert!((share - cut / length_ms).abs() < 1e-6 && share <= 1.0, "{log:?}");
                let stopped = log.safepoints.stopped;
                assert!(stopped.count >= 1 && stopped.total_ms >= 0.8 * uncut, "{log:?}");
            }
            let all = Span { from_ns: spans[0].from_ns, to_ns: spans[4].to_ns };
            assert_eq!(bench.log(all).gc_pauses.count, 5 * pauses, "Java {java}, {collector}");
            let between = Span { from_ns: spans[1].to_ns, to_ns: spans[2].from_ns };
            assert_eq!(bench.log(between).gc_pauses, Stopped::default(), "Java {java}, {collector}");
        }
    }
}

#[test]
fn the_short_pauses_of_zgc_and_shenandoah_are_seen_and_only_in_their_time() {
    let bench = Bench::new();
    for (java, flags) in [
        (21, &["-XX:+UseZGC"][..]),
        (21, &["-XX:+UseZGC", "-XX:+ZGenerational"]),
        (25, &["-XX:+UseZGC"]),
        (21, &["-XX:+UseShenandoahGC"]),
        (25, &["-XX:+UseShenandoahGC"]),
    ] {
        let spans = bench.run(&java::runtime(java), &[flags, &["-Xmx64m"]].concat(), &["gc", "3"]);
        for during in &spans {
            let log = bench.log(*during);
            assert!(log.gc_pauses.count >= 2, "Java {java}, {flags:?}: {log:?}");
            assert!(log.gc_pauses.share <= 1.0 && log.gc_pauses.total_ms > 0.0, "{log:?}");
            assert_eq!(log.allocation_stalls, Stopped::default(), "nothing was short of memory");
        }
    }
}

#[test]
fn the_heap_after_a_collection_of_the_whole_heap_is_what_the_program_holds() {
    let bench = Bench::new();
    for java in [21, 25] {
        for collector in ["-XX:+UseSerialGC", "-XX:+UseG1GC"] {
            let spans = bench.run(&java::runtime(java), &[collector, "-Xmx96m"], &["keep", "30"]);
            let mib = |during: Span| bench.log(during).heap_after_whole_gc_bytes.expect("a whole one") >> 20;
            // A humongous array of G1 takes one region more than its megabyte.
            let (held, free) = (mib(spans[0]), mib(spans[1]));
            assert!((30..=64).contains(&held), "Java {java} {collector}: {held} MiB");
            assert!(free <= 4, "Java {java} {collector}: {free} MiB");
        }
    }
}

#[test]
fn threads_that_wait_for_zgc_to_free_memory_are_seen_and_those_of_a_large_heap_do_not_wait() {
    let bench = Bench::new();
    for java in [21, 25] {
        let jdk = java::runtime(java);
        let spans = bench.run(&jdk, &["-XX:+UseZGC", "-Xmx40m"], &["allocate", "20000", "120"]);
        let (all, longest) = (spans[0], spans[1].to_ns as f64 / 1e6);
        let stalls = bench.log(all).allocation_stalls;
        assert!(stalls.count >= 3 && stalls.longest_ms <= longest, "Java {java}: {stalls:?} of {longest} ms");
        let length_ms = (all.to_ns - all.from_ns) as f64 / 1e6;
        assert!(stalls.share <= 1.0 && stalls.total_ms <= length_ms, "one thread: {stalls:?}");

        let spans = bench.run(&jdk, &["-XX:+UseSerialGC", "-Xmx40m"], &["allocate", "5000", "120"]);
        let log = bench.log(spans[0]);
        assert_eq!(log.allocation_stalls, Stopped::default());
        assert!(log.gc_pauses.count >= 3 && log.gc_pauses.share > 0.0, "{:?}", log.gc_pauses);
    }
    let spans = bench.run(&java::jdk(), &["-XX:+UseZGC", "-Xmx512m"], &["gc", "2"]);
    let all = Span { from_ns: spans[0].from_ns, to_ns: spans[1].to_ns };
    assert_eq!(bench.log(all).allocation_stalls, Stopped::default());
}

#[test]
fn a_jvm_of_ours_logs_into_the_folder_of_the_run() {
    let bench = Bench::new();
    let jar = bench.folder.path().join("known.jar").display().to_string();
    let server = Server::Jar(JarServer {
        jar,
        args: "serve {port}".to_owned(),
        ready: "/".to_owned(),
        class_path: Vec::new(),
    });
    let run_folder = bench.folder.path().join("a run: 12");
    let server = bench.launch(server, &[], &run_folder);
    assert_eq!(server.jvm_log(), Some(run_folder.join("jvm.log")));
    is_one_full_collection(&collected(server));
}

#[test]
fn a_command_of_the_users_logs_too_below_a_shell_and_beside_a_log_of_its_own() {
    let bench = Bench::new();
    let (jar, own) = (bench.folder.path().join("known.jar"), bench.folder.path().join("own.log"));
    let command = format!(
        "sh -c 'java -XX:+UseSerialGC -Xlog:gc*:file={} -jar {} serve {{port}}; true'",
        own.display(),
        jar.display()
    );
    let url = "http://127.0.0.1:{port}".to_owned();
    let server = Server::Command(CommandServer { command, url, ready: "/".to_owned() });
    let run_folder = bench.folder.path().join("a run");
    let server = bench.launch(server, &[("JDK_JAVA_OPTIONS", "-Dtheirs=1")], &run_folder);
    let log = collected(server);
    assert_eq!(log.collector, "Serial");
    is_one_full_collection(&log);
    assert!(std::fs::read_to_string(own).unwrap().contains("Pause Full (System.gc())"));
}

#[test]
fn a_command_without_a_jvm_has_no_log() {
    let bench = Bench::new();
    let command = "python3 -m http.server {port} --bind 127.0.0.1".to_owned();
    let url = "http://127.0.0.1:{port}".to_owned();
    let server = Server::Command(CommandServer { command, url, ready: "/".to_owned() });
    let server = bench.launch(server, &[], &bench.folder.path().join("run"));
    assert_eq!(server.jvm_log(), None);
    server.stop();
}
