//! What of the plan was done: rounds of each load, and variants that could not run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A variant that could not run on this machine, or not under one of its loads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Skipped {
    /// Its name.
    pub variant: String,
    /// `None`: the variant could not be started.
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
    /// There was no room for another run.
    DiskFull,
    /// A variant never became ready, or all of its runs failed before anything was measured.
    VariantFailed,
}
