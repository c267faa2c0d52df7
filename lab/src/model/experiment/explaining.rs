//! When reasons are looked for, and for how long.

use super::{Experiment, LoadSpec};

/// What attaching makes the JVM compile anew is mostly over after so many seconds of the load.
pub const SETTLING_S: f64 = 1.0;
/// After so many rounds a reason has been seen often enough.
const ROUNDS: u32 = 3;
/// The window is as long as what was measured, within these bounds: enough for what is sampled once a second.
const SHORTEST_S: f64 = 3.0;
const LONGEST_S: f64 = 6.0;

impl Experiment {
    /// Are reasons looked for in this round, in a window of their own? In the first that count, since they do not change: with
    /// `quick` in one, so that an answer comes soon.
    #[must_use]
    pub fn explains(&self, load: &LoadSpec, round: u32) -> bool {
        let rounds = if self.quick { 1 } else { ROUNDS };
        (1..=rounds).contains(&round.saturating_sub(load.dropped_rounds()))
    }

    /// How long the explaining window of a steady load is when so much was measured, in seconds. A load whose rate changes
    /// has its whole course.
    #[must_use]
    pub fn explaining_s(&self, measured_s: f64) -> f64 {
        measured_s.clamp(SHORTEST_S, if self.quick { SHORTEST_S } else { LONGEST_S })
    }
}
