//! Findings about real servers: each must appear if its cause is there, and must not appear for a look-alike.
//!
//! The tests share the machine with each other and with other tests, so each cause has an effect far beyond that of a busy machine. Servers
//! that take all the CPU run one at a time.

use crate::cgroup;
use crate::java;
use crate::schema;

use assert_cmd::cargo::cargo_bin;
use serde_json::Value;
use std::fs;
use std::process::{Command, Stdio};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};
use threadcount_judge::words::finding::{FindingWords, words};
use threadcount_servers::distribution::DistributionStore;
use threadcount_servers::tomcat::distribution::TOMCAT;
use threadcount_stats::runs::FULL_MACHINE;

/// Held while a server takes all the CPU.
static CORES: Mutex<()> = Mutex::new(());

fn takes_the_cores() -> MutexGuard<'static, ()> {
    CORES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Only the first of several concurrent tests fetches Tomcat.
static TOMCAT_11: LazyLock<()> = LazyLock::new(|| {
    DistributionStore::of_this_machine().get(&TOMCAT, "11.0").unwrap();
});

/// Two carriers on any machine.
const TWO_CARRIERS: &str =
    "-Djdk.virtualThreadScheduler.parallelism=2, -Djdk.virtualThreadScheduler.maxPoolSize=2";

/// No test here is about the compiler, and with the first compiler alone a Tomcat that lives for a few seconds costs half the CPU.
const SOON_COMPILED: &str = "-XX:TieredStopAtLevel=1";

/// The time for which a request blocks.
const LONG: &str = "sleep=250ms";

/// One measured run of each variant. There is exactly one, because on a busy machine disturbed runs would be repeated.
struct ExperimentOutput {
    result: Value,
}

impl ExperimentOutput {
    fn measure(rest: &str, javas: &[u16], more: &[&str]) -> Self {
        javas.iter().for_each(|&feature| drop(java::runtime(feature)));
        java::servlets_and_probe();
        if !javas.is_empty() {
            LazyLock::force(&TOMCAT_11);
        }
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("it.yaml");
        fs::write(&file, format!("question: What does it say?\nwarmup: 1s\nruns: 1\ndrop: 0\n{rest}"))
            .unwrap();
        let out = folder.path().join("out");
        let mut command = Command::new(cargo_bin("threadcount"));
        command.arg("run").arg(&file).arg("--out").arg(&out).args(more).stdin(Stdio::null());
        let output = command.output().unwrap();
        assert!(out.join("result.json").is_file(), "{}", String::from_utf8_lossy(&output.stderr));
        let result = schema::result_file(&out);
        for record in result["records"].as_array().unwrap() {
            assert_eq!(record["failure"], Value::Null, "{}", String::from_utf8_lossy(&output.stderr));
        }
        Self { result }
    }

    /// Measures ten clients on Tomcat 11 with two carriers for this many seconds. One second is enough for figures of the explaining
    /// window, which has at least three.
    ///
    /// A request blocks for [`LONG`], so that the milliseconds for which a thread waits for a core on a busy machine hardly matter.
    fn tomcat(variants: &str, request: &str, seconds: u32, javas: &[u16], more: &[&str]) -> Self {
        let rest = format!(
            "server: {{tomcat: \"11.0\", app: servlets}}\njvm: [-Xmx128m, {TWO_CARRIERS}, {SOON_COMPILED}]\nrequest: {request}\n\
             variants: {{{variants}}}\nloads: [{{clients: 10, duration: {seconds}s}}]\n"
        );
        Self::measure(&rest, javas, more)
    }

    fn finding(&self, rule: &str, variant: &str) -> Option<&Value> {
        let findings = self.result["findings"].as_array().unwrap();
        findings.iter().find(|it| it["rule"] == rule && it["variant"] == variant)
    }

    /// The words of a finding, as in reports.
    fn words(&self, rule: &str, variant: &str) -> FindingWords {
        let finding = self.finding(rule, variant).unwrap_or_else(|| panic!("{rule} of {variant}: {self}"));
        words(&serde_json::from_value(finding.clone()).unwrap())
    }

    fn sentence(&self, rule: &str, variant: &str) -> String {
        self.words(rule, variant).sentence
    }

    fn advice(&self, rule: &str, variant: &str) -> String {
        self.words(rule, variant).advice.unwrap()
    }

