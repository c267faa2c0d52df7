//! k6 with the smallest script there is. Its times begin when a virtual user is free, not when the request was due.

use crate::protocol::Protocol;
use crate::span;
use crate::tool::{Call, Claim, Job, Load, Quantiles, Tool, VersionBy, unreadable};
use serde::Deserialize;
use std::collections::BTreeMap;

/// `k6 run --summary-export`.
#[derive(Clone, Copy, Debug)]
pub struct K6;

#[derive(Deserialize)]
struct Summary {
    metrics: BTreeMap<String, BTreeMap<String, f64>>,
}

impl Tool for K6 {
    fn name(&self) -> &'static str {
        "k6"
    }

    fn version(&self) -> VersionBy {
        VersionBy::Argument("version")
    }

    /// It uses HTTP/2 where ALPN selects it, with one stream per virtual user, which has a connection of its own.
    fn speaks(&self, protocol: Protocol) -> bool {
        protocol != Protocol::H2c
    }

    fn call(&self, job: &Job) -> Option<Call> {
        if job.condition.streams > 1 {
            return None;
        }
        let file = |name: &str| job.folder.join(name).display().to_string();
        let (script, summary) = (file("script.js"), file("summary.json"));
        let call = Call::of(&format!("run --quiet --no-usage-report --summary-export={summary} {script}"));
        Some(Call { files: vec![("script.js", script_of(job))], figures: Some("summary.json"), ..call })
    }

    fn claim(&self, output: &str) -> Result<Claim, String> {
        let summary: Summary = serde_json::from_str(output).map_err(|_| unreadable("k6", "JSON"))?;
        let metric = |name: &str, key: &str| summary.metrics.get(name).and_then(|m| m.get(key)).copied();
        let at = |key: &str| metric("http_req_duration", key);
        // A rate metric counts what it is named after: here a "pass" is a failed request.
        let failed = metric("http_req_failed", "passes").unwrap_or(0.0) as u64;
        let sent = metric("http_reqs", "count").map(|n| n as u64).unwrap_or(0);
        Ok(Claim {
            answers: Some(sent.saturating_sub(failed)),
            failed: Some(failed),
            times: Quantiles {
                p50: at("p(50)"),
                p90: at("p(90)"),
                p95: at("p(95)"),
                p99: at("p(99)"),
                p99_9: at("p(99.9)"),
                max: at("max"),
            },
            ..Claim::default()
        })
    }
}

fn script_of(job: &Job) -> String {
    let lasts = span::text(job.load.lasts());
    let scenario = match job.load {
        Load::Closed { connections, .. } => {
            format!("executor: 'constant-vus', vus: {connections}, duration: '{lasts}', gracefulStop: '1s'")
        }
        Load::Open { rate, connections, .. } => format!(
            "executor: 'constant-arrival-rate', rate: {rate}, timeUnit: '1s', duration: '{lasts}', \
             preAllocatedVUs: {connections}, maxVUs: {connections}"
        ),
    };
    format!(
        "import http from 'k6/http';\n\
         export const options = {{\n  discardResponseBodies: true,\n  insecureSkipTLSVerify: true,\n  \
         summaryTrendStats: ['p(50)', 'p(90)', 'p(95)', 'p(99)', 'p(99.9)', 'max'],\n  \
         scenarios: {{ main: {{ {scenario} }} }},\n}};\n\
         export default function () {{ http.get('{}'); }}\n",
        job.url
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::{CLOSED, OPEN, job, job_over};

    #[test]
    fn its_summary_is_read_and_a_pass_of_the_failure_rate_is_a_failure() {
        let claim = K6.claim(include_str!("../../tests/data/k6.json")).unwrap();
        assert_eq!((claim.answers, claim.failed), (Some(201), Some(0)));
        assert_eq!((claim.times.p95, claim.times.max), (Some(73.829_978), Some(98.505_024)));
    }

    #[test]
    fn its_script_says_what_the_load_is() {
        assert!(script_of(&job(CLOSED)).contains("executor: 'constant-vus', vus: 64, duration: '5s'"));
        assert!(
            script_of(&job(OPEN))
                .contains("rate: 2000, timeUnit: '1s', duration: '20s', preAllocatedVUs: 500")
        );
    }

    #[test]
    fn it_verifies_no_certificate_and_cannot_be_asked_for_streams() {
        let over = |protocol, streams| K6.call(&job_over(protocol, streams, CLOSED));
        let script = over(Protocol::H2Tls, 1).unwrap().files.remove(0).1;
        assert!(script.contains("insecureSkipTLSVerify: true") && script.contains("https://127"), "{script}");
        assert!(over(Protocol::H2Tls, 16).is_none());
        assert!(!K6.speaks(Protocol::H2c) && K6.speaks(Protocol::Http1Tls));
    }
}
