//! The evidence for the verdict on a ratio or a difference.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The evidence for a verdict.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Basis {
    /// The runs were paired by rounds; if `false`, the means of all runs were compared.
    pub paired: bool,
    /// The probability that an equal pair shows a difference at least this large at any interim analysis; `None`: no interval.
    pub p_value: Option<f64>,
    /// The interval excludes 1 (for a difference: 0), but with this many figures in the result that may be chance, so the verdict is
    /// withheld.
    pub withheld: bool,
    /// A second speed in up to this share of a variant's runs would have been missed (probability 5 %), and could cancel or hide a
    /// difference. `None`: the difference is larger than that, or there are enough runs.
    pub unseen_share: Option<f64>,
    /// The variants whose runs have two speeds.
    pub two_speeds: Vec<TwoSpeeds>,
    /// The share of the server's CPU that the JIT compiler took in some run, for a figure that includes it: there is no verdict.
    /// `None`: the compiler was quiet, or does not count towards the figure.
    pub compiler_share: Option<f64>,
}

/// A variant whose runs fall into two groups with a gap between them, a fast one and a slow one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TwoSpeeds {
    pub variant: String,
    /// Number of the variant's runs that were compared.
    pub runs: u32,
    /// Number of slow runs among them.
    pub slower_runs: u32,
    /// The share of slow runs: 0.2 for one in five.
    pub share_of_runs: f64,
    /// The mean distance of the slow runs from the others: 0.1 for a rate 10 % lower, or a time 10 % longer.
    pub slow_by: f64,
}