    /// A figure of a finding, by its path in the result.
    fn figure(&self, rule: &str, variant: &str, path: &str) -> f64 {
        let finding = self.finding(rule, variant).unwrap_or_else(|| panic!("{rule} of {variant}: {self}"));
        let figure = finding["figures"].pointer(path).and_then(Value::as_f64);
        figure.unwrap_or_else(|| panic!("{path}: {finding:#}"))
    }

    /// Checks that this finding is the limit, or the full CPU if something else used the machine's cores.
    fn assert_limit(&self, rule: &str, variant: &str) {
        let records = self.result["records"].as_array().unwrap();
        let cost = &records.iter().find(|it| it["variant"] == variant).unwrap()["cost"];
        let share = cost["machine_cpu_cores"].as_f64().unwrap() / cost["machine_cores"].as_f64().unwrap();
        let limit = if share >= FULL_MACHINE { "cpu-ceiling" } else { rule };
        assert!(self.finding(limit, variant).is_some(), "no {limit} at {share:.2} of the cores: {self}");
    }

    /// The throughput in the explaining window.
    fn rate(&self, variant: &str) -> f64 {
        let records = self.result["records"].as_array().unwrap();
        let record = records.iter().find(|it| it["variant"] == variant).unwrap();
        record["explaining"]["load"]["rate_per_s"]["completed"].as_f64().unwrap()
    }
}

impl std::fmt::Display for ExperimentOutput {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "{:#}", self.result["findings"])?;
        for record in self.result["records"].as_array().into_iter().flatten() {
            writeln!(f, "{} {} {}", record["variant"], record["cost"], record["jvm"])?;
        }
        Ok(())
    }
}

const VIRTUAL_ON_BOTH: &str =
    "virtual-21: {threads: virtual, jdk: 21}, virtual-25: {threads: virtual, jdk: 25}";

/// Whether the sentence names a line of this class: `...Class.method:LINE`.
fn names_a_line_of(class: &str, sentence: &str) -> bool {
    let after = sentence.split_once(class).and_then(|(_, rest)| rest.split_once(':'));
    after.is_some_and(|(_, rest)| rest.starts_with(|it: char| it.is_ascii_digit()))
}

#[test]
fn a_servlet_that_sleeps_in_synchronized_pins_java_21_is_named_to_the_line_and_is_silent_on_25() {
    let output =
        ExperimentOutput::tomcat(VIRTUAL_ON_BOTH, &format!("/synchronized?{LONG}"), 1, &[21, 25], &[]);
    let sentence = output.sentence("pinned-carriers", "virtual-21");
    assert!(names_a_line_of("dev.threadcount.servlets.Synchronized.", &sentence), "{sentence}");
    assert!(sentence.contains("/s at most"), "carriers / sleep is the rate: {sentence}");
    assert!(output.figure("pinned-carriers", "virtual-21", "/pinned_share") >= 0.7, "{output}");
    // Two carriers and sleeps of 250 ms allow 8/s; a sleep may take longer, but never less. Ten clients that pin nothing would get 40/s.
    assert!((5.0..=8.2).contains(&output.rate("virtual-21")), "{output}");
    let advice = output.advice("pinned-carriers", "virtual-21");
    assert!(advice.contains("Java 24") && advice.contains("ReentrantLock"), "{advice}");
    assert_eq!(output.finding("pinned-carriers", "virtual-25"), None, "{output}");
}

#[test]
fn a_class_initializer_that_blocks_still_pins_java_25_and_is_named() {
    let variants = "virtual-25: {threads: virtual, jdk: 25}";
    let output = ExperimentOutput::tomcat(variants, &format!("/initializer?{LONG}"), 1, &[25], &[]);
    let sentence = output.sentence("pinned-carriers", "virtual-25");
    assert!(
        names_a_line_of("dev.threadcount.servlets.BlocksWhenInitialized$Hidden", &sentence),
        "{sentence}"
    );
    let advice = output.advice("pinned-carriers", "virtual-25");
    assert!(advice.contains("class initializer"), "{advice}");
}

