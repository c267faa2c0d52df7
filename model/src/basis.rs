//! What the verdict on a ratio or a difference rests on.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a verdict rests on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Basis {
    /// Paired by rounds; otherwise the means of all runs were compared.
    pub paired: bool,
    /// The probability of a difference as large as this or larger where there is none, at whichever interim analysis;
    /// `None`: no interval.
    pub p_value: Option<f64>,
    /// The interval leaves out 1 (a difference: 0), and among all figures of this result that may be chance: the
    /// verdict is withheld.
    pub withheld: bool,
    /// A second speed in up to this share of a variant's runs would have been missed (probability 5 %), and could cancel
    /// the difference or hide one. `None`: the difference is larger than that, or the runs are enough.
    pub unseen_share: Option<f64>,
    /// The variants whose runs have two speeds.
    pub two_speeds: Vec<TwoSpeeds>,
    /// The JVM's compiler took this share of the server's CPU in a run behind the figure, which holds what it used: there is
    /// no verdict. `None`: it was quiet, or the figure is about something else.
    pub compiler_share: Option<f64>,
}

/// The runs of a variant are of two kinds, with a gap between them: some are slower.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TwoSpeeds {
    pub variant: String,
    /// Number of its runs that were compared.
    pub runs: u32,
    /// Number of slower ones among them.
    pub slower_runs: u32,
    /// The share of its runs that are slower: 0.2 for one in five.
    pub share_of_runs: f64,
    /// Their mean distance to the others: 0.1 for a rate that is 10 % lower, or a time that is 10 % longer.
    pub slow_by: f64,
}
