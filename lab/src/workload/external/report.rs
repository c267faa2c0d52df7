//! What a foreign tool said in the shape of our own generator's report, so that it is compared and judged alike.

use super::full;
use crate::model::experiment::LoadSpec;
use crate::model::record::foreign::{ForeignLoad, ForeignProcess};
use std::collections::BTreeMap;
use threadcount_load::report::{
    BytesReport, ConnectionsReport, GeneratorReport, LoadReport, PlanReport, RateReport, RequestsReport,
    SCHEMA,
};

/// `ab`'s own time limit of an answer.
const TIMEOUT_S: f64 = 30.0;

/// The report. What a tool does not tell is null, nothing or zero: single times, statuses, the bytes it sent.
pub(super) fn of(load: &LoadSpec, processes: u32, url: &str, told: &ForeignLoad) -> LoadReport {
    let sum = |of: fn(&ForeignProcess) -> f64| told.processes.iter().map(of).sum::<f64>();
    let count = |of: fn(&ForeignProcess) -> u64| told.processes.iter().map(of).sum::<u64>();
    let largest = |of: fn(&ForeignProcess) -> f64| told.processes.iter().map(of).fold(0.0, f64::max);
    let (requests, failed) = (count(|it| it.requests), count(|it| it.failed));
    let why = full(told);
    let failures = [("counted as failed by ab".to_owned(), failed)];
    LoadReport {
        schema: SCHEMA.to_owned(),
        target: format!("{}{}", url.trim_end_matches('/'), load.request.path),
        protocol: "HTTP/1.0".to_owned(),
        driver: told.tool.clone(),
        plan: plan(load, processes),
        elapsed_s: largest(|it| it.elapsed_s),
        requests: RequestsReport {
            sent: requests,
            ok: requests - failed.min(requests),
            failed,
            unfinished: 0,
            not_sent: 0,
            resent: 0,
        },
        rate_per_s: RateReport {
            asked: None,
            sent: sum(|it| it.rate_per_s),
            completed: sum(completed_per_s),
        },
        response_time_ms: None,
        service_time_ms: None,
        failed_time_ms: None,
        unfinished_age_ms: None,
        not_sent_age_ms: None,
        status: BTreeMap::new(),
        failures: failures.into_iter().filter(|(_, count)| *count > 0).collect(),
        bytes: BytesReport { sent: 0, received: count(|it| it.received_bytes) },
        connections: ConnectionsReport::default(),
        generator: GeneratorReport {
            cpu_us_per_request: 1e6 * sum(|it| it.cpu_s) / requests.max(1) as f64,
            cpu_share: largest(|it| it.cpu_share),
            cpu_cores: sum(|it| it.cpu_share),
            send_lag_ms: None,
            own_lag_ms: None,
            loop_lag_ms: None,
            last_byte_seen_by: None,
            bottleneck: why.is_some(),
            why: why.clone(),
        },
        cores_busy: Vec::new(),
        warnings: why.into_iter().collect(),
        interrupted: false,
        log: None,
    }
}

/// The printed rate is of all that ended, failed ones too.
fn completed_per_s(process: &ForeignProcess) -> f64 {
    let ok = process.requests - process.failed.min(process.requests);
    process.rate_per_s * ok as f64 / process.requests.max(1) as f64
}

fn plan(load: &LoadSpec, processes: u32) -> PlanReport {
    PlanReport {
        mode: "closed".to_owned(),
        connections: load.clients(),
        threads: processes,
        rate_per_s: None,
        shape: None,
        arrivals: None,
        duration_s: load.duration_s,
        requests: load.requests,
        keep_alive: load.keep_alive,
        connect_timeout_s: TIMEOUT_S,
        request_timeout_s: TIMEOUT_S,
        seed: 0,
        lateness_s: 0.0,
        grace_s: 0.0,
        tls_resumption: None,
    }
}
