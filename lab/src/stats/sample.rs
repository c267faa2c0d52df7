//! Records for tests: a healthy run with round figures, to be changed where a test needs it.

use crate::model::record::{Cost, Record, ServerFacts};
use std::collections::BTreeMap;
use threadcount_load::report::{
    BytesReport, ConnectionsReport, GeneratorReport, LoadReport, PlanReport, RateReport, RequestsReport,
};
use threadcount_load::times::TimesSummary;

/// A run of 10 s in which 400 clients got `rate` answers a second, each after `ms` milliseconds.
pub(crate) fn run(variant: &str, load: &str, rate: f64, ms: f64) -> Record {
    Record {
        variant: variant.to_owned(),
        load: load.to_owned(),
        round: 1,
        position: 1,
        started_at: "2026-11-20T23:00:00Z".to_owned(),
        failure: None,
        dropped: false,
        disturbed: None,
        warm_up: None,
        server: ServerFacts { ready_after_ms: 1_000.0, ..ServerFacts::default() },
        warmup_rate_per_s: Vec::new(),
        measured: Some(load_report(rate, ms)),
        foreign: None,
        benchmark: None,
        more_percentiles: None,
        latency_curve: Vec::new(),
        response_histogram: None,
        cost: Some(cost()),
        native_memory: None,
        capacity: None,
        jvm: None,
        probe_refused: None,
        thread_dump: None,
        network: None,
        load_series: Vec::new(),
        process_series: Vec::new(),
    }
}

fn cost() -> Cost {
    Cost {
        window_s: 10.0,
        cpu_s: 5.0,
        cpu_cores: 0.5,
        cpu_us_per_request: Some(100.0),
        machine_cpu_cores: 0.8,
        stolen_cores: 0.0,
        machine_cores: 2,
        rss_peak_bytes: 300_000_000,
        os_threads_peak: 30,
        ..Cost::default()
    }
}

/// All response times alike.
pub(crate) fn times(ms: f64) -> TimesSummary {
    TimesSummary {
        min: ms,
        mean: ms,
        stddev: 0.0,
        p50: ms,
        p75: ms,
        p90: ms,
        p95: ms,
        p99: ms,
        p99_9: ms,
        p99_99: ms,
        max: ms,
    }
}

/// Changes the load's report of a run.
pub(crate) fn with_load(mut record: Record, change: impl FnOnce(&mut LoadReport)) -> Record {
    if let Some(load) = &mut record.measured {
        change(load);
    }
    record
}

/// Changes what a run cost.
pub(crate) fn with_cost(mut record: Record, change: impl FnOnce(&mut Cost)) -> Record {
    if let Some(cost) = &mut record.cost {
        change(cost);
    }
    record
}

fn load_report(rate: f64, ms: f64) -> LoadReport {
    let requests = (rate * 10.0) as u64;
    LoadReport {
        schema: threadcount_load::report::SCHEMA.to_owned(),
        target: "http://127.0.0.1:8080/".to_owned(),
        protocol: "HTTP/1.1".to_owned(),
        driver: "epoll".to_owned(),
        plan: PlanReport {
            mode: "closed".to_owned(),
            connections: 400,
            threads: 1,
            rate_per_s: None,
            shape: None,
            arrivals: None,
            duration_s: Some(10.0),
            requests: None,
            keep_alive: true,
            connect_timeout_s: 10.0,
            request_timeout_s: 30.0,
            seed: 1,
            lateness_s: 0.0,
            grace_s: 0.0,
            tls_resumption: None,
        },
        elapsed_s: 10.0,
        requests: RequestsReport {
            sent: requests,
            ok: requests,
            failed: 0,
            unfinished: 0,
            not_sent: 0,
            resent: 0,
        },
        rate_per_s: RateReport { asked: None, sent: rate, completed: rate },
        response_time_ms: Some(times(ms)),
        service_time_ms: Some(times(ms)),
        failed_time_ms: None,
        unfinished_age_ms: None,
        not_sent_age_ms: None,
        status: BTreeMap::from([(200, requests)]),
        failures: BTreeMap::new(),
        bytes: BytesReport { sent: 0, received: 0 },
        connections: ConnectionsReport::default(),
        generator: GeneratorReport {
            cpu_us_per_request: 10.0,
            cpu_share: 0.1,
            cpu_cores: 0.1,
            own_lag_ms: None,
            send_lag_ms: None,
            loop_lag_ms: None,
            last_byte_seen_by: None,
            bottleneck: false,
            why: None,
        },
        cores_busy: vec![0.5, 0.3],
        warnings: Vec::new(),
        interrupted: false,
        log: None,
    }
}
