//! One made-up run: figures near those of real runs, with noise that is the same each time.

mod jvm;

use std::collections::BTreeMap;
use std::f64::consts::TAU;
use threadcount_load::report::*;
use threadcount_load::times::TimesSummary;
use threadcount_model::experiment::{LoadSpec, Variant};
use threadcount_model::record::*;

/// The size of a made-up result.
#[derive(Clone, Copy)]
pub struct Sizes {
    pub rounds: u32,
    pub seconds: u32,
}

/// The typical figures of a variant under a load.
struct Character {
    rate: f64,
    p50: f64,
    tail: f64,
    rss_mb: f64,
    threads: u32,
    cpu_us: f64,
}

fn character(variant: &str, clients: u32) -> Character {
    let wide = clients > 400;
    let sized = f64::from(clients);
    match variant {
        "platform" => Character {
            rate: 3_955.0,
            p50: if wide { 252.0 } else { 100.6 },
            tail: 1.45,
            rss_mb: 304.0,
            threads: 223,
            cpu_us: 148.0,
        },
        "platform-sized" | "cached" => Character {
            rate: if wide { 17_300.0 } else { 7_790.0 },
            p50: 51.0,
            tail: 1.22,
            rss_mb: 352.0 + sized / 5.0,
            threads: clients + 23,
            cpu_us: 162.0,
        },
        _ => Character {
            rate: if wide { 18_580.0 } else { 7_846.0 },
            p50: 50.4,
            tail: if wide { 1.41 } else { 1.09 },
            rss_mb: if wide { 611.0 } else { 418.0 },
            threads: 27,
            cpu_us: 119.0,
        },
    }
}

