//! The load generators: how each is called, and how the figures that it prints are read. One file per tool.

pub mod ab;
pub mod bare;
pub mod condition;
pub mod h2load;
pub mod hey;
pub mod k6;
pub mod oha;
pub mod threadcount;
pub mod toolbox;
pub mod vegeta;
pub mod wrk;

pub use condition::Condition;
pub use toolbox::Toolbox;

use crate::protocol::Protocol;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::time::Duration;
use threadcount_load::times::TimesSummary;

/// A load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Load {
    /// A closed loop with this many connections.
    Closed {
        /// Connections.
        connections: u32,
        /// How long.
        lasts: Duration,
    },
    /// An open loop with this rate per second.
    Open {
        /// Requests per second.
        rate: u32,
        /// Connections (or workers) at most.
        connections: u32,
        /// How long.
        lasts: Duration,
    },
}

impl Load {
    /// How long it sends.
    #[must_use]
    pub fn lasts(self) -> Duration {
        match self {
            Self::Closed { lasts, .. } | Self::Open { lasts, .. } => lasts,
        }
    }

    /// Over how many connections at most.
    #[must_use]
    pub fn connections(self) -> u32 {
        match self {
            Self::Closed { connections, .. } | Self::Open { connections, .. } => connections,
        }
    }

    /// The rate per connection that adds up to the requested one; `None`: not a whole number.
    /// (hey and h2load know no total.)
    #[must_use]
    pub fn rate_per_connection(self) -> Option<u32> {
        match self {
            Self::Open { rate, connections, .. } => {
                rate.is_multiple_of(connections).then_some(rate / connections)
            }
            Self::Closed { .. } => None,
        }
    }

    /// Whole seconds, at least one, for tools that know nothing smaller.
    #[must_use]
    pub fn seconds(self) -> u64 {
        self.lasts().as_secs_f64().round().max(1.0) as u64
    }
}

/// One call of a tool.
#[derive(Clone, Debug)]
pub struct Job {
    /// What to send.
    pub load: Load,
    /// The protocol and other conditions.
    pub condition: Condition,
    /// Where to.
    pub url: String,
    /// Which call of this session it is, from 1; each may use source addresses of its own.
    pub number: u32,
    /// A folder of this call's own, for its files.
    pub folder: PathBuf,
}

/// How to call a tool.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Call {
    /// The arguments.
    pub args: Vec<String>,
    /// Files to write into the job's folder before: name and content.
    pub files: Vec<(&'static str, String)>,
    /// Where the figures are: a file in the job's folder, or (`None`) standard output.
    pub figures: Option<&'static str>,
    /// A second call, not measured, that turns what the first one wrote into figures on standard output.
    pub then: Option<Vec<String>>,
}

impl Call {
    /// A call whose figures are on standard output. The words of `line` are separated by spaces.
    #[must_use]
    pub fn of(line: &str) -> Self {
        Self { args: line.split_whitespace().map(str::to_owned).collect(), ..Self::default() }
    }
}

/// What a tool reported. A figure that it does not print is `None`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Claim {
    /// Answers.
    pub answers: Option<u64>,
    /// Requests that failed, in the tool's own opinion.
    pub failed: Option<u64>,
    /// Times in milliseconds.
    pub times: Quantiles,
    /// Its own lateness: the 99th percentile of sent minus due, in milliseconds.
    pub send_lag_p99_ms: Option<f64>,
    /// Requests sent more than a millisecond late.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub late: Option<u64>,
    /// Its own warnings, e.g. that it was the bottleneck.
    pub warning: Option<String>,
}

/// Quantiles of a response time in milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names are the definition; the unit is the struct's")]
pub struct Quantiles {
    pub p50: Option<f64>,
    pub p90: Option<f64>,
    pub p95: Option<f64>,
    pub p99: Option<f64>,
    pub p99_9: Option<f64>,
    pub max: Option<f64>,
}

impl From<TimesSummary> for Quantiles {
    fn from(times: TimesSummary) -> Self {
        Self {
            p50: Some(times.p50),
            p90: Some(times.p90),
            p95: Some(times.p95),
            p99: Some(times.p99),
            p99_9: Some(times.p99_9),
            max: Some(times.max),
        }
    }
}

impl Quantiles {
    /// The figures in ascending order with their names.
    #[must_use]
    pub fn named(&self) -> [(&'static str, Option<f64>); 6] {
        let Self { p50, p90, p95, p99, p99_9, max } = *self;
        [("p50", p50), ("p90", p90), ("p95", p95), ("p99", p99), ("p99.9", p99_9), ("max", max)]
    }
}

/// A load generator.
pub trait Tool {
    /// Its name in the tables.
    fn name(&self) -> &'static str;

