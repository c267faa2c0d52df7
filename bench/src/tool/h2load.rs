//! h2load of nghttp2. It verifies no certificate. It prints the extremes and the mean, but no percentile.

use crate::protocol::Protocol;
use crate::tool::{Call, Claim, Job, Load, Quantiles, Tool, number_after, time_ms, unreadable};

/// `h2load`, over HTTP/1.1 with `--h1`.
#[derive(Clone, Copy, Debug)]
pub struct H2load;

impl Tool for H2load {
    fn name(&self) -> &'static str {
        "h2load"
    }

    fn speaks(&self, _: Protocol) -> bool {
        true
    }

    fn call(&self, job: &Job) -> Option<Call> {
        let rate = match job.load {
            Load::Closed { .. } => String::new(),
            Load::Open { .. } => format!("--rps={}", job.load.rate_per_connection()?),
        };
        let (connections, seconds) = (job.load.connections(), job.load.seconds());
        let spoken = if job.condition.protocol.is_h2() {
            format!("-m{}", job.condition.streams)
        } else {
            "--h1".to_owned()
        };
        Some(Call::of(&format!("{spoken} -t1 -c{connections} -D{seconds} {rate} {}", job.url)))
    }

    fn claim(&self, output: &str) -> Result<Claim, String> {
        let requests = output.lines().find(|line| line.starts_with("requests: "));
        let requests = requests.ok_or_else(|| unreadable("h2load", "requests"))?;
        let count = |word: &str| -> Option<u64> {
            requests.split(", ").find_map(|part| part.strip_suffix(word)?.trim().parse().ok())
        };
        let max = output
            .lines()
            .find_map(|line| line.strip_prefix("time for request:"))
            .and_then(|rest| rest.split_whitespace().nth(1).and_then(time_ms));
        // Clients that could not connect only lack a progress line, so only what it counts is reported.
        let failed = number_after(output, "succeeded, ").and_then(|n| Some(n as u64 + count(" timeout")?));
        Ok(Claim {
            answers: count(" succeeded"),
            failed,
            times: Quantiles { max, ..Quantiles::default() },
            ..Claim::default()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::{CLOSED, OPEN, job, job_over};

    #[test]
    fn it_prints_a_maximum_and_no_percentile() {
        let claim = H2load.claim(include_str!("../../tests/data/h2load.txt")).unwrap();
        assert_eq!((claim.answers, claim.failed), (Some(200), Some(0)));
        assert_eq!(claim.times, Quantiles { max: Some(21.89), ..Quantiles::default() });
    }

    #[test]
    fn its_rate_is_per_connection() {
        let open = H2load.call(&job(OPEN)).unwrap().args.join(" ");
        assert_eq!(open, "--h1 -t1 -c500 -D20 --rps=4 http://127.0.0.1:8080/");
        assert_eq!(
            H2load.call(&job(CLOSED)).unwrap().args.join(" "),
            "--h1 -t1 -c64 -D5 http://127.0.0.1:8080/"
        );
    }

    #[test]
    fn http_2_is_its_default_and_streams_are_a_flag() {
        let words = |protocol| H2load.call(&job_over(protocol, 16, CLOSED)).unwrap().args.join(" ");
        assert_eq!(words(Protocol::H2c), "-m16 -t1 -c64 -D5 http://127.0.0.1:8080/");
        assert_eq!(words(Protocol::H2Tls), "-m16 -t1 -c64 -D5 https://127.0.0.1:8080/");
        assert_eq!(words(Protocol::Http1Tls), "--h1 -t1 -c64 -D5 https://127.0.0.1:8080/");
    }

    #[test]
    fn over_tls_and_http_2_it_prints_the_same_lines() {
        let claim = H2load.claim(include_str!("../../tests/data/h2load-h2.txt")).unwrap();
        assert_eq!((claim.answers, claim.failed), (Some(200_304), Some(0)));
        assert_eq!(claim.times.max, Some(7.59));
    }
}
