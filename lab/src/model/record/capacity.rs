//! What the search for a capacity did: every step, and how it ended.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The search within one run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CapacitySearch {
    /// The limit in words, e.g. `p99 within 200 ms`.
    pub limit: String,
    /// The highest rate that was sustained; `None`: none was.
    pub sustained_per_s: Option<f64>,
    /// How it ended.
    pub ended: SearchEnd,
    /// What the next higher step showed, or why none was tried, in words.
    pub why: String,
    /// Every step, in the order of time.
    pub steps: Vec<CapacityStep>,
}

/// How a search ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SearchEnd {
    /// It has not ended: the run was cut short.
    #[default]
    Unfinished,
    /// Between a rate that is sustained and one that is not lies no more than the resolution.
    Found,
    /// The highest rate that may be tried is sustained: the capacity is at least that.
    Ceiling,
    /// Above the rate that is sustained the load generator was the bottleneck: the capacity is at least that rate, and
    /// nobody knows how much more.
    Generator,
    /// After a step the server answered nothing any more: it sustains the rate that is given, and how much more is not
    /// known.
    Silent,
    /// Not even a small part of the first rate is sustained.
    Nothing,
    /// The steps contradict each other for too long.
    Undecided,
}

impl CapacitySearch {
    /// The capacity, where the server and nothing else set it.
    #[must_use]
    pub fn capacity_per_s(&self) -> Option<f64> {
        self.sustained_per_s.filter(|_| self.ended == SearchEnd::Found)
    }
}

/// One rate, sent for some seconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CapacityStep {
    /// The rate that was asked for.
    pub asked_per_s: f64,
    /// Expected answers per second, with those that were still on their way at the end and no older than the limit.
    pub reached_per_s: f64,
    /// How long it lasted, in seconds.
    pub length_s: f64,
    /// Median response time, ms. Like the two below it counts requests without an answer that are older than the limit,
    /// with the age they had reached.
    pub p50_ms: Option<f64>,
    /// 99th percentile, ms.
    pub p99_ms: Option<f64>,
    /// Slowest, ms.
    pub max_ms: Option<f64>,
    /// Requests that failed.
    pub failed: u64,
    /// CPU of the server, in cores.
    pub cpu_cores: Option<f64>,
    /// CPU in use on the whole machine, in cores: the server, the generator and everything else.
    #[serde(default)]
    pub machine_cpu_cores: Option<f64>,
    /// The busiest generator thread's share of one core.
    pub generator_share: f64,
    /// What it showed.
    pub verdict: StepVerdict,
    /// Why it was not sustained, in words.
    pub why: Option<String>,
}

/// What a step showed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StepVerdict {
    /// The limit was held, the rate was reached, and the backlog did not grow.
    Sustained,
    /// One of these did not happen, and the server is the reason.
    Broken,
    /// The load generator was the bottleneck: the step says nothing about the server.
    Generator,
}
