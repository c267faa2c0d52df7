//! wrk2: wrk with a constant rate and times from when a request was due. It has no package in any registry.

use crate::tool::{Call, Claim, Job, Load, Tool, VersionBy, wrk};
use std::time::Duration;

/// How long it waits before it opens the next connection.
const OPENING: Duration = Duration::from_millis(5);

/// `wrk2 -R`, if it has been built.
#[derive(Clone, Copy, Debug)]
pub struct Wrk2;

impl Tool for Wrk2 {
    fn name(&self) -> &'static str {
        "wrk2"
    }

    fn version(&self) -> VersionBy {
        VersionBy::Argument("-v")
    }

    fn call(&self, job: &Job) -> Option<Call> {
        // It opens a connection every 5 ms: within a short load most of them would never be open.
        let opening = OPENING * job.load.connections();
        if matches!(job.load, Load::Closed { .. }) && opening * 2 > job.load.lasts() {
            return None;
        }
        // It needs a rate; an unreachable one makes it a closed loop.
        let rate = match job.load {
            Load::Closed { .. } => 10_000_000,
            Load::Open { rate, .. } => rate,
        };
        let (connections, seconds) = (job.load.connections(), job.load.seconds());
        Some(Call::of(&format!(
            "-t1 -c{connections} -d{seconds}s -R{rate} --timeout 30s --latency {}",
            job.url
        )))
    }

    fn claim(&self, output: &str) -> Result<Claim, String> {
        wrk::claim_of("wrk2", output)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::{OPEN, job};

    #[test]
    fn its_finer_percentiles_and_their_100_are_read() {
        let text = "  Latency Distribution (HdrHistogram - Recorded Latency)\n 50.000%    1.05ms\n 90.000%    2.00ms\n \
                    99.000%  192.00ms\n 99.900%  250.11ms\n100.000%  252.00ms\n  40000 requests in 20.00s, 3MB read\n";
        let times = Wrk2.claim(text).unwrap().times;
        assert_eq!(
            (times.p50, times.p99, times.p99_9, times.max),
            (Some(1.05), Some(192.0), Some(250.11), Some(252.0))
        );
    }

    #[test]
    fn the_rate_is_the_total() {
        assert!(Wrk2.call(&job(OPEN)).unwrap().args.contains(&"-R2000".to_owned()));
    }

    #[test]
    fn a_closed_loop_that_would_end_before_its_connections_are_open_is_not_asked_of_it() {
        let closed =
            |connections| Wrk2.call(&job(Load::Closed { connections, lasts: Duration::from_secs(2) }));
        assert!(closed(64).is_some() && closed(1_000).is_none());
    }
}
