//! A JVM that hangs in the middle of a run.

use crate::{java, one_session};
use assert_cmd::cargo::cargo_bin;
use serde_json::Value;
use std::fs;
use std::process::Command;

/// Two requests at once; from the fortieth on each takes two monitors, every second one in the opposite order, and waits for the other.
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
                if (request >= 40) crossed(request % 2 == 0);
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
    java::probe();
    let jdk = java::jdk();
    let classes = one_session::compiled(&jdk.home, "Deadlocked.java", DEADLOCKED);
    let folder = tempfile::tempdir().unwrap();
    let (file, out) = (folder.path().join("mine.yaml"), folder.path().join("out"));
    let command =
        format!("{} -Xmx32m -cp {} Deadlocked {{port}}", jdk.java().display(), classes.path().display());
    let text = format!(
        "question: q\nrequest: /\nwarmup: 0s\nruns: 1\nvariants: {{a: {{command: \"{command}\"}}}}\n\
         loads: [{{clients: 2, duration: 4s}}]\n"
    );
    fs::write(&file, text).unwrap();
    let run =
        Command::new(cargo_bin("threadcount")).arg("run").arg(&file).arg("--out").arg(&out).output().unwrap();
    let said = String::from_utf8_lossy(&run.stderr);
    assert_eq!(run.status.code(), Some(1), "{said}");
    let document: Value =
        serde_json::from_str(&fs::read_to_string(out.join("result.json")).unwrap()).unwrap();
    let failure = &document["records"][0]["failure"];
    let why = failure["why"].as_str().unwrap();
    assert!(why.contains("no response") && why.contains("Deadlock: 2 threads wait"), "{why}");
    assert!(failure["log_tail"].to_string().contains("Deadlocked.crossed"), "{failure}");
}
