//! Idle workers of an application wait on a queue, as long and as often as a request might, and are not named. Requests that really wait in
//! the same server are named.

use crate::java;
use crate::one_session;

use threadcount_judge::finding::Rule;
use threadcount_judge::result::ResultDocument;
use threadcount_judge::words::finding::words;
use threadcount_machine::probe::ProbeChoice;

/// Ten workers wait in `BlockingQueue.take` for tasks that come every 40 ms and take no time, so that no wait is longer than a response of
/// 150 ms. With `MODE=permits`, four of ten requests at a time have a permit, and the others wait.
const IDLE: &str = r#"import com.sun.net.httpserver.HttpServer;
import java.util.concurrent.*;
class Idle {
    static final BlockingQueue<Runnable> TASKS = new LinkedBlockingQueue<>();
    static final Semaphore PERMITS = new Semaphore(4);
    static void work() {
        try { while (true) TASKS.take().run(); } catch (InterruptedException end) { }
    }
    static void answer() throws InterruptedException {
        boolean limited = "permits".equals(System.getenv("MODE"));
        if (limited) PERMITS.acquire();
        try { Thread.sleep(150); } finally { if (limited) PERMITS.release(); }
    }
    public static void main(String[] port) throws Exception {
        for (int i = 0; i < 10; i++) new Thread(Idle::work, "worker-" + i).start();
        var server = HttpServer.create(new java.net.InetSocketAddress("127.0.0.1", Integer.parseInt(port[0])), 50);
        server.createContext("/", exchange -> {
            try { answer(); } catch (InterruptedException never) { throw new java.io.IOException(never); }
            exchange.sendResponseHeaders(200, 2);
            exchange.getResponseBody().write("ok".getBytes());
            exchange.close();
        });
        server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        server.start();
        while (true) {
            Thread.sleep(40);
            for (int i = 0; i < 10; i++) TASKS.add(() -> { });
        }
    }
}"#;

fn measured(java: u16) -> ResultDocument {
    java::probe();
    let classes = one_session::compiled(&java::jdk().home, "Idle.java", IDLE);
    one_session::explained(
        &format!(
            "question: q\nserver: {{command: \"java -XX:TieredStopAtLevel=1 -cp {} Idle {{port}}\"}}\njdk: {java}\nrequest: /\n\
             warmup: 0s\nruns: 1\ndrop: 0\nvariants: {{idle: {{env: {{MODE: idle}}}}, permits: {{env: {{MODE: permits}}}}}}\n\
             loads: [{{clients: 10, duration: 5s}}]\n",
            classes.path().display()
        ),
        ProbeChoice::Light,
    )
}

#[test]
fn ten_idle_workers_in_take_are_no_waiting_requests_and_requests_beside_them_that_wait_are_named() {
    for java in [21, 25] {
        drop(java::runtime(java));
        let document = measured(java);
        let waits = |variant: &str| {
            let mut found = document.findings.iter().filter(|finding| {
                finding.variant.as_deref() == Some(variant)
                    && matches!(finding.rule(), Rule::Waiting | Rule::RequestWaits | Rule::ConcurrencyLimit)
            });
            found.next().map(|finding| words(finding).sentence)
        };
        // Checks what the probe saw too, because without the workers this test would show nothing.
        let idle = document.records.iter().find(|record| record.variant == "idle").expect("a run");
        let jvm = idle.jvm.as_ref().expect("what the probe read");
        let mut families = jvm.thread_families.iter();
        assert!(families.any(|it| it.name == "worker-*"), "Java {java}: {:?}", jvm.thread_families);
        assert_eq!(waits("idle"), None, "Java {java}");
        let permits = document.records.iter().find(|record| record.variant == "permits").expect("a run");
        let profile = permits.jvm.as_ref().and_then(|jvm| jvm.wait_profile.as_ref()).map(|it| it.samples);
        let printed = waits("permits")
            .unwrap_or_else(|| panic!("Java {java}, {profile:?} samples: {:?}", document.findings));
        assert!(printed.contains("Idle.answer:"), "Java {java}: {printed}");
    }
}
