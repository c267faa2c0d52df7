//! The search for a capacity: every step, and how it ended.

use super::BackendFigures;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The search within one run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CapacitySearch {
    /// The highest sustained rate.
    pub sustained_per_s: Option<f64>,
    pub ended: SearchEnd,
    /// The last line of the server's log with an error or a warning.
    pub log_trouble: Option<String>,
    /// Every step, in the order of time.
    pub steps: Vec<CapacityStep>,
}

/// How a search ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SearchEnd {
    /// The run was cut short.
    #[default]
    Unfinished,
    /// The gap between the highest sustained and the lowest broken rate is within the resolution.
    Found,
    /// The highest allowed rate is sustained: the capacity is at least that.
    Ceiling,
    /// Above the sustained rate the load generator was the bottleneck: the capacity is at least that rate.
    Generator,
    /// After a step the server no longer responded: the capacity is at least the sustained rate.
    Silent,
    /// Not even a small fraction of the first rate is sustained.
    Nothing,
    /// Too many steps contradict each other.
    Undecided,
}

impl CapacitySearch {
    /// The capacity, if the server and nothing else limits it.
    #[must_use]
    pub fn capacity_per_s(&self) -> Option<f64> {
        self.sustained_per_s.filter(|_| self.ended == SearchEnd::Found)
    }

    /// The step with the lowest rate that the server did not sustain: it shows what ran out.
    #[must_use]
    pub fn lowest_broken(&self) -> Option<&CapacityStep> {
        let broken = self.steps.iter().filter(|step| step.verdict == StepVerdict::Broken);
        broken.min_by(|a, b| a.asked_per_s.total_cmp(&b.asked_per_s))
    }
}

/// One rate for some seconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CapacityStep {
    /// Requested rate.
    pub asked_per_s: f64,
    /// Expected responses per second, including requests in flight at the end that are no older than the limit.
    pub reached_per_s: f64,
    pub length_s: f64,
    /// Median response time. Like the two below it includes requests in flight at the end that are older than the limit, with
    /// their age.
    pub p50_ms: Option<f64>,
    pub p99_ms: Option<f64>,
    pub max_ms: Option<f64>,
    /// Failed requests.
    pub failed: u64,
    /// CPU of the server, in cores.
    pub cpu_cores: Option<f64>,
    /// CPU use of the whole machine, in cores.
    pub machine_cpu_cores: Option<f64>,
    /// The servers behind the server; empty: none.
    pub backends: Vec<BackendFigures>,
    /// The busiest generator thread's share of one core.
    pub generator_share: f64,
    pub verdict: StepVerdict,
    pub why: Option<StepFailure>,
}

/// Why a step was not sustained.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the fields are the figures of the reason")]
pub enum StepFailure {
    /// Too many requests failed; the cause is the most frequent one.
    RequestsFailed {
        failed: u64,
        sent: u64,
        cause: Option<String>,
    },
    /// The response time exceeded the limit.
    LimitExceeded {
        time_ms: f64,
    },
    /// There was no response at all.
    NoResponse,
    RateMissed {
        reached_per_s: f64,
        asked_per_s: f64,
    },
    /// More requests waited at the end than in the middle.
    BacklogGrew {
        requests: f64,
    },
    /// A thread of the load generator used its whole core.
    GeneratorBusy {
        cpu_share: f64,
    },
    /// The load generator sent late although a connection was free.
    GeneratorLate {
        send_lag_p99_ms: f64,
    },
}

/// Verdict on a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StepVerdict {
    /// The response time is within the limit, the rate was reached, and the backlog did not grow.
    Sustained,
    /// One of these conditions failed because of the server.
    Broken,
    /// The load generator was the bottleneck: the step says nothing about the server.
    Generator,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_has_its_kind_and_its_figures() {
        let typed = StepFailure::LimitExceeded { time_ms: 201.0 };
        let json = serde_json::to_string(&typed).unwrap();
        assert_eq!(json, r#"{"kind":"limit-exceeded","time_ms":201.0}"#);
        assert_eq!(serde_json::from_str::<StepFailure>(&json).unwrap(), typed);
    }
}
