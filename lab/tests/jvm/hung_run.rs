//! A JVM that hangs in the middle of a run.

use crate::{java, one_session};
use assert_cmd::cargo::cargo_bin;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Serves two requests at once. From the tenth on, each takes two monitors, every second one in the opposite order, and waits for the
/// other.
const DEADLOCKED: &str = "
import com.sun.net.httpserver.HttpServer;
import java.util.concurrent.*;
import java.util.concurrent.atomic.AtomicInteger;

class Deadlocked {
    static final Object ORDERS = new Object(), STOCK = new Object();
    static final AtomicInteger REQUESTS = new AtomicInteger();
    static final CountDownLatch BOTH = new CountDownLatch(2);

    public static void main(String[] port) throws Exception {
        var server = HttpServer.create(new java.net.InetSocketAddress(\"127.0.0.1\", Integer.parseInt(port[0])), 9);
        server.setExecutor(Executors.newCachedThreadPool());
        server.createContext(\"/\", exchange -> {
            int request = REQUESTS.incrementAndGet();
            try {
                Thread.sleep(20);
                if (request >= 10) crossed(request % 2 == 0);
            } catch (InterruptedException never) { throw new java.io.IOException(never); }
            exchange.sendResponseHeaders(200, 2);
            exchange.getResponseBody().write(\"ok\".getBytes());
            exchange.close();
        });
        server.start();
    }

    static void crossed(boolean even) throws InterruptedException {
        synchronized (even ? ORDERS : STOCK) {
            BOTH.countDown();
            BOTH.await();
            synchronized (even ? STOCK : ORDERS) { System.out.println(\"never\"); }
        }
    }
}";

#[test]
fn a_jvm_that_deadlocks_in_the_measured_window_is_a_failed_run_with_its_diagnosis() {
    let folder = tempfile::tempdir().unwrap();
    // There is no response in the last half of the load, even if the first nine took seconds.
    let (run, out) = run_of(DEADLOCKED, "Deadlocked", folder.path(), "duration: 12s");
    let printed = String::from_utf8_lossy(&run.stderr);
    assert_eq!(run.status.code(), Some(1), "{printed}");
    let document: Value =
        serde_json::from_str(&fs::read_to_string(out.join("result.json")).unwrap()).unwrap();
    let failure = &document["records"][0]["failure"];
    let why = failure["why"].as_str().unwrap();
    assert!(why.contains("no response") && why.contains("Deadlock: 2 threads wait"), "{why}");
    assert!(failure["log_tail"].to_string().contains("Deadlocked.crossed"), "{failure}");
}

/// Two threads wait for each other's monitor before the server listens. With another name it listens after 25 s.
const NEVER_READY: &str = "
import com.sun.net.httpserver.HttpServer;
import java.util.concurrent.CountDownLatch;

class Starting {
    static final Object ORDERS = new Object(), STOCK = new Object();
    static final CountDownLatch BOTH = new CountDownLatch(2);

    public static void main(String[] port) throws Exception {
        if (HANGS) {
            Thread.ofPlatform().start(() -> load(ORDERS, STOCK));
            load(STOCK, ORDERS);
        }
        Thread.sleep(25_000);
        var server = HttpServer.create(new java.net.InetSocketAddress(\"127.0.0.1\", Integer.parseInt(port[0])), 9);
        server.createContext(\"/\", exchange -> {
            exchange.sendResponseHeaders(200, 2);
            exchange.getResponseBody().write(\"ok\".getBytes());
            exchange.close();
        });
        server.start();
    }

    static void load(Object first, Object second) {
        synchronized (first) {
            BOTH.countDown();
            try { BOTH.await(); } catch (InterruptedException never) { throw new IllegalStateException(never); }
            synchronized (second) { System.out.println(\"never\"); }
        }
    }
}";

#[test]
fn a_jvm_that_deadlocks_before_it_is_ready_is_a_failed_run_with_its_diagnosis_and_one_that_starts_slowly_runs()
 {
    assert_never_ready(&NEVER_READY.replace("HANGS", "true"), "Starting", "Starting.load");

    let folder = tempfile::tempdir().unwrap();
    let (run, _) =
        run_of(&NEVER_READY.replace("HANGS", "port.length > 9"), "Starting", folder.path(), "requests: 20");
    assert_eq!(run.status.code(), Some(0), "{}", String::from_utf8_lossy(&run.stderr));
}

/// The main thread waits for a latch before the server listens. The thread that should count it down has ended, or counts it down after 25
/// s.
const WAITS_FOR_LATCH: &str = "
import com.sun.net.httpserver.HttpServer;
import java.util.concurrent.CountDownLatch;

class Latched {
    public static void main(String[] port) throws Exception {
        CountDownLatch loaded = new CountDownLatch(1);
        Thread.ofPlatform().start(() -> load(loaded));
        loaded.await();
        var server = HttpServer.create(new java.net.InetSocketAddress(\"127.0.0.1\", Integer.parseInt(port[0])), 9);
        server.createContext(\"/\", exchange -> {
            exchange.sendResponseHeaders(200, 2);
            exchange.getResponseBody().write(\"ok\".getBytes());
            exchange.close();
        });
        server.start();
    }

    static void load(CountDownLatch loaded) {
        if (HANGS) return;
        try { Thread.sleep(25_000); } catch (InterruptedException never) { throw new IllegalStateException(never); }
        loaded.countDown();
    }
}";

#[test]
fn a_jvm_whose_main_thread_waits_for_a_latch_without_an_end_is_a_failed_run_and_one_that_waits_long_runs() {
    assert_never_ready(&WAITS_FOR_LATCH.replace("HANGS", "true"), "Latched", "Latched.main");

    let folder = tempfile::tempdir().unwrap();
    let (run, _) =
        run_of(&WAITS_FOR_LATCH.replace("HANGS", "false"), "Latched", folder.path(), "requests: 20");
    assert_eq!(run.status.code(), Some(0), "{}", String::from_utf8_lossy(&run.stderr));
}

/// Checks that the run fails with a diagnosis that names this place.
fn assert_never_ready(source: &str, class: &str, place: &str) {
    let folder = tempfile::tempdir().unwrap();
    let (run, out) = run_of(source, class, folder.path(), "requests: 20");
    assert_eq!(run.status.code(), Some(1), "{}", String::from_utf8_lossy(&run.stderr));
    let document: Value =
        serde_json::from_str(&fs::read_to_string(out.join("result.json")).unwrap()).unwrap();
    let failure = &document["records"][0]["failure"];
    assert!(failure["why"].as_str().unwrap().contains("because it hangs"), "{failure}");
    assert!(failure["log_tail"].to_string().contains(place), "{failure}");
}

/// One run of two clients under this load, and its folder.
fn run_of(source: &str, class: &str, folder: &Path, load: &str) -> (Output, PathBuf) {
    java::probe();
    let jdk = java::jdk();
    let classes = one_session::compiled(&jdk.home, &format!("{class}.java"), source);
    let (file, out) = (folder.join("mine.yaml"), folder.join("out"));
    let command =
        format!("{} -Xmx32m -cp {} {class} {{port}}", jdk.java().display(), classes.path().display());
    let text = format!(
        "question: q\nrequest: /\nwarmup: 0s\nruns: 1\nvariants: {{a: {{command: \"{command}\"}}}}\n\
         loads: [{{clients: 2, {load}}}]\n"
    );
    fs::write(&file, text).unwrap();
    let run =
        Command::new(cargo_bin("threadcount")).arg("run").arg(&file).arg("--out").arg(&out).output().unwrap();
    (run, out)
}
