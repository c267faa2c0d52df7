//! Two variants under one load: ratios and differences of their metrics, with verdicts.

pub use super::basis::{Basis, TwoSpeeds};
use super::interval::Interval;
use super::metric::Metric;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One variant compared with the baseline under one load, or with the variant that its `compare_with` names.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Comparison {
    pub variant: String,
    pub baseline: String,
    pub load: String,
    /// One ratio per metric, the rate first.
    pub ratios: Vec<Ratio>,
    /// One difference per metric that is zero in some run and so has no ratio.
    pub differences: Vec<Difference>,
}

impl Comparison {
    #[must_use]
    pub fn ratio(&self, metric: Metric) -> Option<&Ratio> {
        self.ratios.iter().find(|ratio| ratio.metric == metric)
    }

    /// The difference in a metric that is zero in some run.
    #[must_use]
    pub fn difference(&self, metric: Metric) -> Option<&Difference> {
        self.differences.iter().find(|difference| difference.metric == metric)
    }
}

/// The ratio variant / baseline of one metric.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Ratio {
    pub metric: Metric,
    /// The variant's mean over the compared runs.
    pub variant_value: f64,
    /// The baseline's mean over the compared runs.
    pub baseline_value: f64,
    pub ratio: f64,
    /// The interval of the ratio; `None`: not enough runs.
    pub interval: Option<Interval>,
    pub verdict: Verdict,
    /// Number of compared runs of the variant and of the baseline.
    pub runs: (u32, u32),
    /// The evidence for the verdict.
    pub basis: Basis,
}

/// The difference variant - baseline of one metric, in the metric's unit; for metrics that are zero in some run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Difference {
    pub metric: Metric,
    /// The variant's mean over its runs.
    pub variant_value: f64,
    /// The baseline's mean over its runs.
    pub baseline_value: f64,
    pub difference: f64,
    /// The interval of the difference; `None`: not enough runs.
    pub interval: Option<Interval>,
    pub verdict: Verdict,
    /// Number of compared runs of the variant and of the baseline.
    pub runs: (u32, u32),
    /// The evidence for the verdict.
    pub basis: Basis,
}

/// Verdict on a ratio or a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The interval lies above 1, also after the correction for all figures of the result.
    Higher,
    /// The interval lies below 1, also after the correction for all figures of the result.
    Lower,
    /// The whole interval lies within the margin around 1, or excludes every difference above 10 %.
    NoDifference,
    /// The runs show neither a difference nor its absence.
    NotEnoughRuns,
}