    /// The file name of its program.
    fn program(&self) -> &'static str {
        self.name()
    }

    /// Where it prints its version.
    fn version(&self) -> VersionBy {
        VersionBy::Argument("--version")
    }

    /// Can it speak this at all?
    fn speaks(&self, protocol: Protocol) -> bool {
        protocol == Protocol::Http1
    }

    /// The command line for this load; `None`: the tool cannot send it.
    fn call(&self, job: &Job) -> Option<Call>;

    /// A variant of another row that differs only in what it reports.
    fn only_for_truth(&self) -> bool {
        false
    }

    /// It binds its connections to ports of its own choice, which then wait a minute (TIME_WAIT) during which the kernel
    /// does not give them to other connects, on any address.
    fn occupies_ports(&self) -> bool {
        false
    }

    /// Reads its figures.
    ///
    /// # Errors
    /// A sentence, when the output is not what this version was known to print.
    fn claim(&self, output: &str) -> Result<Claim, String>;
}

/// How to find out which version a program is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VersionBy {
    /// By the first line it prints when called with this argument.
    Argument(&'static str),
    /// By the Go module's version in the program file (`go version -m`).
    GoModule(&'static str),
}

/// Every tool, ours first.
#[must_use]
pub fn all() -> Vec<Box<dyn Tool>> {
    vec![
        Box::new(threadcount::Threadcount::IoUring),
        Box::new(threadcount::Threadcount::Epoll),
        Box::new(threadcount::Threadcount::Default),
        Box::new(threadcount::Threadcount::Within1ms),
        Box::new(threadcount::Threadcount::Within9ms),
        Box::new(bare::Bare::Closed),
        Box::new(bare::Bare::Streams),
        Box::new(bare::Bare::Sleeping),
        Box::new(bare::Bare::Within1ms),
        Box::new(bare::Bare::Within10ms),
        Box::new(wrk::Wrk),
        Box::new(h2load::H2load),
        Box::new(oha::Oha { corrects: false }),
        Box::new(oha::Oha { corrects: true }),
        Box::new(hey::Hey),
        Box::new(vegeta::Vegeta),
        Box::new(k6::K6),
        Box::new(ab::Ab),
    ]
}

/// The number that follows `label` in a text (`Failed requests:        0`).
fn number_after(text: &str, label: &str) -> Option<f64> {
    let rest = text.split_once(label)?.1.trim_start();
    let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
    rest[..end].trim_end_matches('.').parse().ok()
}

/// A time with its unit, as wrk and h2load print it (`46.00us`, `100.32ms`, `1.20s`), in milliseconds.
fn time_ms(text: &str) -> Option<f64> {
    crate::span::parse(text).ok().map(|time| time.as_nanos() as f64 / 1e6)
}

/// The sentence for output that could not be read.
fn unreadable(tool: &str, what: &str) -> String {
    format!("{tool} printed no {what}: is this a version of it that we do not know?")
}

#[cfg(test)]
fn job(load: Load) -> Job {
    Job {
        load,
        condition: Condition::default(),
        url: "http://127.0.0.1:8080/".to_owned(),
        number: 7,
        folder: PathBuf::from("/tmp/job"),
    }
}

#[cfg(test)]
fn job_over(protocol: Protocol, streams: u32, load: Load) -> Job {
    Job {
        condition: Condition { protocol, streams, ..Condition::default() },
        url: format!("{}://127.0.0.1:8080/", protocol.scheme()),
        ..job(load)
    }
}

#[cfg(test)]
const CLOSED: Load = Load::Closed { connections: 64, lasts: Duration::from_secs(5) };

#[cfg(test)]
const OPEN: Load = Load::Open { rate: 2_000, connections: 500, lasts: Duration::from_secs(20) };

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tool_has_a_name_of_its_own() {
        let names: std::collections::BTreeSet<_> = all().iter().map(|tool| tool.name()).collect();
        assert_eq!(names.len(), all().len());
    }

    #[test]
    fn a_number_is_found_behind_its_label() {
        assert_eq!(
            number_after("Complete requests:      131218\nFailed", "Complete requests:"),
            Some(131_218.0)
        );
        assert_eq!(number_after("nothing", "Complete requests:"), None);
    }

    #[test]
    fn a_rate_is_shared_out_only_when_it_divides() {
        assert_eq!(OPEN.rate_per_connection(), Some(4));
        assert_eq!(
            Load::Open { rate: 5_000, connections: 64, lasts: Duration::ZERO }.rate_per_connection(),
            None
        );
        assert_eq!(CLOSED.rate_per_connection(), None);
    }

    #[test]
    fn rubbish_is_never_read_as_figures() {
        for tool in all() {
            assert!(tool.claim("Segmentation fault").is_err(), "{}", tool.name());
        }
    }
}
