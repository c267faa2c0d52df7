//! When reasons are looked for, and for how long.

use super::{Experiment, LoadSpec};

/// The lead-in of a steady load, in seconds.
pub const LEAD_IN_S: f64 = 1.0;
/// A JVM that still compiles after so many seconds what attaching made it give up is looked at as it is.
const RECOMPILING_AT_MOST_S: f64 = 15.0;
/// With `quick`.
const QUICK_RECOMPILING_AT_MOST_S: f64 = 6.0;
/// It takes a JVM with one busy core 6 to 14 s, and one with little to do two.
const RECOMPILING_S: f64 = 5.0;
/// With `quick`.
const QUICK_RECOMPILING_S: f64 = 3.0;
/// After so many rounds a reason has been seen often enough.
const ROUNDS: u32 = 3;
/// The window is as long as what was measured, within these bounds: enough for what is sampled once a second.
const SHORTEST_S: f64 = 3.0;
const LONGEST_S: f64 = 6.0;
/// A request that is in flight is in all samples of its time: so many times as long have enough that differ ...
const SERVICE_TIMES: f64 = 8.0;
/// ... within this bound.
const LONGEST_FOR_REQUESTS_S: f64 = 20.0;
/// With `quick`.
const QUICK_LONGEST_FOR_REQUESTS_S: f64 = 10.0;

impl Experiment {
    /// Are reasons looked for in this round, in a window of their own? In the first that count, since they do not change: with
    /// `quick`, or after a crossover whose kinds of thread were observed, in one, so that an answer comes soon.
    #[must_use]
    pub fn explains(&self, load: &LoadSpec, round: u32) -> bool {
        let rounds = if self.quick || self.crossover { 1 } else { ROUNDS };
        (1..=rounds).contains(&round.saturating_sub(load.dropped_rounds()))
    }

    /// How long the JVM may recompile what attaching deoptimized, in seconds.
    #[must_use]
    pub const fn longest_recompiling_s(&self) -> f64 {
        if self.quick { QUICK_RECOMPILING_AT_MOST_S } else { RECOMPILING_AT_MOST_S }
    }

    /// How long it usually does, in seconds.
    #[must_use]
    pub const fn usual_recompiling_s(&self) -> f64 {
        if self.quick { QUICK_RECOMPILING_S } else { RECOMPILING_S }
    }

    /// How long the explaining window of a steady load is when so much was measured, in seconds, unless requests are long. A load whose
    /// rate changes has its whole course.
    #[must_use]
    pub fn explaining_s(&self, measured_s: f64) -> f64 {
        measured_s.clamp(SHORTEST_S, if self.quick { SHORTEST_S } else { LONGEST_S })
    }

    /// The same when the mean service time is known: longer where requests are long, so that what they wait for has an interval.
    #[must_use]
    pub fn explaining_requests_s(&self, measured_s: f64, mean_service_time_s: f64) -> f64 {
        let longest_s = if self.quick { QUICK_LONGEST_FOR_REQUESTS_S } else { LONGEST_FOR_REQUESTS_S };
        self.explaining_s(measured_s).max((SERVICE_TIMES * mean_service_time_s).min(longest_s))
    }
}
