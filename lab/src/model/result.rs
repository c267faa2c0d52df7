//! `result.json` (`threadcount/result/2`): the outcome of one experiment. Every report is made from it alone.

use crate::model::experiment::{Experiment, LoadSpec};
use crate::model::metric::Metric;
use crate::model::record::Record;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use super::basis::{Basis, TwoSpeeds};
pub use super::claim_result::{ClaimResult, ClaimVerdict, NotTried};
pub use super::doubt::{Doubt, DoubtReason, TrustGrade};
pub use super::finding::Finding;
pub use super::interval::Interval;
pub use super::request_time::RequestTime;

/// The name and version of the document.
pub const SCHEMA: &str = "threadcount/result/2";
/// The version before, in which reasons were sentences. It is no longer read.
pub const FIRST_SCHEMA: &str = "threadcount/result/1";

/// One experiment's outcome.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ResultDocument {
    /// [`SCHEMA`].
    pub schema: String,
    /// Threadcount's own version.
    pub threadcount: String,
    /// The command line.
    pub command: Vec<String>,
    /// RFC 3339.
    pub created_at: String,
    pub experiment: Experiment,
    pub machine: Machine,
    /// One per run, in the order of the runs.
    pub records: Vec<Record>,
    /// Number of rounds of each load, and why they ended.
    #[serde(default)]
    pub rounds: Vec<RoundsDone>,
    /// Each variant against the baseline, for each load.
    pub comparisons: Vec<Comparison>,
    /// What limits each variant.
    pub findings: Vec<Finding>,
    /// Where the time of a request goes, of each variant whose threads were sampled.
    #[serde(default)]
    pub request_times: Vec<RequestTime>,
    /// Each claim with its measured figure.
    pub claims: Vec<ClaimResult>,
    /// Variants that could not run on this machine.
    #[serde(default)]
    pub skipped: Vec<Skipped>,
    /// Conclusions may be drawn.
    pub trusted: bool,
    /// Doubts, the most important first. A serious one makes `trusted` false.
    pub why_not: Vec<Doubt>,
}

/// A variant that could not run on this machine, or not under one of its loads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Skipped {
    /// Its name.
    pub variant: String,
    /// `None`: the variant could not be started.
    #[serde(default)]
    pub load: Option<String>,
    /// The reason, as a sentence.
    pub why: String,
}

/// The rounds of one load.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RoundsDone {
    /// The load.
    pub load: String,
    /// Number of rounds.
    pub rounds: u32,
    /// The most there could have been.
    pub at_most: u32,
    /// Why they ended.
    pub why: RoundsEnd,
}

/// Why the rounds of a load ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RoundsEnd {
    /// All comparisons are conclusive.
    ComparisonsDecided,
    /// All claims are conclusive.
    ClaimsDecided,
    /// All comparisons and all claims are conclusive.
    AllDecided,
    /// As many as were requested.
    AsRequested,
    /// The experiment's budget of time is used up.
    BudgetUsed,
    /// The user stopped it.
    Interrupted,
}

/// The machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names are the definition")]
pub struct Machine {
    pub cpu: String,
    pub cores: u32,
    pub memory_bytes: u64,
    pub kernel: String,
    pub os: String,
    pub max_open_files: u64,
    pub virtualization: Option<String>,
}

/// One variant against the baseline under one load, or against the one that its `compare_with` names.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Comparison {
    pub variant: String,
    pub baseline: String,
    pub load: String,
    /// One per metric, rate first.
    pub ratios: Vec<Ratio>,
    /// One per metric that is zero in a run, and so has no ratio.
    #[serde(default)]
    pub differences: Vec<Difference>,
}

impl ResultDocument {
    /// Those of [`Self::comparisons_under`] with the baseline; `false`: those with another variant.
    pub fn comparisons_with_baseline<'a>(
        &'a self,
        load: &'a LoadSpec,
        with_baseline: bool,
    ) -> impl Iterator<Item = &'a Comparison> {
        let baseline = self.experiment.baseline(load).map(|variant| variant.name.as_str());
        self.comparisons_under(&load.name)
            .filter(move |it| (Some(it.baseline.as_str()) == baseline) == with_baseline)
    }

    /// The comparisons under a load, in the order of the variants.
    pub fn comparisons_under<'a>(&'a self, load: &'a str) -> impl Iterator<Item = &'a Comparison> {
        self.comparisons.iter().filter(move |comparison| comparison.load == load)
    }

    /// All runs of a variant under a load, failed ones too.
    pub fn runs_of<'a>(&'a self, variant: &'a str, load: &'a str) -> impl Iterator<Item = &'a Record> {
        self.records.iter().filter(move |record| record.variant == variant && record.load == load)
    }
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
    #[serde(default)]
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
    #[serde(default)]
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
