//! `result.json` (`threadcount/result/2`): the outcome of one experiment. Every report is made from it alone.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use threadcount_model::experiment::{Experiment, LoadSpec};
use threadcount_model::record::Record;

use super::finding::Finding;
use threadcount_model::claim_result::ClaimResult;
use threadcount_model::comparison::Comparison;
use threadcount_model::doubt::Doubt;
use threadcount_model::machine::Machine;
use threadcount_model::request_time::RequestTime;
use threadcount_model::rounds::{RoundsDone, Skipped};

/// The name and version of the document.
pub const SCHEMA: &str = "threadcount/result/2";

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
    pub rounds: Vec<RoundsDone>,
    /// Each variant against the baseline, for each load.
    pub comparisons: Vec<Comparison>,
    /// What limits each variant.
    pub findings: Vec<Finding>,
    /// Where the time of a request goes, of each variant whose threads were sampled.
    pub request_times: Vec<RequestTime>,
    /// Each claim with its measured figure.
    pub claims: Vec<ClaimResult>,
    /// Variants that could not run on this machine.
    pub skipped: Vec<Skipped>,
    /// Conclusions may be drawn.
    pub trusted: bool,
    /// Doubts, the most important first. A serious one makes `trusted` false.
    pub why_not: Vec<Doubt>,
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
