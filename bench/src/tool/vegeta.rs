//! vegeta 12. It binds a port exclusively for each connection, so every call gets a source address of its own.

use crate::span;
use crate::tool::{Call, Claim, Job, Load, Quantiles, Tool, VersionBy, unreadable};
use serde::Deserialize;
use std::collections::BTreeMap;

/// `vegeta attack`, then `vegeta report -type=json`, which is not counted as its cost.
#[derive(Clone, Copy, Debug)]
pub struct Vegeta;

#[derive(Deserialize)]
struct Report {
    latencies: BTreeMap<String, f64>,
    requests: u64,
    status_codes: BTreeMap<String, u64>,
}

impl Tool for Vegeta {
    fn name(&self) -> &'static str {
        "vegeta"
    }

    fn version(&self) -> VersionBy {
        VersionBy::GoModule("github.com/tsenart/vegeta/v12")
    }

    fn call(&self, job: &Job) -> Option<Call> {
        let pace = match job.load {
            Load::Closed { connections, .. } => {
                format!("-rate=0 -workers={connections} -max-workers={connections}")
            }
            Load::Open { rate, .. } => format!("-rate={rate}/s"),
        };
        let (connections, lasts) = (job.load.connections(), span::text(job.load.lasts()));
        let source = format!("127.0.{}.{}", 1 + job.number / 250, 1 + job.number % 250);
        let file = |name: &str| job.folder.join(name).display().to_string();
        let (targets, results) = (file("targets"), file("results"));
        let call = Call::of(&format!(
            "attack {pace} -connections={connections} -duration={lasts} -laddr={source} -targets={targets} \
             -output={results}"
        ));
        Some(Call {
            files: vec![("targets", format!("GET {}\n", job.url))],
            then: Some(vec!["report".to_owned(), "-type=json".to_owned(), results]),
            ..call
        })
    }

    fn occupies_ports(&self) -> bool {
        true
    }

    fn claim(&self, output: &str) -> Result<Claim, String> {
        let report: Report = serde_json::from_str(output).map_err(|_| unreadable("vegeta", "JSON"))?;
        let at = |name: &str| report.latencies.get(name).map(|ns| ns / 1e6);
        let good = report.status_codes.get("200").copied().unwrap_or(0);
        Ok(Claim {
            answers: Some(good),
            failed: Some(report.requests - good),
            times: Quantiles {
                p50: at("50th"),
                p90: at("90th"),
                p95: at("95th"),
                p99: at("99th"),
                p99_9: None,
                max: at("max"),
            },
            ..Claim::default()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::{CLOSED, OPEN, job};

    #[test]
    fn its_bare_nanoseconds_become_milliseconds() {
        let claim = Vegeta.claim(include_str!("../../tests/data/vegeta.json")).unwrap();
        assert_eq!((claim.answers, claim.failed), (Some(200), Some(0)));
        assert_eq!((claim.times.p95, claim.times.max), (Some(73.886_575), Some(96.370_338)));
    }

    #[test]
    fn each_call_has_a_source_address_of_its_own() {
        let source = |number| {
            let args = Vegeta.call(&Job { number, ..job(OPEN) }).unwrap().args;
            args.into_iter().find(|a| a.starts_with("-laddr=")).unwrap()
        };
        let all: std::collections::BTreeSet<_> = (1..=1_000).map(source).collect();
        assert_eq!(all.len(), 1_000);
    }

    #[test]
    fn as_fast_as_possible_means_as_many_workers_as_connections() {
        let line = Vegeta.call(&job(CLOSED)).unwrap().args.join(" ");
        assert!(
            line.starts_with("attack -rate=0 -workers=64 -max-workers=64 -connections=64 -duration=5s"),
            "{line}"
        );
    }
}
