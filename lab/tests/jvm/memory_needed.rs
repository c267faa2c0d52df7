//! The memory that a server needs is the live heap and the memory outside the heap, not the memory that it has touched.

use crate::java;
use crate::one_session;

use crate::small_server::SERVE;
use tempfile::TempDir;
use threadcount_model::metric::Metric;
use threadcount_model::record::Record;

/// The bytes of 100 arrays of 1 MiB.
const KEPT_BYTES: f64 = 104_857_600.0;
const PARKED: u64 = 5_000;
const MB: f64 = 1e6;

const MEMORY: &str = "import com.sun.net.httpserver.*;
import java.util.concurrent.locks.LockSupport;
class Memory {
    static byte[][] kept;
    static void park(int depth) {
        if (depth > 0) park(depth - 1);
        else while (true) LockSupport.park();
    }
    public static void main(String[] port) throws Exception {
        var mode = String.valueOf(System.getenv(\"MODE\"));
        if (mode.equals(\"keep\")) {
            kept = new byte[100][];
            for (int i = 0; i < 100; i++) kept[i] = new byte[1 << 20];
        }
        if (mode.equals(\"park\")) for (int i = 0; i < 5_000; i++) Thread.ofVirtual().start(() -> park(20));
        if (mode.equals(\"touch\")) {
            kept = new byte[700][];
            for (int i = 0; i < 700; i++) kept[i] = new byte[1 << 18];
            kept = null;
        }";

fn classes() -> TempDir {
    one_session::compiled(&java::jdk().home, "Memory.java", &format!("{MEMORY}{SERVE}"))
}

/// One run for each way to use a heap of 256 MB.
fn runs(classes: &TempDir, java: u16, collector: &str, modes: &[&str]) -> Vec<Record> {
    let variants: Vec<String> =
        modes.iter().map(|mode| format!("{mode}: {{env: {{MODE: {mode}}}}}")).collect();
    let document = one_session::result(&format!(
        "question: q\nserver: {{command: \"java -Xms256m -Xmx256m -XX:TieredStopAtLevel=1 -XX:+Use{collector} -cp {} Memory {{port}}\"}}\n\
         jdk: {java}\nrequest: /\nwarmup: 0s\nruns: 1\ndrop: 0\nvariants: {{{}}}\nloads: [{{clients: 4, duration: 1s}}]\n",
        classes.path().display(),
        variants.join(", "),
    ));
    document.records
}

fn figure(records: &[Record], mode: &str, metric: Metric) -> f64 {
    let run = records.iter().find(|record| record.variant == mode).unwrap();
    metric.of(run).unwrap_or_else(|| panic!("{} of {mode}", metric.name()))
}

#[test]
fn a_heap_that_was_only_touched_is_resident_and_not_needed() {
    let records = runs(&classes(), 25, "G1GC", &["little", "touch"]);
    let difference = |metric| figure(&records, "touch", metric) - figure(&records, "little", metric);
    assert!(difference(Metric::RssPeak) > 80.0 * MB, "{} bytes", difference(Metric::RssPeak));
    assert!(difference(Metric::TouchedNotNeeded) > 80.0 * MB, "{}", difference(Metric::TouchedNotNeeded));
    assert!(difference(Metric::LiveHeap).abs() < 4.0 * MB, "{} bytes", difference(Metric::LiveHeap));
    assert!(difference(Metric::MemoryNeeded).abs() < 10.0 * MB, "{} bytes", difference(Metric::MemoryNeeded));
}

#[test]
fn what_a_server_keeps_is_needed_with_every_collector_on_java_21_and_25() {
    let cases = [(25, "G1GC"), (25, "SerialGC"), (25, "ParallelGC"), (25, "ZGC"), (21, "G1GC"), (21, "ZGC")];
    let classes = classes();
    // The runs are concurrent because most of a run is waiting. A scope fails with the first of its threads that fails.
    std::thread::scope(|scope| {
        for (java, collector) in cases {
            let classes = &classes;
            scope.spawn(move || what_is_kept_is_needed(classes, java, collector));
        }
    });
}

fn what_is_kept_is_needed(classes: &TempDir, java: u16, collector: &str) {
    let records = runs(classes, java, collector, &["little", "keep"]);
    let difference = |metric| figure(&records, "keep", metric) - figure(&records, "little", metric);
    let live = difference(Metric::LiveHeap);
    assert!((live - KEPT_BYTES).abs() < 2.0 * MB, "Java {java}, {collector}: {live} bytes live");
    let needed = difference(Metric::MemoryNeeded);
    assert!((needed - KEPT_BYTES).abs() < 15.0 * MB, "Java {java}, {collector}: {needed} bytes needed");
    let little = figure(&records, "little", Metric::LiveHeap);
    assert!(little < 20.0 * MB, "Java {java}, {collector}: {little} bytes live in a small server");
}

#[test]
fn the_stacks_of_parked_virtual_threads_are_part_of_the_live_heap() {
    let records = runs(&classes(), 25, "G1GC", &["little", "park"]);
    let parked = records.iter().find(|record| record.variant == "park").unwrap();
    let heap = parked.memory.unwrap().under_load;
    assert!(heap.virtual_thread_stacks >= PARKED, "{heap:?}");
    // Each stack has 20 frames of at least two words.
    assert!(heap.virtual_thread_stacks_bytes > PARKED * 20 * 16, "{heap:?}");
    let live = figure(&records, "park", Metric::LiveHeap) - figure(&records, "little", Metric::LiveHeap);
    assert!(live > heap.virtual_thread_stacks_bytes as f64, "{live} bytes more live, {heap:?}");
    let none = figure(&records, "little", Metric::VirtualThreadStacks);
    assert!(none < 0.1 * MB, "{none} bytes of stacks without a virtual thread");
}
