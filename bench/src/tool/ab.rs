//! ApacheBench: a closed loop over HTTP/1.0 with keep-alive. Its percentiles are whole milliseconds.

use crate::tool::{Call, Claim, Job, Load, Quantiles, Tool, VersionBy, number_after, unreadable};

/// `ab -k`.
#[derive(Clone, Copy, Debug)]
pub struct Ab;

/// More than it can send in the time; without it `-t` stops at 50,000.
const ENOUGH: u32 = 20_000_000;
/// It allows no more connections.
const MOST_CONNECTIONS: u32 = 20_000;

impl Tool for Ab {
    fn name(&self) -> &'static str {
        "ab"
    }

    fn version(&self) -> VersionBy {
        VersionBy::Argument("-V")
    }

    fn call(&self, job: &Job) -> Option<Call> {
        let Load::Closed { connections, .. } = job.load else { return None };
        let seconds = job.load.seconds();
        let call = Call::of(&format!("-q -k -c {connections} -t {seconds} -n {ENOUGH} {}", job.url));
        (connections <= MOST_CONNECTIONS).then_some(call)
    }

    fn claim(&self, output: &str) -> Result<Claim, String> {
        let answers =
            number_after(output, "Complete requests:").ok_or_else(|| unreadable("ab", "requests"))?;
        let at = |percent: u32| {
            let line = output.lines().find(|line| line.trim_start().starts_with(&format!("{percent}%")))?;
            number_after(line, "%")
        };
        Ok(Claim {
            answers: Some(answers as u64),
            failed: number_after(output, "Failed requests:").map(|n| n as u64),
            times: Quantiles {
                p50: at(50),
                p90: at(90),
                p95: at(95),
                p99: at(99),
                p99_9: None,
                max: at(100),
            },
            ..Claim::default()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn its_table_is_read() {
        let claim = Ab.claim(include_str!("../../tests/data/ab.txt")).unwrap();
        assert_eq!((claim.answers, claim.failed), (Some(131_218), Some(0)));
        assert_eq!((claim.times.p50, claim.times.p99, claim.times.max), (Some(0.0), Some(0.0), Some(100.0)));
    }
}
