//! Ours, with either driver.

use crate::span;
use crate::tool::{Call, Claim, Job, Load, Quantiles, Tool, VersionBy, unreadable};
use threadcount_load::report::LoadReport;

/// `threadcount load` with a driver.
#[derive(Clone, Copy, Debug)]
pub enum Threadcount {
    /// Over io_uring.
    IoUring,
    /// Over epoll.
    Epoll,
}

impl Threadcount {
    /// The file name of the program.
    pub const PROGRAM: &'static str = "threadcount";
    /// The name of the io_uring row, which the others are compared with.
    pub const IO_URING: &'static str = "threadcount (io_uring)";
    /// The name of the epoll row.
    pub const EPOLL: &'static str = "threadcount (epoll)";
}

impl Tool for Threadcount {
    fn name(&self) -> &'static str {
        match self {
            Self::IoUring => Self::IO_URING,
            Self::Epoll => Self::EPOLL,
        }
    }

    fn program(&self) -> &'static str {
        Self::PROGRAM
    }

    fn version(&self) -> VersionBy {
        VersionBy::Argument("--version")
    }

    fn call(&self, job: &Job) -> Option<Call> {
        let driver = match self {
            Self::IoUring => "io_uring",
            Self::Epoll => "epoll",
        };
        let rate = match job.load {
            Load::Closed { .. } => String::new(),
            Load::Open { rate, .. } => format!("-r {rate}/s"),
        };
        let (connections, lasts) = (job.load.connections(), span::text(job.load.lasts()));
        Some(Call::of(&format!(
            "load {} -c {connections} -d {lasts} {rate} --threads 1 --driver {driver} --json",
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
    use crate::tool::{CLOSED, OPEN, job};

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
}
