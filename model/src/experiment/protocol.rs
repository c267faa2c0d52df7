//! The number of rounds of a load: until its result is conclusive, or fixed.

use super::{Experiment, LoadSpec};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The default for the most rounds: if one run in five of a variant is slower, 15 runs miss that in 3.5 % of sessions.
pub const AT_MOST: u32 = 15;
/// The fewest rounds without `--quick`.
const AT_LEAST: u32 = 3;
/// The fewest rounds with `--quick`.
const AT_LEAST_QUICK: u32 = 2;
/// The factor between the rounds of interim analyses. Each analysis widens the intervals (see `stats/ratio.rs`), and late analyses add
/// little.
const NEXT_ANALYSIS: f64 = 1.3;

/// The rule by which the rounds of a load end. [`LoadSpec::runs`] is the largest number of rounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Protocol {
    /// Exactly `runs` rounds, as in a study. The first ones are kept in the result and left out of every figure.
    Fixed {
        /// The number of first rounds to leave out.
        drop: u32,
    },
    /// Rounds until the result is conclusive.
    Adaptive {
        /// The fewest rounds.
        at_least: u32,
    },
}

impl Protocol {
    /// Rounds until the result is conclusive.
    #[must_use]
    pub const fn adaptive(quick: bool) -> Self {
        Self::Adaptive { at_least: if quick { AT_LEAST_QUICK } else { AT_LEAST } }
    }
}

impl LoadSpec {
    /// Number of the first rounds that are left out of every figure.
    #[must_use]
    pub const fn dropped_rounds(&self) -> u32 {
        match self.protocol {
            Protocol::Fixed { drop } => drop,
            Protocol::Adaptive { .. } => 0,
        }
    }

    /// The fewest rounds of a load; in a budget, other loads and repeats come after them.
    #[must_use]
    pub fn at_least(&self) -> u32 {
        match self.protocol {
            Protocol::Fixed { .. } => self.runs.min(AT_LEAST),
            Protocol::Adaptive { at_least } => at_least.min(self.runs),
        }
    }

    /// The rounds after which the result is analysed, the last one included.
    #[must_use]
    pub fn interim_analyses(&self) -> Vec<u32> {
        let Protocol::Adaptive { .. } = self.protocol else { return vec![self.runs] };
        let mut rounds = vec![self.at_least()];
        while let Some(&last) = rounds.last().filter(|&&last| last < self.runs) {
            let next = (f64::from(last) * NEXT_ANALYSIS).ceil() as u32;
            rounds.push(next.max(last + 1).min(self.runs));
        }
        rounds
    }
}

impl Experiment {
    /// Number of interim analyses under a load, for which the intervals account; 1 for an unknown load.
    #[must_use]
    pub fn interim_analyses(&self, load: &str) -> usize {
        self.load(load).map_or(1, |load| load.interim_analyses().len())
    }
}
