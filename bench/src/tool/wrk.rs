//! wrk 4: a closed loop. Its figures are service times: it cannot see the waiting of requests it never sent.

use crate::tool::{Call, Claim, Job, Load, Quantiles, Tool, VersionBy, number_after, time_ms, unreadable};

/// `wrk --latency`.
#[derive(Clone, Copy, Debug)]
pub struct Wrk;

impl Tool for Wrk {
    fn name(&self) -> &'static str {
        "wrk"
    }

    fn version(&self) -> VersionBy {
        VersionBy::Argument("-v")
    }

    fn call(&self, job: &Job) -> Option<Call> {
        let Load::Closed { connections, .. } = job.load else { return None };
        let seconds = job.load.seconds();
        Some(Call::of(&format!("-t1 -c{connections} -d{seconds}s --timeout 30s --latency {}", job.url)))
    }

    fn claim(&self, output: &str) -> Result<Claim, String> {
        let line = output
            .lines()
            .find(|line| line.contains(" requests in "))
            .ok_or_else(|| unreadable("wrk", "requests"))?;
        let answers = line.split_whitespace().next().and_then(|word| word.parse().ok());
        let socket_errors: f64 =
            output.lines().find(|line| line.contains("Socket errors:")).map_or(0.0, |line| {
                let kinds = ["connect", "read", "write", "timeout"];
                kinds.iter().filter_map(|kind| number_after(line, kind)).sum()
            });
        let bad_status = number_after(output, "Non-2xx or 3xx responses:").unwrap_or(0.0);
        Ok(Claim {
            answers,
            failed: Some((socket_errors + bad_status) as u64),
            times: times_of(output),
            ..Claim::default()
        })
    }
}

/// Only what stands below "Latency Distribution": the table above it has a column that ends in `%` too (+/- Stdev).
fn times_of(output: &str) -> Quantiles {
    let below = output.split_once("Latency Distribution").map_or("", |(_, below)| below);
    let at = |percent: &str| {
        below.lines().find_map(|line| time_ms(line.trim_start().strip_prefix(percent)?.trim_start()))
    };
    let max = output
        .lines()
        .find_map(|line| line.trim_start().strip_prefix("Latency "))
        .and_then(|rest| rest.split_whitespace().nth(2).and_then(time_ms));
    Quantiles { p50: at("50%"), p90: at("90%"), p99: at("99%"), max, ..Quantiles::default() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::{CLOSED, OPEN, job};

    #[test]
    fn percentiles_are_read_below_latency_distribution_only() {
        let claim = Wrk.claim(include_str!("../../tests/data/wrk.txt")).unwrap();
        assert_eq!((claim.answers, claim.failed), (Some(102_097), Some(0)));
        assert_eq!(
            (claim.times.p50, claim.times.p90, claim.times.p99),
            (Some(0.046), Some(39.32), Some(94.23))
        );
        assert_eq!((claim.times.p95, claim.times.p99_9, claim.times.max), (None, None, Some(100.32)));
    }

    #[test]
    fn its_socket_errors_and_bad_statuses_are_failures() {
        let text = "  10 requests in 1.00s, 1KB read\n  Socket errors: connect 1, read 2, write 3, timeout 4\n  \
                    Non-2xx or 3xx responses: 5\n";
        assert_eq!(Wrk.claim(text).unwrap().failed, Some(15));
    }

    #[test]
    fn it_cannot_be_asked_for_a_rate() {
        assert!(Wrk.call(&job(OPEN)).is_none());
        let line = Wrk.call(&job(CLOSED)).unwrap().args.join(" ");
        assert_eq!(line, "-t1 -c64 -d5s --timeout 30s --latency http://127.0.0.1:8080/");
    }
}