#[test]
fn a_native_frame_that_blocks_still_pins_java_25_and_is_named() {
    let variants = "virtual-25: {threads: virtual, jdk: 25}";
    let output = ExperimentOutput::tomcat(variants, &format!("/native-frame?{LONG}"), 1, &[25], &[]);
    let sentence = output.sentence("pinned-carriers", "virtual-25");
    assert!(names_a_line_of("dev.threadcount.servlets.NativeFrame.blockAndCompare", &sentence), "{sentence}");
    let advice = output.advice("pinned-carriers", "virtual-25");
    assert!(advice.contains("(Native or VM frame on stack)"), "{advice}");
}

#[test]
fn a_contended_monitor_that_java_21_is_silent_about_shows_in_the_carriers_and_is_gone_on_25() {
    let variants = format!("{VIRTUAL_ON_BOTH}, platform-25: {{threads: platform, jdk: 25}}");
    let output = ExperimentOutput::tomcat(&variants, &format!("/contended?{LONG}"), 5, &[21, 25], &[]);
    let sentence = output.sentence("pinned-carriers", "virtual-21");
    assert!(sentence.contains("from the states of the carriers"), "{sentence}");
    assert!(names_a_line_of("dev.threadcount.servlets.Contended.", &sentence), "{sentence}");
    assert!(output.figure("pinned-carriers", "virtual-21", "/held_share") >= 0.5, "{output}");
    assert_eq!(output.finding("pinned-carriers", "virtual-25"), None, "{output}");
    // Platform threads wait for the same monitor, and have no carrier to hold.
    assert_eq!(output.finding("pinned-carriers", "platform-25"), None, "{output}");
    let waiting = output.sentence("request-waits", "platform-25");
    assert!(names_a_line_of("dev.threadcount.servlets.Contended.", &waiting), "{waiting}");
}

#[test]
fn object_wait_that_java_21_is_silent_about_shows_in_the_carriers_and_is_gone_on_25() {
    let output =
        ExperimentOutput::tomcat(VIRTUAL_ON_BOTH, &format!("/object-wait?{LONG}"), 1, &[21, 25], &[]);
    let sentence = output.sentence("pinned-carriers", "virtual-21");
    assert!(sentence.contains("from the states of the carriers"), "{sentence}");
    assert_eq!(output.finding("pinned-carriers", "virtual-25"), None, "{output}");
}

#[test]
fn a_yield_storm_is_named_with_its_line() {
    let virtual_25 = "virtual-25: {threads: virtual, jdk: 25}";
    let _turn = takes_the_cores();
    let output = ExperimentOutput::tomcat(virtual_25, "/yielding?sleep=50ms", 4, &[25], &[]);
    let sentence = output.sentence("busy-without-progress", "virtual-25");
    assert!(names_a_line_of("dev.threadcount.servlets.Yielding.", &sentence), "{sentence}");
}

#[test]
fn a_servlet_that_computes_keeps_the_carriers_as_busy_and_is_no_yield_storm() {
    let _turn = takes_the_cores();
    let output = ExperimentOutput::tomcat(VIRTUAL_ON_BOTH, "/computing?sleep=50ms", 2, &[21, 25], &[]);
    for variant in ["virtual-21", "virtual-25"] {
        assert_eq!(output.finding("busy-without-progress", variant), None, "{output}");
        assert_eq!(output.finding("pinned-carriers", variant), None, "{output}");
        assert_eq!(output.finding("client-ceiling", variant), None, "{output}");
    }
}

#[test]
fn threads_that_wait_for_a_pool_of_their_own_are_named_and_threads_that_only_sleep_are_not() {
    let starved = "platform: {threads: platform, jdk: 25}";
    let output = ExperimentOutput::tomcat(starved, &format!("/starved?{LONG}"), 5, &[25], &[]);
    let sentence = output.sentence("concurrency-limit", "platform");
    assert!(names_a_line_of("dev.threadcount.servlets.Starved.withPermit", &sentence), "{sentence}");
    // Ten requests in flight, four of them with a permit.
    let at_once = output.figure("concurrency-limit", "platform", "/servers/count");
    assert!((2.0..=6.0).contains(&at_once), "{output}");
    let output = ExperimentOutput::tomcat(starved, &format!("/thread-info?{LONG}"), 5, &[25], &[]);
    assert_eq!(output.finding("concurrency-limit", "platform"), None, "{output}");
    assert_eq!(output.finding("request-waits", "platform"), None, "{output}");
}

