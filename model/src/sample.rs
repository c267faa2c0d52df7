//! Records for tests: a healthy run with round figures, to be changed where a test needs it.

#![allow(clippy::expect_used, reason = "it is for tests")]

use crate::record::allocation::Allocation;
use crate::record::allocation_profile::{AllocationProfile, AllocationStack};
use crate::record::capacity::{CapacityStep, StepFailure, StepVerdict};
use crate::record::explaining::ExplainingWindow;
use crate::record::jvm::JvmReadings;
use crate::record::{Cost, Record, ServerFacts};
use std::collections::BTreeMap;
use threadcount_load::report::LoadReport;
use threadcount_load::times::TimesSummary;

/// A run of 10 s in which 400 clients got `rate` responses per second, each after `ms` milliseconds.
pub fn run(variant: &str, load: &str, rate: f64, ms: f64) -> Record {
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

/// A summary in which all response times are equal.
pub fn times(ms: f64) -> TimesSummary {
    let mut times = TimesSummary::from_quantiles(|_| ms);
    times.mean = ms;
    times
}

/// Changes the load's report of a run.
pub fn with_load(mut record: Record, change: impl FnOnce(&mut LoadReport)) -> Record {
    if let Some(load) = &mut record.measured {
        change(load);
    }
    record
}

/// Changes what a run cost.
pub fn with_cost(mut record: Record, change: impl FnOnce(&mut Cost)) -> Record {
    if let Some(cost) = &mut record.cost {
        change(cost);
    }
    record
}

/// Adds an explaining window with allocations: bytes per request, and for each stack a number of samples of 1 MiB.
pub fn with_allocation(mut record: Record, bytes_per_request: f64, stacks: &[(&str, u64)]) -> Record {
    const MIB: u64 = 1 << 20;
    let stack = |&(frames, samples): &(&str, u64)| AllocationStack {
        frames: frames.split(';').map(str::to_owned).collect(),
        samples,
        bytes: samples * MIB,
        bytes_squared: samples as f64 * (MIB * MIB) as f64,
    };
    let stacks: Vec<AllocationStack> = stacks.iter().map(stack).collect();
    let samples: u64 = stacks.iter().map(|stack| stack.samples).sum();
    let load = record.measured.clone().expect("a load");
    let bytes_per_s = bytes_per_request * load.rate_per_s.completed;
    record.explaining = Some(ExplainingWindow { load, cost: None, recompiling: None });
    record.jvm = Some(JvmReadings {
        allocation: Some(Allocation { bytes_per_s, window_s: 3.0, ..Allocation::default() }),
        allocation_profile: Some(AllocationProfile { samples, bytes: samples * MIB, stacks }),
        ..JvmReadings::default()
    });
    record
}

/// A step of a capacity search whose times are not known.
pub fn step(asked_per_s: f64, verdict: StepVerdict, why: Option<StepFailure>) -> CapacityStep {
    CapacityStep {
        asked_per_s,
        reached_per_s: asked_per_s,
        length_s: 3.0,
        p50_ms: None,
        p99_ms: None,
        max_ms: None,
        failed: 0,
        cpu_cores: None,
        machine_cpu_cores: None,
        backends: Vec::new(),
        generator_share: 0.1,
        verdict,
        why,
    }
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