/// A small deterministic noise in -1..=1.
fn noise(seed: u64) -> f64 {
    let mixed = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(23).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    (mixed >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
}

pub fn record(variant: &Variant, load: &LoadSpec, round: u32, position: u32, sizes: Sizes) -> Record {
    let clients = load.workload.closed_clients().expect("the fixture has closed loads only");
    let mut is = character(&variant.name, clients);
    is.rate *= 1.0 + 0.006 * noise(u64::from(position));
    is.rss_mb *= 1.0 + 0.01 * noise(u64::from(position) + 77);
    let seconds = f64::from(sizes.seconds);
    let sent = (is.rate * seconds) as u64;
    Record {
        variant: variant.name.clone(),
        load: load.name.clone(),
        round,
        position,
        started_at: format!("2026-11-20T22:{:02}:07Z", position % 60),
        server: server(variant, clients, position),
        warmup_rate_per_s: (0..15)
            .map(|second| is.rate * (1.0 - 0.8 / f64::from(1 + second * second)))
            .collect(),
        measured: Some(measured(&is, clients, sent, seconds)),
        latency_curve: curve(&is),
        cost: Some(cost(&is, seconds)),
        native_memory: Some(BeforeAfter { before: native(30, 0), after: native(is.threads + 8, is.threads) }),
        jvm: Some(jvm::readings(&variant.name, &is, position, sizes.seconds)),
        network: Some(NetworkCounters::default()),
        load_series: load_series(&is, position, sizes.seconds),
        process_series: process_series(&is, position, sizes.seconds),
        ..Record::default()
    }
}

fn server(variant: &Variant, clients: u32, position: u32) -> ServerFacts {
    ServerFacts {
        command: [
            "/usr/lib/jvm/temurin-25/bin/java",
            "-Xms512m",
            "-Xmx512m",
            "-XX:NativeMemoryTracking=summary",
            "-Dcatalina.base=/tmp/threadcount/base-1",
            "org.apache.catalina.startup.Bootstrap",
            "start",
        ]
        .map(str::to_owned)
        .to_vec(),
        env: vec!["TZ=UTC".into()],
        pid: 4_000 + position,
        product: Some("Apache Tomcat 11.0.24".into()),
        java: Some("25.0.3+9 (Eclipse Adoptium)".into()),
        ready_after_ms: 1_030.0,
        request_thread: Some(RequestThread {
            name: "tomcat-handler-1".into(),
            is_virtual: variant.name == "virtual",
        }),
        pool_max_threads: match variant.name.as_str() {
            "platform" => Some(200),
            "platform-sized" => Some(clients),
            _ => None,
        },
        log: Some(format!("logs/{position}-{}.log", variant.name)),
        jvm_flags: vec!["-XX:+UseG1GC".into(), "-XX:MaxHeapSize=536870912".into()],
        backends: Vec::new(),
    }
}

fn times(p50: f64, tail: f64) -> TimesSummary {
    let at = |share: f64| p50 * (1.0 + (tail - 1.0) * share);
    let mut times = TimesSummary::default();
    times.min = p50 * 0.99;
    times.mean = at(0.1);
    times.stddev = p50 * 0.05;
    times.p50 = p50;
    times.p75 = at(0.1);
    times.p90 = at(0.3);
    times.p95 = at(0.5);
    times.p99 = at(1.0);
    times.p99_9 = at(2.1);
    times.p99_99 = at(3.6);
    times.max = at(4.4);
    times
}

fn measured(is: &Character, clients: u32, sent: u64, seconds: f64) -> LoadReport {
    let mut report = LoadReport::default();
    report.schema = "threadcount/load/1".into();
    report.target = "http://127.0.0.1:40123/thread-info?sleep=50ms".into();
    report.protocol = "HTTP/1.1".into();
    report.driver = "io_uring".into();
    report.plan.mode = "closed".into();
    report.plan.connections = clients;
    report.plan.threads = 1;
    report.plan.duration_s = Some(seconds);
    report.plan.requests = Some(1_000_000);
    report.plan.keep_alive = true;
    report.plan.connect_timeout_s = 10.0;
    report.plan.request_timeout_s = 30.0;
    report.plan.seed = 1;
    report.elapsed_s = seconds;
    report.requests.sent = sent;
    report.requests.ok = sent - u64::from(clients);
    report.requests.unfinished = u64::from(clients);
    report.rate_per_s.sent = is.rate;
    report.rate_per_s.completed = is.rate;
    report.response_time_ms = Some(times(is.p50, is.tail));
    report.service_time_ms = Some(times(is.p50, is.tail));
    report.status = BTreeMap::from([(200, sent)]);
    report.bytes.sent = sent * 60;
    report.bytes.received = sent * 180;
    report.generator.cpu_us_per_request = 6.1;
    report.generator.cpu_share = is.rate * 6.1e-6;
    report.generator.cpu_cores = is.rate * 6.1e-6;
    report.generator.send_lag_ms = Some(lag(0.01, 0.08, 1.3));
    report.cores_busy = vec![0.5, 0.3];
    report
}

fn lag(p50: f64, p99: f64, max: f64) -> LagReport {
    let mut lag = LagReport::default();
    (lag.p50, lag.p99, lag.max) = (p50, p99, max);
    lag
}

fn curve(is: &Character) -> Vec<CurvePoint> {
    let point = |nines: f64| CurvePoint {
        percentile: 100.0 * (1.0 - 10_f64.powf(-nines)),
        response_ms: is.p50 * (0.97 + (is.tail - 1.0) * (nines / 2.0).powf(1.6) + 0.1 * nines.min(0.3)),
    };
    let tail = CurvePoint { percentile: 100.0, response_ms: times(is.p50, is.tail).max };
    (0..=60).map(|step| point(f64::from(step) / 13.0)).chain([tail]).collect()
}

fn cost(is: &Character, seconds: f64) -> Cost {
    let cores = is.rate * is.cpu_us / 1e6;
    Cost {
        window_s: seconds,
        cpu_s: cores * seconds,
        cpu_cores: cores,
        cpu_cores_peak: Some(cores * 1.2),
        cpu_us_per_request: Some(is.cpu_us),
        machine_cpu_cores: (cores + 0.3).min(2.0),
        stolen_cores: 0.0,
        machine_cores: 2,
        rss_peak_bytes: (is.rss_mb * 1e6) as u64,
        rss_mean_bytes: (is.rss_mb * 0.97e6) as u64,
        pss_peak_bytes: Some((is.rss_mb * 0.98e6) as u64),
        os_threads_peak: is.threads,
        voluntary_switches_per_s: Some(is.rate * 2.1),
        involuntary_switches_per_s: Some(40.0),
        ..Cost::default()
    }
}

fn native(threads: u32, stacks: u32) -> NativeMemory {
    NativeMemory {
        reserved_bytes: 1_900_000_000 + u64::from(threads) * 1_048_576,
        committed_bytes: 660_000_000,
        heap_committed_bytes: 536_870_912,
        threads,
        stack_reserved_bytes: u64::from(threads) * 1_048_576,
        stack_committed_bytes: u64::from(stacks + 20) * 16_600,
        ..NativeMemory::default()
    }
}

fn load_series(is: &Character, position: u32, seconds: u32) -> Vec<LoadSample> {
    let sample = |second: u32| {
        let wobble = noise(u64::from(position) * 10_007 + u64::from(second));
        let p99 = is.p50 * is.tail * (1.0 + 0.05 * wobble);
        LoadSample {
            t_s: f64::from(second) + 0.5,
            rate_per_s: is.rate * (1.0 + 0.015 * wobble),
            failed_per_s: 0.0,
            p50_ms: Some(is.p50 * (1.0 + 0.004 * wobble)),
            p99_ms: Some(p99),
            max_ms: Some(p99 * (1.2 + 0.3 * wobble)),
            in_flight: None,
        }
    };
    (0..seconds).map(sample).collect()
}

fn process_series(is: &Character, position: u32, seconds: u32) -> Vec<ProcessSample> {
    let sample = |step: u32| {
        let t_s = f64::from(step) * 0.5 + 0.1;
        let wobble = noise(u64::from(position) * 20_011 + u64::from(step));
        let grown = 1.0 - 0.25 * (-t_s / 4.0).exp();
        ProcessSample {
            t_s,
            cpu_cores: is.rate * is.cpu_us / 1e6 * (1.0 + 0.05 * wobble),
            machine_cpu_cores: 1.8,
            rss_bytes: (is.rss_mb * 1e6 * grown * (1.0 + 0.01 * (TAU * t_s / 3.0).sin())) as u64,
            pss_bytes: None,
            os_threads: is.threads - u32::from(t_s < 1.0) * 4,
        }
    };
    (0..seconds * 2).map(sample).collect()
}
