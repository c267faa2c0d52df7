//! `result.json`, contract `threadcount/result/2`: one experiment's outcome, from which every report is made.

use crate::model::experiment::Experiment;
use crate::model::metric::Metric;
use crate::model::record::Record;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use super::basis::{Basis, TwoSpeeds};
pub use super::claim_result::{ClaimResult, ClaimVerdict, NotTried};
pub use super::doubt::{Doubt, DoubtReason, TrustGrade};
pub use super::finding::Finding;
pub use super::interval::Interval;

/// The name and version of the document.
pub const SCHEMA: &str = "threadcount/result/2";
/// The form before, in which reasons were sentences. It is not read any more.
pub const FIRST_SCHEMA: &str = "threadcount/result/1";

/// One experiment's outcome.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ResultDocument {
    /// [`SCHEMA`].
    pub schema: String,
    /// Threadcount's own version.
    pub threadcount: String,
    /// The command that made it.
    pub command: Vec<String>,
    /// When it was made, RFC 3339.
    pub created_at: String,
    /// What was asked.
    pub experiment: Experiment,
    /// Where it ran.
    pub machine: Machine,
    /// Every run, in the order of the runs.
    pub records: Vec<Record>,
    /// How many rounds each load got, and why it got no more.
    #[serde(default)]
    pub rounds: Vec<RoundsDone>,
    /// Each variant against the baseline, for each load.
    pub comparisons: Vec<Comparison>,
    /// Explained facts.
    pub findings: Vec<Finding>,
    /// What was claimed, and whether it holds.
    pub claims: Vec<ClaimResult>,
    /// Variants that could not run on this machine.
    #[serde(default)]
    pub skipped: Vec<Skipped>,
    /// May the figures be believed?
    pub trusted: bool,
    /// What takes from the trust, the most important first; what ends it is serious.
    pub why_not: Vec<Doubt>,
}

/// A variant that could not run on this machine, or not under one of its loads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Skipped {
    /// Its name.
    pub variant: String,
    /// The load that could not be sent; `None`: the variant could not be started.
    #[serde(default)]
    pub load: Option<String>,
    /// Why not, as a sentence.
    pub why: String,
}

/// The rounds of one load.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RoundsDone {
    /// The load.
    pub load: String,
    /// How many there were.
    pub rounds: u32,
    /// How many there might have been.
    pub at_most: u32,
    /// Why there were no more.
    pub why: RoundsEnd,
}

/// Why a load got no more rounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RoundsEnd {
    /// The intervals of all comparisons say enough.
    ComparisonsDecided,
    /// Those of all claims do.
    ClaimsDecided,
    /// Those of all comparisons and of all claims do.
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

/// One variant against the baseline under one load.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Comparison {
    /// The variant.
    pub variant: String,
    /// What it is compared with.
    pub baseline: String,
    /// Under which load.
    pub load: String,
    /// One ratio for each metric, rate first.
    pub ratios: Vec<Ratio>,
    /// One difference for each metric that is zero in a run, and so has no ratio.
    #[serde(default)]
    pub differences: Vec<Difference>,
}

impl ResultDocument {
    /// The comparisons under a load, in the order of the variants.
    pub fn comparisons_under<'a>(&'a self, load: &'a str) -> impl Iterator<Item = &'a Comparison> {
        self.comparisons.iter().filter(move |comparison| comparison.load == load)
    }

    /// All runs of a variant under a load, whatever became of them.
    pub fn runs_of<'a>(&'a self, variant: &'a str, load: &'a str) -> impl Iterator<Item = &'a Record> {
        self.records.iter().filter(move |record| record.variant == variant && record.load == load)
    }
}

impl Comparison {
    /// The ratio of a metric.
    #[must_use]
    pub fn ratio(&self, metric: Metric) -> Option<&Ratio> {
        self.ratios.iter().find(|ratio| ratio.metric == metric)
    }
}

/// variant / baseline of one metric.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Ratio {
    /// The metric.
    pub metric: Metric,
    /// The variant's figure: mean over the runs that are compared.
    pub variant_value: f64,
    /// The baseline's figure.
    pub baseline_value: f64,
    /// variant / baseline.
    pub ratio: f64,
    /// The interval of the ratio; `None`: not enough runs.
    pub interval: Option<Interval>,
    /// What may be said.
    pub verdict: Verdict,
    /// Runs of the variant and of the baseline that the figure rests on.
    pub runs: (u32, u32),
    /// What the verdict rests on.
    #[serde(default)]
    pub basis: Basis,
}

/// variant - baseline of one metric, in its unit: of a figure that is zero in a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Difference {
    /// The metric.
    pub metric: Metric,
    /// The variant's figure: mean over its runs.
    pub variant_value: f64,
    /// The baseline's figure.
    pub baseline_value: f64,
    /// variant - baseline.
    pub difference: f64,
    /// The interval of the difference; `None`: not enough runs.
    pub interval: Option<Interval>,
    /// What may be said.
    pub verdict: Verdict,
    /// Runs of the variant and of the baseline that the figure rests on.
    pub runs: (u32, u32),
    /// What the verdict rests on.
    #[serde(default)]
    pub basis: Basis,
}

/// What may be said of a ratio or a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The metric is higher: the interval does not contain 1, and among all figures of the result that is no chance.
    Higher,
    /// The metric is lower, as surely.
    Lower,
    /// The whole interval lies within the margin around 1, or rules out every difference larger than 10 %.
    NoDifference,
    /// Neither a difference nor its absence is shown.
    NotEnoughRuns,
}
