//! The processes of a load that several sent.

use crate::counts::Counts;
use crate::times::TimesSummary;
use serde::{Deserialize, Serialize};

/// One process: a pod, or one of several machines.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the JSON Schema defines each key")]
#[non_exhaustive]
pub struct PodReport {
    /// Which share of the load was its, from 0.
    pub share: u32,
    /// Its name; empty: it never told.
    pub pod: String,
    pub node: Option<String>,
    /// Is its end there, so that it is part of totals and percentiles?
    pub complete: bool,
    /// Why it is not, where that is known.
    pub error: Option<String>,
    pub lost_lines: u32,
    pub connections: u32,
    /// How long after the first it began.
    pub started_ms: Option<f64>,
    /// How far its clock was ahead; null: not measured.
    pub clock_ahead_ms: Option<f64>,
    pub elapsed_s: f64,
    /// Of one without an end, in the seconds that are known.
    pub requests: Counts,
    pub response_time_ms: Option<TimesSummary>,
    pub interrupted: bool,
    pub generator: Option<PodGeneratorReport>,
}

impl PodReport {
    /// With what the same process measured in a later window. Its response times are not in it: percentiles do not add up.
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
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the JSON Schema defines each key")]
#[non_exhaustive]
pub struct PodGeneratorReport {
    pub cpu_share: f64,
    pub cpu_cores: f64,
    pub own_lag_p99_ms: Option<f64>,
    /// How long a CPU limit held it back; null: there is none.
    pub throttled_ms: Option<f64>,
    pub cores_busy: Vec<f64>,
    pub bottleneck: bool,
    pub why: Option<String>,
}

impl PodGeneratorReport {
    /// The worse of two windows, and how long it was held back in both.
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
