//! What a comparison found, as it is kept: `docs/benchmarks.json`, of which `docs/benchmarks.md` is a view.

use crate::compare::machine::Machine;
use crate::compare::sizes::{EVERY, TRUTH_RATE};
use crate::compare::stats::{median, range};
use crate::tool::{Claim, Load, Quantiles, bare};
use serde::{Deserialize, Serialize};

/// The name and version of the document.
pub const SCHEMA: &str = "threadcount/bench/1";

/// A whole comparison.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// [`SCHEMA`].
    pub schema: String,
    /// The day (UTC).
    pub date: String,
    /// The exact command.
    pub command: String,
    /// Quick sizes: good to see that it works, not to quote.
    pub quick: bool,
    /// Where.
    pub machine: Machine,
    /// The core the server was pinned to.
    pub server_core: usize,
    /// The core each client was pinned to.
    pub client_core: usize,
    /// Who took part: name and version.
    pub tools: Vec<(String, String)>,
    /// Who did not, and why.
    pub missing: Vec<(String, String)>,
    /// Closed loop, 64 connections.
    pub cost: Vec<Row>,
    /// Open loop at 5,000/s.
    pub open: Vec<Row>,
    /// What a true generator must say about the truth server.
    pub analytic: Quantiles,
    /// What each said about it.
    pub truth: Vec<Row>,
    /// 1,000 connections and more against a server that takes 300 ms.
    pub memory: Vec<Row>,
    /// How long all of it took, in seconds.
    pub took_s: f64,
}

/// One tool under one load, all its runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Its name.
    pub tool: String,
    /// Connections asked for.
    pub connections: u32,
    /// It was asked for a closed loop.
    pub closed: bool,
    /// The command line of its first run.
    pub command: String,
    /// In the order they were made.
    pub runs: Vec<Run>,
}

/// One run of one tool.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// Answers the server wrote.
    pub answers: u64,
    /// The most connections that the server saw open at once.
    pub connections: u64,
    /// Answers per second, as the server saw them from the first request to the last answer.
    pub rate_per_s: f64,
    /// CPU time of the client process (wait4) per answer that the server wrote.
    pub cpu_us_per_request: Option<f64>,
    /// The most memory the client process had resident.
    pub peak_rss_mib: f64,
    /// What it said itself.
    pub claim: Option<Claim>,
    /// How long the server had the requests, in milliseconds; of servers that answer at known times.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held_ms: Option<Quantiles>,
    /// What went wrong.
    pub trouble: Option<String>,
}

impl Comparison {
    /// How late the machine lets anybody be for the truth server; `None`: nobody counted.
    #[must_use]
    pub fn machine_lateness(&self) -> Option<MachineLateness> {
        let run = row(&self.truth, bare::SLEEPING)?.runs.first()?;
        let late = run.claim.as_ref()?.late?;
        let periods = (run.answers as f64 / (f64::from(TRUTH_RATE) * EVERY.as_secs_f64())).round();
        let per_ms = periods * f64::from(TRUTH_RATE) / 1e3;
        let p90_ms = late as f64 / per_ms;
        (periods > 0.0).then_some(MachineLateness { requests: run.answers, late, p90_ms })
    }
}

/// What a loop that only sleeps and sends shows of the machine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MachineLateness {
    /// Requests that were due.
    pub requests: u64,
    /// Those of them that left more than a millisecond late.
    pub late: u64,
    /// What that alone makes of the truth server's p90, which is truly 0 and lies exactly where the waiting begins: every
    /// request that is held up pushes one with a known wait below it, and those lie as close together as the requests.
    pub p90_ms: f64,
}

impl Row {
    /// A row without runs.
    #[must_use]
    pub fn new(tool: &str, load: Load, command: String) -> Self {
        let closed = matches!(load, Load::Closed { .. });
        Self { tool: tool.to_owned(), connections: load.connections(), closed, command, runs: Vec::new() }
    }

