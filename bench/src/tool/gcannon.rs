//! gcannon: a closed loop over io_uring, in C. It has no package in any registry.

use crate::tool::{Call, Claim, Job, Load, Quantiles, Tool, VersionBy, unreadable};
use serde::Deserialize;
use std::collections::BTreeMap;

/// `gcannon --json`, if it has been built.
#[derive(Clone, Copy, Debug)]
pub struct Gcannon;

/// Its own buffers are 4 KiB; for long responses its manual recommends larger ones.
const LARGE_BUFFER: usize = 65_536;

#[derive(Deserialize)]
struct Output {
    latency_us: BTreeMap<String, f64>,
    status: BTreeMap<String, u64>,
    errors: BTreeMap<String, u64>,
}

impl Tool for Gcannon {
    fn name(&self) -> &'static str {
        "gcannon"
    }

    fn version(&self) -> VersionBy {
        VersionBy::Nothing
    }

    fn call(&self, job: &Job) -> Option<Call> {
        let Load::Closed { connections, .. } = job.load else { return None };
        let seconds = job.load.seconds();
        let buffer =
            if job.condition.body > 4_096 { format!("--recv-buf {LARGE_BUFFER}") } else { String::new() };
        Some(Call::of(&format!("{} -c {connections} -t 1 -d {seconds}s {buffer} --json", job.url)))
    }

    fn claim(&self, output: &str) -> Result<Claim, String> {
        let output: Output = serde_json::from_str(output).map_err(|_| unreadable("gcannon", "JSON"))?;
        let at = |name: &str| output.latency_us.get(name).map(|us| us / 1e3);
        let good = output.status.get("2xx").copied().unwrap_or(0);
        let bad: u64 = output.status.values().sum::<u64>() - good + output.errors.values().sum::<u64>();
        Ok(Claim {
            answers: Some(good),
            failed: Some(bad),
            times: Quantiles {
                p50: at("p50"),
                p90: at("p90"),
                p99: at("p99"),
                p99_9: at("p999"),
                ..Quantiles::default()
            },
            ..Claim::default()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::{CLOSED, Condition, OPEN, job};

    #[test]
    fn its_microseconds_become_milliseconds_and_every_other_status_and_error_is_a_failure() {
        let claim = Gcannon.claim(include_str!("../../tests/data/gcannon.json")).unwrap();
        assert_eq!((claim.answers, claim.failed), (Some(41_191), Some(3)));
        assert_eq!(
            (claim.times.p50, claim.times.p99, claim.times.p99_9, claim.times.max),
            (Some(0.06), Some(0.155), Some(4.185), None)
        );
    }

    #[test]
    fn it_knows_no_rate_and_gets_larger_buffers_for_long_answers() {
        assert!(Gcannon.call(&job(OPEN)).is_none());
        let words = |body| {
            let job = Job { condition: Condition::with_body(body), ..job(CLOSED) };
            Gcannon.call(&job).unwrap().args.join(" ")
        };
        assert_eq!(words(13), "http://127.0.0.1:8080/ -c 64 -t 1 -d 5s --json");
        assert_eq!(words(65_536), "http://127.0.0.1:8080/ -c 64 -t 1 -d 5s --recv-buf 65536 --json");
    }
}
