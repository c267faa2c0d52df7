//! What the search for a capacity did: every step, and how it ended.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The search within one run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CapacitySearch {
    /// The highest rate that was sustained; `None`: none was.
    pub sustained_per_s: Option<f64>,
    /// How it ended.
    pub ended: SearchEnd,
    /// The last line of the server's log that looks like trouble.
    #[serde(default)]
    pub log_trouble: Option<String>,
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
    /// Above the rate that is sustained the load generator was the bottleneck: the capacity is at least that rate.
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
    /// Why it was not sustained.
    pub why: Option<StepFailure>,
}

/// Why a step was not sustained.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the fields are the figures of the reason")]
pub enum StepFailure {
    /// More requests failed than may; the cause is the most frequent one.
    RequestsFailed { failed: u64, sent: u64, cause: Option<String> },
    /// The limited response time was longer than the limit.
    LimitExceeded { time_ms: f64 },
    /// No request had a response.
    NoResponse,
    /// The rate was not reached.
    RateMissed { reached_per_s: f64, asked_per_s: f64 },
    /// More requests waited at the end than at half time.
    BacklogGrew { requests: f64 },
    /// A thread of the load generator had no CPU left.
    GeneratorBusy { cpu_share: f64 },
    /// The load generator sent late although a connection was free.
    GeneratorLate { send_lag_p99_ms: f64 },
    /// In the words of an earlier version.
    #[serde(untagged)]
    Text(String),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reasons_of_an_earlier_version_are_read() {
        let old = r#"{"limit":"p99 within 200 ms","sustained_per_s":1000.0,"ended":"found","why":"at 1050/s p99 was 201 ms",
            "steps":[{"asked_per_s":1050.0,"reached_per_s":1040.0,"length_s":3.0,"p50_ms":null,"p99_ms":201.0,"max_ms":null,
            "failed":0,"cpu_cores":null,"generator_share":0.1,"verdict":"broken","why":"p99 was 201 ms"}]}"#;
        let search: CapacitySearch = serde_json::from_str(old).unwrap();
        assert_eq!(search.steps[0].why, Some(StepFailure::Text("p99 was 201 ms".to_owned())));
        let typed = StepFailure::LimitExceeded { time_ms: 201.0 };
        let json = serde_json::to_string(&typed).unwrap();
        assert_eq!(json, r#"{"kind":"limit-exceeded","time_ms":201.0}"#);
        assert_eq!(serde_json::from_str::<StepFailure>(&json).unwrap(), typed);
    }
}
