//! Reports on the processes of a shared load.

use crate::counts::Counts;
use crate::times::TimesSummary;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One process: a pod, or one of several machines.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
#[non_exhaustive]
pub struct PodReport {
    /// The number of its share, from 0.
    pub share: u32,
    /// Name of the pod or machine; empty: not received.
    pub pod: String,
    /// The machine that the pod ran on; null: not known.
    pub node: Option<String>,
    /// true: the process reached its end, and is part of totals and percentiles.
    pub complete: bool,
    /// Why the process is not complete; null: it is, or the reason is not known.
    pub error: Option<String>,
    /// Lines of its output that were lost.
    pub lost_lines: u32,
    /// Connections of the process.
    pub connections: u32,
    /// How long after the first process it began, in milliseconds; null: its end is missing.
    pub started_ms: Option<f64>,
    /// How far its machine's clock is ahead of the clock of the machine that gathered the results, in milliseconds; null: not measured.
    pub clock_ahead_ms: Option<f64>,
    /// How long it measured, in seconds; for an incomplete process, the known seconds.
    pub elapsed_s: f64,
    /// The outcomes of its requests; for an incomplete process, those of the known seconds.
    pub requests: Counts,
    /// Response times of this process alone.
    pub response_time_ms: Option<TimesSummary>,
    /// true: the process had to end early.
    pub interrupted: bool,
    /// The health of its generator; null: its end is missing.
    pub generator: Option<PodGeneratorReport>,
}

impl PodReport {
    /// Adds a later window of the same process. Its response times are left out, because percentiles cannot be added up.
    pub(crate) fn append(&mut self, later: &Self) {
        self.complete &= later.complete;
        self.interrupted |= later.interrupted;
        self.error = self.error.take().or_else(|| later.error.clone());
        self.lost_lines += later.lost_lines;
        self.elapsed_s += later.elapsed_s;
        self.requests.add(later.requests);
        self.response_time_ms = None;
        self.generator = match (self.generator.take(), &later.generator) {
            (Some(generator), Some(later)) => Some(generator.with(later)),
            (generator, later) => generator.or_else(|| later.clone()),
        };
    }
}

/// The health of one process.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
#[non_exhaustive]
pub struct PodGeneratorReport {
    /// The busiest thread's share of one core.
    pub cpu_share: f64,
    /// CPU of all its generator threads, in cores.
    pub cpu_cores: f64,
    /// The generator's own part of the send lag at the 99th percentile.
    pub own_lag_p99_ms: Option<f64>,
    /// How long a CPU limit held the process back, added up over all CPUs; null: there is no limit, or it cannot be read.
    pub throttled_ms: Option<f64>,
    /// How busy each core of its machine was, 0 to 1.
    pub cores_busy: Vec<f64>,
    /// true: the figures are about the generator rather than the server.
    pub bottleneck: bool,
    /// Why the generator is called the bottleneck.
    pub why: Option<String>,
}

impl PodGeneratorReport {
    /// The worse of two windows, with the time held back in both.
    fn with(self, later: &Self) -> Self {
        let throttled = [self.throttled_ms, later.throttled_ms];
        let throttled_ms = throttled.into_iter().flatten().reduce(|sum, ms| sum + ms);
        let worse = if later.bottleneck && !self.bottleneck { later.clone() } else { self };
        Self { throttled_ms, ..worse }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(bottleneck: bool, throttled_ms: Option<f64>) -> PodReport {
        let generator = PodGeneratorReport { bottleneck, throttled_ms, ..PodGeneratorReport::default() };
        PodReport { generator: Some(generator), ..PodReport::default() }
    }

    #[test]
    fn a_pod_that_was_held_back_in_any_window_says_so_with_all_of_the_time() {
        let mut pod = report(true, Some(20.0));
        pod.append(&report(false, Some(300.0)));
        pod.append(&report(false, None));
        let generator = pod.generator.unwrap();
        assert!(generator.bottleneck && generator.throttled_ms == Some(320.0), "{generator:?}");
    }

    #[test]
    fn a_pod_that_nothing_limits_has_no_throttling() {
        let mut pod = report(false, None);
        pod.append(&report(false, None));
        assert_eq!(pod.generator.unwrap().throttled_ms, None);
        let mut without = PodReport::default();
        without.append(&report(true, Some(5.0)));
        assert_eq!(
            without.generator.unwrap().throttled_ms,
            Some(5.0),
            "the health of a later window is kept"
        );
    }
}
