//! An external load tool's figures in the form of our own generator's report, so that both are compared and judged alike.

use threadcount_load::report::{LoadReport, PlanReport, SCHEMA};
use threadcount_model::experiment::LoadSpec;
use threadcount_model::record::external::{ExternalLoad, ExternalProcess};

/// The time for which `ab` waits for an answer.
const TIMEOUT_S: f64 = 30.0;

/// The report. Figures that the tool does not report (single times, statuses, sent bytes) are null, empty or zero.
pub(super) fn load_report(load: &LoadSpec, processes: u32, url: &str, external: &ExternalLoad) -> LoadReport {
    let sum = |of: fn(&ExternalProcess) -> f64| external.processes.iter().map(of).sum::<f64>();
    let count = |of: fn(&ExternalProcess) -> u64| external.processes.iter().map(of).sum::<u64>();
    let largest = |of: fn(&ExternalProcess) -> f64| external.processes.iter().map(of).fold(0.0, f64::max);
    let (requests, failed) = (count(|it| it.requests), count(|it| it.failed));
    let failures = [("counted as failed by ab".to_owned(), failed)];
    let mut report = LoadReport::default();
    report.schema = SCHEMA.to_owned();
    report.target = format!("{}{}", url.trim_end_matches('/'), load.request.path);
    report.protocol = "HTTP/1.0".to_owned();
    report.driver = external.tool.clone();
    report.plan = plan(load, processes);
    report.elapsed_s = largest(|it| it.elapsed_s);
    report.requests.sent = requests;
    report.requests.ok = requests - failed.min(requests);
    report.requests.failed = failed;
    report.rate_per_s.sent = sum(|it| it.rate_per_s);
    report.rate_per_s.completed = sum(completed_per_s);
    report.failures = failures.into_iter().filter(|(_, count)| *count > 0).collect();
    report.bytes.received = count(|it| it.received_bytes);
    report.generator.cpu_us_per_request = 1e6 * sum(|it| it.cpu_s) / requests.max(1) as f64;
    report.generator.cpu_share = largest(|it| it.cpu_share);
    report.generator.cpu_cores = sum(|it| it.cpu_share);
    report.generator.bottleneck = external.full_processes() > 0;
    report.generator.why = why(external);
    report
}

/// The reason why the tool is the bottleneck, in the words of our own generator's report.
fn why(external: &ExternalLoad) -> Option<String> {
    let (full, all) = (external.full_processes(), external.processes.len());
    (full > 0).then(|| format!("{full} of {all} ab used a whole core, and none can use more"))
}

/// The rate of successful requests; the printed rate includes failed ones.
fn completed_per_s(process: &ExternalProcess) -> f64 {
    let ok = process.requests - process.failed.min(process.requests);
    process.rate_per_s * ok as f64 / process.requests.max(1) as f64
}

fn plan(load: &LoadSpec, processes: u32) -> PlanReport {
    let mut plan = PlanReport::default();
    plan.mode = "closed".to_owned();
    plan.connections = load.clients();
    plan.threads = processes;
    plan.duration_s = load.duration_s;
    plan.requests = load.requests;
    plan.keep_alive = load.keep_alive;
    plan.connect_timeout_s = TIMEOUT_S;
    plan.request_timeout_s = TIMEOUT_S;
    plan
}