    fn figures(&self, of: impl Fn(&Run) -> Option<f64>) -> Vec<f64> {
        self.runs.iter().filter_map(of).collect()
    }

    /// Median CPU time per request in microseconds.
    #[must_use]
    pub fn cpu_us(&self) -> Option<f64> {
        median(&self.figures(|run| run.cpu_us_per_request))
    }

    /// The cheapest and the dearest run in microseconds per request.
    #[must_use]
    pub fn cpu_range_us(&self) -> Option<(f64, f64)> {
        range(&self.figures(|run| run.cpu_us_per_request))
    }

    /// Median rate the server saw.
    #[must_use]
    pub fn rate_per_s(&self) -> Option<f64> {
        median(&self.figures(|run| Some(run.rate_per_s)))
    }

    /// The most connections that the server saw open at once.
    #[must_use]
    pub fn connections_seen(&self) -> Option<f64> {
        range(&self.figures(|run| Some(run.connections as f64))).map(|(_, most)| most)
    }

    /// The largest peak memory in MiB.
    #[must_use]
    pub fn peak_rss_mib(&self) -> Option<f64> {
        range(&self.figures(|run| Some(run.peak_rss_mib))).map(|(_, most)| most)
    }

    /// Median of a figure that the tool claims.
    #[must_use]
    pub fn claimed(&self, of: impl Fn(&Claim) -> Option<f64>) -> Option<f64> {
        median(&self.figures(|run| run.claim.as_ref().and_then(&of)))
    }

    /// The most failures it reported in a run.
    #[must_use]
    pub fn failed(&self) -> Option<f64> {
        range(&self.figures(|run| run.claim.as_ref()?.failed.map(|n| n as f64))).map(|(_, most)| most)
    }

    /// The first thing that went wrong.
    #[must_use]
    pub fn trouble(&self) -> Option<&str> {
        self.runs.iter().find_map(|run| run.trouble.as_deref())
    }
}

/// A tool's row in a table.
#[must_use]
pub fn row<'a>(rows: &'a [Row], tool: &str) -> Option<&'a Row> {
    rows.iter().find(|row| row.tool == tool)
}

/// What the tool `a` costs per request, as a share of what `b` costs: medians.
#[must_use]
pub fn cost_ratio(rows: &[Row], a: &str, b: &str) -> Option<f64> {
    Some(row(rows, a)?.cpu_us()? / row(rows, b)?.cpu_us()?)
}

/// Is a figure within 2 % or 1 ms of the truth?
#[must_use]
pub fn is_true(said_ms: f64, truth_ms: f64) -> bool {
    let off = (said_ms - truth_ms).abs();
    off <= 1.0 || off <= 0.02 * truth_ms
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A row whose runs cost this many microseconds per request.
    pub fn costing(tool: &str, us: &[f64]) -> Row {
        let run = |&us: &f64| Run { cpu_us_per_request: Some(us), rate_per_s: 1e6 / us, ..Run::default() };
        Row {
            tool: tool.to_owned(),
            connections: 64,
            closed: true,
            command: format!("{tool} http://127.0.0.1:1/"),
            runs: us.iter().map(run).collect(),
        }
    }

    #[test]
    fn a_ratio_is_of_medians() {
        let rows = [costing("a", &[3.9, 3.5, 99.0]), costing("b", &[5.2, 5.0, 5.0])];
        assert_eq!(cost_ratio(&rows, "a", "b"), Some(3.9 / 5.0));
        assert_eq!(cost_ratio(&rows, "a", "c"), None);
    }

    #[test]
    fn true_is_within_two_percent_or_a_millisecond() {
        assert!(is_true(0.9, 0.0) && is_true(101.9, 100.0) && is_true(204.0, 200.0));
        assert!(!is_true(1.1, 0.0) && !is_true(104.9, 100.0) && !is_true(1.7, 100.0));
    }
}
