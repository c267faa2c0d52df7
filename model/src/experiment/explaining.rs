//! When a run is explained, and for how long.

use super::{Experiment, LoadSpec};

/// The lead-in of a steady load, in seconds.
pub const LEAD_IN_S: f64 = 1.0;
/// The longest wait, in seconds, for a JVM to recompile the code that attaching the probe deoptimized.
const RECOMPILING_AT_MOST_S: f64 = 15.0;
/// The longest wait for recompilation in short sessions, in seconds.
const SHORT_RECOMPILING_AT_MOST_S: f64 = 6.0;
/// The usual time to recompile, in seconds. A JVM with one busy core takes 6 to 14 s, a JVM with little to do 2 s.
const RECOMPILING_S: f64 = 5.0;
/// The usual time to recompile in short sessions, in seconds.
const SHORT_RECOMPILING_S: f64 = 3.0;
/// The number of rounds after which a reason has been seen often enough.
const ROUNDS: u32 = 3;
/// The shortest explaining window, in seconds; otherwise it is as long as the measured one. Some figures are sampled once a second.
const SHORTEST_S: f64 = 3.0;
const LONGEST_S: f64 = 6.0;
/// The window in service times. A request in flight is in all samples of its time, so only a longer window gets distinct samples.
const SERVICE_TIMES: f64 = 8.0;
/// The longest window for long requests, in seconds.
const LONGEST_FOR_REQUESTS_S: f64 = 20.0;
/// The longest window for long requests in short sessions, in seconds.
const SHORT_LONGEST_FOR_REQUESTS_S: f64 = 10.0;

impl Experiment {
    /// Whether this round has an explaining window. The first counted rounds have one, since reasons do not change; in short sessions only one
    /// round has it, so that the answer comes soon.
    #[must_use]
    pub fn explains(&self, load: &LoadSpec, round: u32) -> bool {
        let rounds = if self.size.is_short() { 1 } else { ROUNDS };
        (1..=rounds).contains(&round.saturating_sub(load.dropped_rounds()))
    }

    /// How long the JVM may take to recompile the code that attaching deoptimized, in seconds.
    #[must_use]
    pub const fn longest_recompiling_s(&self) -> f64 {
        if self.size.is_short() { SHORT_RECOMPILING_AT_MOST_S } else { RECOMPILING_AT_MOST_S }
    }

    /// How long the JVM usually takes to recompile, in seconds.
    #[must_use]
    pub const fn usual_recompiling_s(&self) -> f64 {
        if self.size.is_short() { SHORT_RECOMPILING_S } else { RECOMPILING_S }
    }

    /// The length of the explaining window after measuring for `measured_s`, in seconds, unless requests are long. A load whose rate
    /// changes runs its whole course.
    #[must_use]
    pub fn explaining_s(&self, measured_s: f64) -> f64 {
        measured_s.clamp(SHORTEST_S, if self.size.is_short() { SHORTEST_S } else { LONGEST_S })
    }

    /// Like [`Self::explaining_s`] with a known mean service time: long requests need a longer window so that the shares of their waits
    /// have intervals.
    #[must_use]
    pub fn explaining_requests_s(&self, measured_s: f64, mean_service_time_s: f64) -> f64 {
        let longest_s =
            if self.size.is_short() { SHORT_LONGEST_FOR_REQUESTS_S } else { LONGEST_FOR_REQUESTS_S };
        self.explaining_s(measured_s).max((SERVICE_TIMES * mean_service_time_s).min(longest_s))
    }
}
