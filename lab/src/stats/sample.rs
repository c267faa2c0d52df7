//! Records for tests: a healthy run with round figures, to be changed where a test needs it.

use crate::model::record::{Cost, Record, ServerFacts};
use std::collections::BTreeMap;
use threadcount_load::report::LoadReport;
use threadcount_load::times::TimesSummary;

/// A run of 10 s in which 400 clients got `rate` responses per second, each after `ms` milliseconds.
pub(crate) fn run(variant: &str, load: &str, rate: f64, ms: f64) -> Record {
    Record {
        variant: variant.to_owned(),
        load: load.to_owned(),
        round: 1,
        position: 1,
        started_at: "2026-11-20T23:00:00Z".to_owned(),
        server: ServerFacts { ready_after_ms: 1_000.0, ..ServerFacts::default() },
        measured: Some(load_report(rate, ms)),
        cost: Some(cost()),
        ..Record::default()
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
    let mut times = TimesSummary::default();
    times.min = ms;
    times.mean = ms;
    times.p50 = ms;
    times.p75 = ms;
    times.p90 = ms;
    times.p95 = ms;
    times.p99 = ms;
    times.p99_9 = ms;
    times.p99_99 = ms;
    times.max = ms;
    times
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
    let mut report = LoadReport::default();
    report.schema = threadcount_load::report::SCHEMA.to_owned();
    report.target = "http://127.0.0.1:8080/".to_owned();
    report.protocol = "HTTP/1.1".to_owned();
    report.driver = "epoll".to_owned();
    report.plan.mode = "closed".to_owned();
    report.plan.connections = 400;
    report.plan.threads = 1;
    report.plan.duration_s = Some(10.0);
    report.plan.keep_alive = true;
    report.plan.connect_timeout_s = 10.0;
    report.plan.request_timeout_s = 30.0;
    report.plan.seed = 1;
    report.elapsed_s = 10.0;
    report.requests.sent = requests;
    report.requests.ok = requests;
    report.rate_per_s.sent = rate;
    report.rate_per_s.completed = rate;
    report.response_time_ms = Some(times(ms));
    report.service_time_ms = Some(times(ms));
    report.status = BTreeMap::from([(200, requests)]);
    report.generator.cpu_us_per_request = 10.0;
    report.generator.cpu_share = 0.1;
    report.generator.cpu_cores = 0.1;
    report.cores_busy = vec![0.5, 0.3];
    report
}