/// Twenty requests that wait for 200 ms: eight at a time, or all of them.
#[test]
fn a_pool_that_is_full_is_the_limit_and_virtual_threads_leave_it_to_the_clients() {
    let rest = "server: {tomcat: \"11.0\", app: servlets}\njdk: 25\njvm: [-Xmx128m, -XX:TieredStopAtLevel=1]\n\
        request: /thread-info?sleep=200ms\n\
        variants: {pool: {threads: {platform: 8}}, virtual: {threads: virtual}}\n\
        loads: [{clients: 20, requests: 200}]\n";
    let output = ExperimentOutput::measure(rest, &[25], &[]);
    output.assert_limit("pool-ceiling", "pool");
    assert_eq!(output.finding("client-ceiling", "pool"), None, "{output}");
    output.assert_limit("client-ceiling", "virtual");
    assert_eq!(output.finding("pool-ceiling", "virtual"), None, "{output}");
}

/// Eight requests of 100 ms, two at a time in the order of arrival: each one, the fastest included, waits for 400 ms.
#[test]
fn a_server_that_is_saturated_in_the_order_of_arrival_is_not_limited_by_the_load() {
    let server = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/servers/delay.py");
    let variant =
        |workers: u32| format!("{{command: \"env WORKERS={workers} python3 {server} {{port}} 100\"}}");
    let rest = format!(
        "variants:\n  saturated: {}\n  free: {}\nrequest: /\nloads: [{{clients: 8, duration: 2s}}]\n",
        variant(2),
        variant(8)
    );
    let output = ExperimentOutput::measure(&rest, &[], &["--no-probe"]);
    assert_eq!(output.finding("client-ceiling", "saturated"), None, "{output}");
    output.assert_limit("client-ceiling", "free");
    let records = output.result["records"].as_array().unwrap();
    let saturated = records.iter().find(|it| it["variant"] == "saturated").unwrap();
    let times = &saturated["measured"]["response_time_ms"];
    let alone_ms = saturated["warm_up"]["fastest_ms"].as_f64().unwrap();
    assert!(alone_ms < times["mean"].as_f64().unwrap() / 2.0, "alone {alone_ms} ms, {times}");
}

/// Two connections may wait to be accepted, and twenty clients open a new one for each request.
#[test]
fn a_server_that_accepts_too_slowly_is_named() {
    let server = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/servers/one_at_a_time.py");
    let rest = format!(
        "variants:\n  slow: {{command: \"python3 {server} {{port}} 20\"}}\n\
         request: /\nloads: [{{clients: 20, duration: 2s, keep_alive: false}}]\n"
    );
    let output = ExperimentOutput::measure(&rest, &[], &["--no-probe"]);
    let sentence = output.sentence("accept-queue", "slow");
    assert!(sentence.starts_with("the accept queue overflowed "), "{sentence}");
    assert!(output.figure("accept-queue", "slow", "/overflows") > 0.0, "{output}");
}

/// The same requests either keep a part of the heap, so that the live heap grows, or keep nothing of it.
#[test]
fn a_heap_that_keeps_what_it_is_given_grows_and_one_that_lets_it_go_does_not() {
    let variants = "leak: {threads: platform, jdk: 25, jvm: [-Xmx900m, -XX:+UseSerialGC]}";
    let leak = "/allocating?kb=100&keep=100000&sleep=50ms&collect=30";
    let output = ExperimentOutput::tomcat(variants, leak, 6, &[25], &["--no-probe"]);
    let sentence = output.sentence("memory-growth", "leak");
    assert!(sentence.starts_with("the heap after full collections grew throughout the window"), "{sentence}");
    let cache = "/allocating?kb=100&keep=4&sleep=50ms&collect=30";
    let output = ExperimentOutput::tomcat(variants, cache, 6, &[25], &["--no-probe"]);
    assert_eq!(output.finding("memory-growth", "leak"), None, "{output}");
}

