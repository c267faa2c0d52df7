//! Ours: with either driver, with the one it chooses, and with a lateness it was allowed.

use crate::protocol::Protocol;
use crate::span;
use crate::tool::{Call, Claim, Job, Load, Quantiles, Tool, unreadable};
use threadcount_load::report::LoadReport;

/// `threadcount load`.
#[derive(Clone, Copy, Debug)]
pub enum Threadcount {
    /// Over io_uring.
    IoUring,
    /// Over epoll.
    Epoll,
    /// As it is without flags: what it chooses over TLS and HTTP/2.
    Default,
    /// An open loop that may send a millisecond late, so that it wakes less often.
    Within1ms,
    /// One that may send nine milliseconds late: then its requests arrive as late as those of h2load, which sends every ten.
    Within9ms,
}

impl Threadcount {
    /// The file name of the program.
    pub const PROGRAM: &'static str = "threadcount";
    /// The name of the io_uring row, which the others are compared with.
    pub const IO_URING: &'static str = "threadcount (io_uring)";
    /// The name of the epoll row.
    pub const EPOLL: &'static str = "threadcount (epoll)";
    /// The name of the row without a driver.
    pub const DEFAULT: &'static str = "threadcount";
    /// The name of the row that may be a millisecond late.
    pub const WITHIN_1_MS: &'static str = "threadcount --lateness 1ms";
    /// The name of the row that may be nine milliseconds late.
    pub const WITHIN_9_MS: &'static str = "threadcount --lateness 9ms";
}

impl Tool for Threadcount {
    fn name(&self) -> &'static str {
        match self {
            Self::IoUring => Self::IO_URING,
            Self::Epoll => Self::EPOLL,
            Self::Default => Self::DEFAULT,
            Self::Within1ms => Self::WITHIN_1_MS,
            Self::Within9ms => Self::WITHIN_9_MS,
        }
    }

    fn program(&self) -> &'static str {
        Self::PROGRAM
    }

    fn speaks(&self, protocol: Protocol) -> bool {
        // A driver of its own choice is all that TLS and HTTP/2 have.
        match self {
            Self::Default => true,
            _ => protocol == Protocol::Http1,
        }
    }

    fn call(&self, job: &Job) -> Option<Call> {
        let own = match self {
            Self::IoUring => "--driver io_uring",
            Self::Epoll => "--driver epoll",
            Self::Default => "",
            Self::Within1ms => "--lateness 1ms",
            Self::Within9ms => "--lateness 9ms",
        };
        let rate = match job.load {
            Load::Closed { .. } if matches!(self, Self::Within1ms | Self::Within9ms) => return None,
            Load::Closed { .. } => String::new(),
            Load::Open { rate, .. } => format!("-r {rate}/s"),
        };
        let condition = job.condition;
        let ends = condition.requests.map_or_else(
            || format!("-d {}", span::text(job.load.lasts())),
            |requests| format!("-n {requests}"),
        );
        let tls = if condition.protocol.is_tls() { "--insecure" } else { "" };
        let spoken = match condition.protocol {
            Protocol::Http1 => String::new(),
            Protocol::Http1Tls => "--http1.1".to_owned(),
            Protocol::H2c | Protocol::H2Tls => format!("--http2 --streams {}", condition.streams),
        };
        let (connections, threads) = (job.load.connections(), condition.threads);
        Some(Call::of(&format!(
            "load {} -c {connections} {ends} {rate} {spoken} {tls} --threads {threads} {own} --json",
            job.url
        )))
    }

    fn claim(&self, output: &str) -> Result<Claim, String> {
        let report: LoadReport = serde_json::from_str(output)
            .map_err(|error| format!("{}: {error}", unreadable("threadcount", "report")))?;
        let times = report.response_time_ms.map(Quantiles::from).unwrap_or_default();
        Ok(Claim {
            answers: Some(report.requests.ok),
            failed: Some(report.requests.failed),
            times,
            send_lag_p99_ms: report.generator.send_lag_ms.map(|lag| lag.p99),
            late: None,
            warning: report.generator.why,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::{CLOSED, Condition, OPEN, job, job_over};

    #[test]
    fn it_is_called_by_the_contract() {
        let closed = Threadcount::IoUring.call(&job(CLOSED)).unwrap().args.join(" ");
        assert_eq!(closed, "load http://127.0.0.1:8080/ -c 64 -d 5s --threads 1 --driver io_uring --json");
        let open = Threadcount::Epoll.call(&job(OPEN)).unwrap().args.join(" ");
        assert_eq!(
            open,
            "load http://127.0.0.1:8080/ -c 500 -d 20s -r 2000/s --threads 1 --driver epoll --json"
        );
    }

    #[test]
    fn response_times_are_read_not_service_times() {
        let claim = Threadcount::IoUring.claim(include_str!("../../tests/data/threadcount.json")).unwrap();
        assert_eq!((claim.answers, claim.failed), (Some(200), Some(0)));
        assert_eq!((claim.times.p50, claim.times.max), (Some(0.296959), Some(97.058815)));
        assert_eq!(claim.send_lag_p99_ms, Some(18.333695));
    }

    #[test]
    fn protocols_streams_and_lateness_are_flags() {
        let words = |tool: Threadcount, job: Job| tool.call(&job).map(|call| call.args.join(" "));
        assert_eq!(
            words(Threadcount::Default, job_over(Protocol::H2Tls, 16, CLOSED)).unwrap(),
            "load https://127.0.0.1:8080/ -c 64 -d 5s --http2 --streams 16 --insecure --threads 1 --json"
        );
        assert_eq!(
            words(Threadcount::Default, job_over(Protocol::Http1Tls, 1, CLOSED)).unwrap(),
            "load https://127.0.0.1:8080/ -c 64 -d 5s --http1.1 --insecure --threads 1 --json"
        );
        assert_eq!(
            words(Threadcount::Within1ms, job(OPEN)).unwrap(),
            "load http://127.0.0.1:8080/ -c 500 -d 20s -r 2000/s --threads 1 --lateness 1ms --json"
        );
        assert_eq!(words(Threadcount::Within1ms, job(CLOSED)), None, "a closed loop is never late");
    }

    #[test]
    fn a_number_of_requests_takes_the_place_of_a_time() {
        let condition = Condition { threads: 2, requests: Some(1_200), ..Condition::default() };
        let call = Threadcount::Default.call(&Job { condition, ..job(CLOSED) }).unwrap();
        assert_eq!(call.args.join(" "), "load http://127.0.0.1:8080/ -c 64 -n 1200 --threads 2 --json");
    }
}
