//! The length of a warm-up.

use super::{Experiment, LoadSpec, Workload};

/// Length of an `auto` warm-up in estimates, in seconds; with `quick` also its longest.
pub const USUAL_S: f64 = 10.0;
/// The longest `auto` warm-up, in seconds: a server that is not warm by then rarely becomes warm.
pub const LONGEST_S: f64 = 60.0;
/// The lead-in in seconds: opening thousands of connections, and a server's first work for each, is over by then.
const LEAD_IN_S: f64 = 2.0;
/// The lead-in of short loads in seconds: opening connections still showed within the first second, but not in the second one.
const SHORT_LEAD_IN_S: f64 = 1.0;
/// The lead-in before each turn of an interleaved load, short because there are many turns, each with new connections.
const LEAD_IN_OF_TURN: f64 = 0.25;
/// The share of a budget that all warm-ups may take.
const OF_BUDGET: f64 = 0.5;

/// The length of a warm-up: `warmup:` and `--warmup`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum WarmUpTime {
    /// It lasts until the steady state, within the budget.
    Auto,
    /// It lasts at most this long, in seconds.
    AtMost(f64),
}

impl Experiment {
    /// Sets the warm-up of all loads that have none of their own.
    pub fn set_warmup(&mut self, time: WarmUpTime) {
        (self.warmup_s, self.warmup_auto) = match time {
            WarmUpTime::Auto => (USUAL_S, true),
            WarmUpTime::AtMost(seconds) => (seconds, false),
        };
    }

    /// The longest warm-up of a load in seconds. With `auto`, the warm-ups of the fewest rounds share half of the budget.
    #[must_use]
    pub fn longest_warmup_s(&self, load: &LoadSpec) -> f64 {
        if !self.warmup_auto || load.warmup_s.is_some() {
            return self.warmup_s(load);
        }
        if self.size.is_short() {
            return USUAL_S;
        }
        let runs_under = |load: &LoadSpec| self.variants.iter().filter(|it| it.runs_under(load)).count();
        let runs: f64 = self.loads.iter().map(|it| f64::from(it.at_least()) * runs_under(it) as f64).sum();
        let part_s = |budget_s: f64| OF_BUDGET * budget_s / runs.max(1.0);
        self.budget_s.map_or(LONGEST_S, part_s).clamp(USUAL_S, LONGEST_S)
    }

    /// The lead-in of a steady load in seconds: the warm-up's connections are closed by then, and new ones are opened for the measured
    /// window. A load measured cold is measured from its first request, and the steps of a capacity search are judged by whether a backlog
    /// grows from nothing.
    #[must_use]
    pub fn lead_in_s(&self, load: &LoadSpec) -> f64 {
        let is_steady = load.requests.is_none() && load.shape.is_none();
        let is_ours = matches!(load.workload, Workload::Http(_));
        let is_warm = self.longest_warmup_s(load) > 0.0;
        let usual_s = match load.interleave_s {
            Some(turn_s) => turn_s * LEAD_IN_OF_TURN,
            None if self.size.is_short() => SHORT_LEAD_IN_S,
            None => LEAD_IN_S,
        };
        let needed_s = if is_warm && is_steady && is_ours { usual_s } else { 0.0 };
        load.sending.lead_in_s.unwrap_or(needed_s)
    }
}