/// A cache of many small objects in a small heap: the Serial collector has to look at all of them again and again.
#[test]
fn a_heap_that_is_nearly_full_spends_its_time_in_pauses_and_a_larger_one_does_not() {
    let heap = |size| {
        format!("heap: {{threads: platform, jdk: 25, jvm: [-Xms{size}, -Xmx{size}, -XX:+UseSerialGC]}}")
    };
    let request = "/allocating?kb=1000&keep=100";
    let turn = takes_the_cores();
    let output = ExperimentOutput::tomcat(&heap("160m"), request, 3, &[25], &["--no-probe"]);
    drop(turn);
    let paused = 100.0 * output.figure("gc", "heap", "/paused_share");
    assert!(paused >= 10.0, "{output}");
    // The same servlet with as large a cache. It sleeps, so that it allocates at most 200 x 50 KiB a second on any machine, and the young
    // generation of 300 MB has room for all of that.
    let request = "/allocating?kb=50&keep=100&sleep=50ms";
    let output = ExperimentOutput::tomcat(&heap("900m"), request, 6, &[25], &["--no-probe"]);
    assert_eq!(output.finding("gc", "heap"), None, "{output}");
}

/// The share of the requests beyond the 99th percentile that this cause delays; `None` if it was not observed.
fn share_of_slow_requests(output: &ExperimentOutput, cause: &str) -> Option<f64> {
    let causes = output.result["records"][0]["pause_ledger"]["causes"].as_array()?;
    causes.iter().find(|it| it["cause"] == cause)?["requests_share"].as_f64()
}

/// Only the JVM's log shows the pauses, because no probe is in the JVM. One request in 400 has the whole heap collected, about once a
/// second, which stops the ten requests in flight, a fortieth of all.
#[test]
fn a_steady_pause_in_each_second_is_named_by_the_log_alone_and_without_the_log_nothing_is() {
    let request = "/allocating?kb=20&keep=60&sleep=20ms&collect=400";
    let variants = "steady: {threads: platform, jdk: 25, jvm: [-Xms600m, -Xmx600m, -XX:+UseSerialGC]}";
    let output = ExperimentOutput::tomcat(variants, request, 6, &[25], &["--no-probe"]);
    assert!(output.figure("gc", "steady", "/pauses_per_run") >= 3.0, "{output}");
    assert_eq!(output.result["records"][0]["jvm_log"]["file"], "runs/001-steady-c10/jvm.log");
    let delayed_by_gc = share_of_slow_requests(&output, "garbage-collection").unwrap();
    assert!(delayed_by_gc >= 0.6, "{:#}", output.result["records"][0]["pause_ledger"]);
    assert!(output.finding("gc", "steady").is_some() && output.finding("delayed-tail", "steady").is_none());
    let output = ExperimentOutput::tomcat(variants, request, 1, &[25], &["--no-probe", "--no-jvm-log"]);
    assert_eq!(output.finding("gc", "steady"), None, "{output}");
    assert_eq!(output.result["records"][0]["jvm_log"], Value::Null);
    assert_eq!(share_of_slow_requests(&output, "garbage-collection"), None, "nothing tells when they were");
    assert!(!output.result["records"][0]["server"]["command"].to_string().contains("-Xlog"), "{output}");
}

#[test]
fn requests_that_wait_for_zgc_to_free_memory_are_named_and_in_a_larger_heap_they_do_not_wait() {
    let heap = |name, size| format!("{name}: {{threads: virtual, jdk: 25, jvm: [-Xmx{size}, -XX:+UseZGC]}}");
    let request = "/allocating?kb=1000&keep=30";
    let turn = takes_the_cores();
    let output = ExperimentOutput::tomcat(&heap("tight", "64m"), request, 3, &[25], &["--no-probe"]);
    drop(turn);
    assert!(output.figure("allocation-stalls", "tight", "/stalls_per_run") >= 3.0, "{output}");
    // The servlet sleeps, so that it allocates at most 10 MB a second on any machine.
    let request = "/allocating?kb=50&keep=30&sleep=50ms";
    let output = ExperimentOutput::tomcat(&heap("roomy", "600m"), request, 3, &[25], &["--no-probe"]);
    assert_eq!(output.finding("allocation-stalls", "roomy"), None, "{output}");
}

