//! What a comparison found, as it is kept: `docs/measurements/benchmarks.json`, of which `docs/measurements/benchmarks.md` is a view.

use crate::compare::machine::Machine;
use crate::compare::sizes::{EVERY, TRUTH_RATE};
use crate::compare::stats::{median, median_interval, range};
use crate::protocol::Protocol;
use crate::tool::{Claim, Condition, Load, Quantiles, bare};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The name and version of the document.
pub const SCHEMA: &str = "threadcount/bench/1";

/// A whole comparison.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
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
    /// Tools with their versions.
    pub tools: Vec<(String, String)>,
    /// Missing tools, with the reason.
    pub missing: Vec<(String, String)>,
    /// Closed loops: with 64 connections and 13-byte responses of every tool, and with more connections and longer responses.
    pub cost: Vec<Row>,
    /// Open loop at 5,000/s.
    pub open: Vec<Row>,
    /// What a correct generator reports about the truth server.
    pub analytic: Quantiles,
    /// The report of each tool about it.
    pub truth: Vec<Row>,
    /// 1,000 connections and more against a server that takes 300 ms.
    pub memory: Vec<Row>,
    /// HTTP/1.1 over TLS.
    pub tls: ProtocolRows,
    /// HTTP/2, in the clear and over TLS.
    pub h2: ProtocolRows,
    /// Ours on one thread and on two.
    pub threads: Vec<Row>,
    /// When and how each part was measured, by its name on the command line.
    pub measured: BTreeMap<String, Circumstances>,
    /// How long all of it took, in seconds.
    pub took_s: f64,
}

/// What was measured over other protocols than HTTP/1.1 in the clear.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ProtocolRows {
    /// The version of nginx.
    pub server: String,
    /// Closed loops.
    pub cost: Vec<Row>,
    /// The report of each tool about the truth server.
    pub truth: Vec<Row>,
    /// 1,000 connections against a server that takes 300 ms.
    pub memory: Vec<Row>,
}

/// The circumstances under which a part was measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Circumstances {
    /// The day (UTC).
    pub date: String,
    /// The exact command.
    pub command: String,
    /// Quick sizes.
    pub quick: bool,
    /// How long this part took, in seconds; `None`: only the whole was timed.
    pub took_s: Option<f64>,
    /// How many cores were busy before.
    pub busy_before: Option<f64>,
}

/// One tool under one load, all its runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Its name.
    pub tool: String,
    /// Requested connections.
    pub connections: u32,
    /// The load was a closed loop.
    pub closed: bool,
    /// What it was sent over.
    pub condition: Condition,
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
    /// Responses per second, by the server, from the first request to the last response.
    pub rate_per_s: f64,
    /// CPU time of the client process (wait4) per response that the server wrote.
    pub cpu_us_per_request: Option<f64>,
    /// The most memory the client process had resident.
    pub peak_rss_mib: f64,
    /// The report of the tool.
    pub claim: Option<Claim>,
    /// Time from reading a request to writing its response, in milliseconds; of servers with known times.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub held_ms: Option<Quantiles>,
    /// How late its requests arrived at the server against the even schedule, in milliseconds; of open loops.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lateness_ms: Option<Quantiles>,
    /// What went wrong.
    pub trouble: Option<String>,
}

impl Comparison {
    /// Tools and missing tools of this call; those of earlier calls stay.
    pub fn took_part(&mut self, tools: Vec<(String, String)>, missing: Vec<(String, String)>) {
        let is_new = |name: &String| tools.iter().chain(&missing).any(|(new, _)| new == name);
        self.tools.retain(|(name, _)| !is_new(name));
        self.missing.retain(|(name, _)| !is_new(name));
        self.tools.splice(0..0, tools);
        self.missing.splice(0..0, missing);
    }

    /// Every row of every table.
    pub fn rows(&self) -> impl Iterator<Item = &Row> {
        let protocols = [&self.tls, &self.h2];
        let own = [&self.cost, &self.open, &self.truth, &self.threads, &self.memory];
        let protocols = protocols.into_iter().flat_map(|rows| [&rows.cost, &rows.truth, &rows.memory]);
        own.into_iter().chain(protocols).flatten()
    }

