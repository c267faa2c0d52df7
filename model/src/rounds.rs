//! How much of the plan was carried out: rounds of each load, and variants that could not run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A variant that could not run on this machine, or not under one of its loads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Skipped {
    /// The name of the variant.
    pub variant: String,
    /// The load under which the variant could not run; `None`: it could not be started at all.
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
    /// The largest possible number of rounds.
    pub at_most: u32,
    /// The reason why the rounds ended.
    pub why: RoundsEnd,
}

/// The reason why the rounds of a load ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RoundsEnd {
    /// All comparisons are conclusive.
    ComparisonsDecided,
    /// All claims are conclusive.
    ClaimsDecided,
    /// All comparisons and all claims are conclusive.
    AllDecided,
    /// The requested number of rounds is done.
    AsRequested,
    /// The experiment's budget of time is used up.
    BudgetUsed,
    /// The user stopped the session.
    Interrupted,
    /// The disk had no room for another run.
    DiskFull,
    /// A variant never became ready, or all of its runs failed before anything was measured.
    VariantFailed,
}
