//! oha, with and without its `--latency-correction`.

use crate::protocol::Protocol;
use crate::span;
use crate::tool::{Call, Claim, Job, Load, Quantiles, Tool, unreadable};
use serde::Deserialize;
use std::collections::BTreeMap;

/// `oha --output-format json`.
#[derive(Clone, Copy, Debug)]
pub struct Oha {
    /// With `--latency-correction`, which counts from when a request was due.
    pub corrects: bool,
}

/// What it counts as an error although it is only the end of the run.
const ITS_OWN_DEADLINE: &str = "aborted due to deadline";

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Output {
    summary: Summary,
    latency_percentiles: BTreeMap<String, Option<f64>>,
    status_code_distribution: BTreeMap<String, u64>,
    error_distribution: BTreeMap<String, u64>,
}

#[derive(Deserialize)]
struct Summary {
    slowest: Option<f64>,
}

impl Tool for Oha {
    fn name(&self) -> &'static str {
        if self.corrects { "oha --latency-correction" } else { "oha" }
    }

    fn program(&self) -> &'static str {
        "oha"
    }

    fn speaks(&self, _: Protocol) -> bool {
        true
    }

    fn call(&self, job: &Job) -> Option<Call> {
        let rate = match job.load {
            Load::Closed { .. } if self.corrects => return None,
            Load::Closed { .. } => String::new(),
            Load::Open { rate, .. } if self.corrects => format!("-q {rate} --latency-correction"),
            Load::Open { rate, .. } => format!("-q {rate}"),
        };
        let (connections, lasts) = (job.load.connections(), span::text(job.load.lasts()));
        let tls = if job.condition.protocol.is_tls() { "--insecure" } else { "" };
        let spoken = if job.condition.protocol.is_h2() {
            format!("--http2 -p {}", job.condition.streams)
        } else {
            String::new()
        };
        Some(Call::of(&format!(
            "--no-tui --output-format json -c {connections} -z {lasts} {rate} {spoken} {tls} {}",
            job.url
        )))
    }

    fn only_for_truth(&self) -> bool {
        self.corrects
    }

    fn claim(&self, output: &str) -> Result<Claim, String> {
        let output: Output = serde_json::from_str(output).map_err(|_| unreadable("oha", "JSON"))?;
        let at = |name: &str| output.latency_percentiles.get(name).copied().flatten().map(|s| s * 1e3);
        let errors = output.error_distribution.iter().filter(|(cause, _)| *cause != ITS_OWN_DEADLINE);
        let bad = output.status_code_distribution.iter().filter(|(status, _)| *status != "200");
        Ok(Claim {
            answers: Some(output.status_code_distribution.get("200").copied().unwrap_or(0)),
            failed: Some(errors.chain(bad).map(|(_, count)| count).sum()),
            times: Quantiles {
                p50: at("p50"),
                p90: at("p90"),
                p95: at("p95"),
                p99: at("p99"),
                p99_9: at("p99.9"),
                max: output.summary.slowest.map(|s| s * 1e3),
            },
            ..Claim::default()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::{CLOSED, OPEN, job, job_over};

    #[test]
    fn its_seconds_become_milliseconds_and_its_own_deadline_is_no_failure() {
        let claim = Oha { corrects: true }.claim(include_str!("../../tests/data/oha.json")).unwrap();
        assert_eq!((claim.answers, claim.failed), (Some(199), Some(0)));
        assert!((claim.times.p95.unwrap() - 75.680).abs() < 1e-3);
        assert!((claim.times.p99_9.unwrap() - 100.076).abs() < 1e-3);
        assert!((claim.times.max.unwrap() - 100.076).abs() < 1e-3);
    }

    #[test]
    fn correction_needs_a_rate() {
        assert!(Oha { corrects: true }.call(&job(CLOSED)).is_none());
        let line = Oha { corrects: true }.call(&job(OPEN)).unwrap().args.join(" ");
        assert!(line.contains("-c 500 -z 20s -q 2000 --latency-correction"), "{line}");
    }

    #[test]
    fn streams_are_its_parallel_requests_and_certificates_are_not_verified() {
        let words =
            |protocol| Oha { corrects: false }.call(&job_over(protocol, 16, CLOSED)).unwrap().args.join(" ");
        assert!(words(Protocol::H2c).ends_with("-z 5s --http2 -p 16 http://127.0.0.1:8080/"));
        assert!(words(Protocol::H2Tls).ends_with("-z 5s --http2 -p 16 --insecure https://127.0.0.1:8080/"));
        assert!(words(Protocol::Http1Tls).ends_with("-z 5s --insecure https://127.0.0.1:8080/"));
    }
}