    /// Lateness caused by the machine, for the truth server; `None`: not measured.
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
    pub fn new(tool: &str, load: Load, condition: Condition, command: String) -> Self {
        Self {
            tool: tool.to_owned(),
            connections: load.connections(),
            closed: matches!(load, Load::Closed { .. }),
            condition,
            command,
            runs: Vec::new(),
        }
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

    /// Median of a figure of the lateness that the server measured.
    #[must_use]
    pub fn lateness(&self, of: impl Fn(&Quantiles) -> Option<f64>) -> Option<f64> {
        median(&self.figures(|run| run.lateness_ms.as_ref().and_then(&of)))
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

/// The rows of these that were measured over `protocol`.
#[must_use]
pub fn over(rows: &[Row], protocol: Protocol) -> Vec<Row> {
    rows.iter().filter(|row| row.condition.protocol == protocol).cloned().collect()
}

/// The rows with this number of connections, streams per connection, and response length.
#[must_use]
pub fn with(rows: &[Row], connections: u32, streams: u32, body: usize) -> Vec<Row> {
    let fits = |row: &&Row| {
        (row.connections, row.condition.streams, row.condition.body) == (connections, streams, body)
    };
    rows.iter().filter(fits).cloned().collect()
}

/// A tool's row in a table.
#[must_use]
pub fn row<'a>(rows: &'a [Row], tool: &str) -> Option<&'a Row> {
    rows.iter().find(|row| row.tool == tool)
}

/// What one tool costs per request, as a share of another's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CostRatio {
    /// The median over the rounds of their ratios, since what the machine does meanwhile is in both. Where a round lacks one of
    /// the tools, the ratio of the medians.
    pub median: f64,
    /// Of 95 %; `None`: too few rounds.
    pub interval: Option<(f64, f64)>,
}

/// What the tool `a` costs per request, as a share of what `b` costs.
#[must_use]
pub fn cost_ratio(rows: &[Row], a: &str, b: &str) -> Option<CostRatio> {
    let (a, b) = (row(rows, a)?, row(rows, b)?);
    let pairs = a.runs.iter().zip(&b.runs).map(|(a, b)| Some(a.cpu_us_per_request? / b.cpu_us_per_request?));
    match pairs.collect::<Option<Vec<f64>>>() {
        Some(ratios) if a.runs.len() == b.runs.len() => {
            Some(CostRatio { median: median(&ratios)?, interval: median_interval(&ratios) })
        }
        _ => Some(CostRatio { median: a.cpu_us()? / b.cpu_us()?, interval: None }),
    }
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
            condition: Condition::default(),
            command: format!("{tool} http://127.0.0.1:1/"),
            runs: us.iter().map(run).collect(),
        }
    }

    /// An open loop's row whose requests arrived so late at p99.
    pub fn late(mut row: Row, p99_ms: f64) -> Row {
        row.closed = false;
        for run in &mut row.runs {
            run.lateness_ms =
                Some(Quantiles { p50: Some(p99_ms / 2.0), p99: Some(p99_ms), ..Quantiles::default() });
        }
        row
    }

    #[test]
    fn a_ratio_is_the_median_of_those_within_the_rounds() {
        // The second round was slow for both.
        let rows = [costing("a", &[3.9, 7.0, 99.0, 3.5, 3.4]), costing("b", &[5.2, 10.0, 5.0, 5.0, 5.0])];
        let share = |rows: &[Row], b: &str| cost_ratio(rows, "a", b).map(|ratio| ratio.median);
        assert_eq!(share(&rows, "b"), Some(0.7));
        let one_failed = [costing("a", &[3.9, 3.5, 99.0]), costing("b", &[5.2, 5.0])];
        assert_eq!(share(&one_failed, "b"), Some(3.9 / 5.1));
        assert_eq!(share(&rows, "c"), None);
        assert_eq!(cost_ratio(&rows, "a", "b").and_then(|ratio| ratio.interval), None, "five rounds");
    }

    #[test]
    fn true_is_within_two_percent_or_a_millisecond() {
        assert!(is_true(0.9, 0.0) && is_true(101.9, 100.0) && is_true(204.0, 200.0));
        assert!(!is_true(1.1, 0.0) && !is_true(104.9, 100.0) && !is_true(1.7, 100.0));
    }

    #[test]
    fn a_tool_that_is_here_now_is_missing_no_longer_and_others_stay_as_they_were() {
        let pair = |name: &str, text: &str| (name.to_owned(), text.to_owned());
        let mut comparison = Comparison {
            tools: vec![pair("wrk", "4.0"), pair("hey", "0.1")],
            missing: vec![pair("ab", "not installed"), pair("k6", "not installed")],
            ..Comparison::default()
        };
        comparison.took_part(vec![pair("wrk", "4.1"), pair("ab", "2.3")], Vec::new());
        assert_eq!(comparison.tools, [pair("wrk", "4.1"), pair("ab", "2.3"), pair("hey", "0.1")]);
        assert_eq!(comparison.missing, [pair("k6", "not installed")]);
    }
}
