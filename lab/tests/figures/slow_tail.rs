//! A server with mostly faster and a few slower requests than another one. The page says both.

use crate::java;
use crate::one_session;

use threadcount_model::comparison::Verdict;
use threadcount_model::metric::Metric;
use threadcount_report::view::answer::answer;

/// Each request takes 80 ms. With `MODE=bimodal` 19 of 20 take 10 ms, and one takes 600: the mean is 39.5 ms, p99 600. That is far more
/// than a busy machine adds.
const RESPONSES: &str = r#"import com.sun.net.httpserver.HttpServer;
import java.util.concurrent.*;
import java.util.concurrent.atomic.AtomicLong;
class Responses {
    static final AtomicLong REQUESTS = new AtomicLong();
    static long milliseconds() {
        if (!"bimodal".equals(System.getenv("MODE"))) return 80;
        return REQUESTS.incrementAndGet() % 20 == 0 ? 600 : 10;
    }
    public static void main(String[] port) throws Exception {
        var server = HttpServer.create(new java.net.InetSocketAddress("127.0.0.1", Integer.parseInt(port[0])), 50);
        server.createContext("/", exchange -> {
            try { Thread.sleep(milliseconds()); } catch (InterruptedException never) { throw new java.io.IOException(never); }
            exchange.sendResponseHeaders(200, 2);
            exchange.getResponseBody().write("ok".getBytes());
            exchange.close();
        });
        server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        server.start();
    }
}"#;

fn answered() -> String {
    let classes = one_session::compiled(&java::jdk().home, "Responses.java", RESPONSES);
    let mut document = one_session::result(&format!(
        "question: q\nserver: {{command: \"java -XX:TieredStopAtLevel=1 -cp {} Responses {{port}}\"}}\njdk: 25\nrequest: /\n\
         warmup: 1s\nruns: 6\ndrop: 0\nvariants: {{even: {{}}, other: {{env: {{MODE: bimodal}}}}}}\n\
         loads: [{{clients: 10, duration: 2s}}]\n",
        classes.path().display()
    ));
    // The sentence must not depend on other tests on this machine.
    document.why_not.clear();
    let tail = document.comparisons[0].ratio(Metric::P99).expect("a ratio of p99");
    assert_eq!(tail.verdict, Verdict::Higher, "{tail:?}");
    answer(&document).join(" ")
}

#[test]
fn a_server_with_a_shorter_median_and_a_longer_tail_is_said_to_have_both() {
    let printed = answered();
    let (better, worse) = printed.split_once(". But ").unwrap_or_else(|| panic!("{printed}"));
    assert!(better.contains("x the throughput of even"), "{printed}");
    assert!(worse.contains("x the p99") || worse.contains("x the slowest response"), "{printed}");
}
