//! Two variants under one load: ratios and differences of their metrics, with verdicts.

pub use super::basis::{Basis, TwoSpeeds};
use super::interval::Interval;
use super::metric::Metric;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One variant against the baseline under one load, or against the one that its `compare_with` names.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Comparison {
    pub variant: String,
    pub baseline: String,
    pub load: String,
    /// One per metric, rate first.
    pub ratios: Vec<Ratio>,
    /// One per metric that is zero in a run, and so has no ratio.
    pub differences: Vec<Difference>,
}

impl Comparison {
    #[must_use]
    pub fn ratio(&self, metric: Metric) -> Option<&Ratio> {
        self.ratios.iter().find(|ratio| ratio.metric == metric)
    }

    /// Of a figure that is zero in some run.
    #[must_use]
    pub fn difference(&self, metric: Metric) -> Option<&Difference> {
        self.differences.iter().find(|difference| difference.metric == metric)
    }
}

/// variant / baseline of one metric.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Ratio {
    pub metric: Metric,
    /// Mean over the runs that are compared.
    pub variant_value: f64,
    /// The same of the baseline.
    pub baseline_value: f64,
    pub ratio: f64,
    /// The interval of the ratio; `None`: not enough runs.
    pub interval: Option<Interval>,
    pub verdict: Verdict,
    /// Number of runs of the variant and of the baseline that are compared.
    pub runs: (u32, u32),
    /// What the verdict rests on.
    pub basis: Basis,
}

/// variant - baseline of one metric, in its unit; for metrics that are zero in a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Difference {
    pub metric: Metric,
    /// Mean over its runs.
    pub variant_value: f64,
    /// The same of the baseline.
    pub baseline_value: f64,
    pub difference: f64,
    /// The interval of the difference; `None`: not enough runs.
    pub interval: Option<Interval>,
    pub verdict: Verdict,
    /// Number of runs of the variant and of the baseline that are compared.
    pub runs: (u32, u32),
    /// What the verdict rests on.
    pub basis: Basis,
}

/// Verdict on a ratio or a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The interval lies above 1, also after the correction for all figures of the result.
    Higher,
    /// The interval lies below 1, likewise.
    Lower,
    /// The whole interval lies within the margin around 1, or rules out every difference larger than 10 %.
    NoDifference,
    /// Neither a difference nor its absence is shown.
    NotEnoughRuns,
}