#[test]
fn a_server_that_uses_up_its_cpu_quota_is_named_and_one_with_a_larger_quota_is_not() {
    let (tight, wide) =
        (cgroup::Group::with_quota("tight", 4_000), cgroup::Group::with_quota("wide", 6_400_000));
    let delay = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/servers/delay.py");
    let within = |name: &str, group: &cgroup::Group| {
        let processes = group.processes();
        let processes = processes.display();
        format!("{name}: {{command: \"sh -c 'echo $$ >{processes}; exec python3 {delay} {{port}} 1'\"}}")
    };
    let rest = format!(
        "variants:\n  {}\n  {}\nrequest: /\nloads: [{{clients: 20, duration: 2s}}]\n",
        within("tight", &tight),
        within("wide", &wide)
    );
    let output = ExperimentOutput::measure(&rest, &[], &["--no-probe"]);
    assert_eq!(output.figure("throttled", "tight", "/quota_cores"), 0.04, "{output}");
    assert!(!output.sentence("throttled", "tight").contains("load generator"), "{output}");
    assert_eq!(output.finding("throttled", "wide"), None, "{output}");
}

#[test]
fn a_server_with_few_files_left_is_named_and_one_with_many_is_not() {
    let delay = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/servers/delay.py");
    let rest = format!(
        "variants:\n  few: {{command: \"sh -c 'ulimit -n 64; exec python3 {delay} {{port}} 20'\"}}\n  \
         many: {{command: \"sh -c 'ulimit -n 1000; exec python3 {delay} {{port}} 20'\"}}\n\
         request: /\nloads: [{{clients: 54, duration: 2s}}]\n"
    );
    let output = ExperimentOutput::measure(&rest, &[], &["--no-probe"]);
    let sentence = output.sentence("limits", "few");
    assert!(sentence.contains("of at most 64 files"), "{sentence}");
    assert_eq!(output.finding("limits", "many"), None, "{output}");
}

/// The bytes that Tomcat, the servlet and the connection allocate for a request by themselves, measured with `kb=0`.
const SMALL_REQUEST_BYTES: f64 = 16_000.0;

#[test]
fn what_a_servlet_allocates_for_each_request_is_counted_and_its_line_has_most_of_it() {
    let variants = "some: {threads: platform, jdk: 25}, other: {threads: virtual, jdk: 25}";
    let request = "/allocating?kb=200&sleep=50ms";
    let output = ExperimentOutput::tomcat(variants, request, 4, &[25], &[]);
    // The servlet allocates blocks of 1,024 bytes, each with a header of 16.
    let known = 200.0 * 1_040.0;
    for record in output.result["records"].as_array().unwrap() {
        let allocation = &record["jvm"]["allocation"];
        let completed = record["explaining"]["load"]["rate_per_s"]["completed"].as_f64().unwrap();
        let bytes = allocation["bytes_per_s"].as_f64().unwrap() / completed;
        // The counter is read only twice a second, so on this busy machine the rate at both ends of the window matters.
        assert!((known * 0.85..known * 1.15 + SMALL_REQUEST_BYTES).contains(&bytes), "{bytes}: {output}");
        let site = &allocation["sites"][0];
        assert_eq!(site["class"], "byte[]", "{allocation:#}");
        let line = site["application"].as_str().unwrap();
        assert!(names_a_line_of("dev.threadcount.servlets.Allocating.", line), "{allocation:#}");
        // The share is about 0.93. A slow machine takes few samples: in 35 of them it was 0.79.
        assert!(site["share"].as_f64().unwrap() > 0.6, "{allocation:#}");
    }
    // Both variants allocate as much.
    for variant in ["some", "other"] {
        assert_eq!(output.finding("allocation", variant), None, "{output}");
    }
}

#[test]
fn processors_that_tomcat_makes_anew_are_named_with_their_cache_and_with_room_for_all_there_are_none() {
    let variants = "few: {threads: virtual, jdk: 25, server: {processor_cache: 1}}, \
                    all: {threads: virtual, jdk: 25, server: {processor_cache: unlimited}}";
    let output = ExperimentOutput::tomcat(variants, "/thread-info?sleep=50ms", 5, &[25], &[]);
    assert_eq!(output.figure("allocation", "few", "/processors/cache"), 1.0);
    assert!(output.figure("allocation", "few", "/processors/in_flight") > 5.0, "{output}");
    let sentence = output.sentence("allocation", "few");
    assert!(sentence.contains("A new one is made for each request beyond 1 in flight"), "{sentence}");
    assert_eq!(output.finding("allocation", "all"), None, "{output}");
}
