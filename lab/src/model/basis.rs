//! What the verdict on a ratio or a difference rests on.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a verdict rests on. Results of older versions have none.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Basis {
    /// Were the runs of each round compared with each other? Otherwise the means of all runs were.
    pub paired: bool,
    /// The probability of a difference as large as this or larger where there is none, at whichever interim analysis;
    /// `None`: no interval.
    pub p_value: Option<f64>,
    /// The interval leaves out 1 (a difference: 0), and among all figures of this result that is no proof: the verdict
    /// is withheld.
    pub withheld: bool,
    /// A second speed in up to this share of a variant's runs would have been missed by these runs (probability 5 %), and
    /// could make up for the difference or hide one. `None`: the difference is larger than that, or the runs are enough.
    pub unseen_share: Option<f64>,
    /// The variants whose runs have two speeds.
    pub two_speeds: Vec<TwoSpeeds>,
}

/// The runs of a variant are of two kinds, with a gap between them: some are slower.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TwoSpeeds {
    /// The variant.
    pub variant: String,
    /// How many of its runs were compared.
    pub runs: u32,
    /// How many of them are slower.
    pub slower_runs: u32,
    /// The share of its runs that are slower: 0.2 for one in five.
    pub share_of_runs: f64,
    /// How much slower they are on average: 0.1 for 10 %, of the rate; of a time, how much longer.
    pub slow_by: f64,
}
