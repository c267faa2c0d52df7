//! How long a warm-up may last.

use super::{Experiment, LoadSpec, Workload};

/// Length of an `auto` warm-up in estimates, in seconds; with `quick` also its longest.
pub const USUAL_S: f64 = 10.0;
/// The longest `auto` warm-up, in seconds: a server that is not warm by then rarely becomes warm.
pub const LONGEST_S: f64 = 60.0;
/// Opening some thousand connections, and what a server does at the first requests of each, is over within this time.
const LEAD_IN_S: f64 = 2.0;
/// In the first second it is seen, in the second it was not: where many loads are short.
const SHORT_LEAD_IN_S: f64 = 1.0;
/// Before each turn of an interleaved load: its connections are opened anew, too, and there are many turns.
const LEAD_IN_OF_TURN: f64 = 0.25;
/// Share of a budget that all warm-ups may take.
const OF_BUDGET: f64 = 0.5;

/// `warmup:` and `--warmup`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum WarmUpTime {
    /// Until the steady state, within the budget.
    Auto,
    /// The longest, in seconds.
    AtMost(f64),
}

impl Experiment {
    /// Sets the warm-up of all loads without one of their own.
    pub fn set_warmup(&mut self, time: WarmUpTime) {
        (self.warmup_s, self.warmup_auto) = match time {
            WarmUpTime::Auto => (USUAL_S, true),
            WarmUpTime::AtMost(seconds) => (seconds, false),
        };
    }

    /// Longest warm-up of a load in seconds. With `auto` the warm-ups of the fewest runs share half of the budget.
    #[must_use]
    pub fn longest_warmup_s(&self, load: &LoadSpec) -> f64 {
        if !self.warmup_auto || load.warmup_s.is_some() {
            return self.warmup_s(load);
        }
        if self.quick {
            return USUAL_S;
        }
        let runs_under = |load: &LoadSpec| self.variants.iter().filter(|it| it.runs_under(load)).count();
        let runs: f64 = self.loads.iter().map(|it| f64::from(it.at_least()) * runs_under(it) as f64).sum();
        let part_s = |budget_s: f64| OF_BUDGET * budget_s / runs.max(1.0);
        self.budget_s.map_or(LONGEST_S, part_s).clamp(USUAL_S, LONGEST_S)
    }

    /// How long a steady load goes on before it is measured, in seconds: the warm-up's connections are closed by then, and those of
    /// the measured window are opened anew. What is measured cold is measured from its first request, and the steps of a
    /// capacity search are judged by whether a backlog grows from nothing.
    #[must_use]
    pub fn lead_in_s(&self, load: &LoadSpec) -> f64 {
        let is_steady = load.requests.is_none() && load.shape.is_none();
        let is_ours = matches!(load.workload, Workload::Http(_));
        let is_warm = self.longest_warmup_s(load) > 0.0;
        let usual_s = match load.interleave_s {
            Some(turn_s) => turn_s * LEAD_IN_OF_TURN,
            None if self.quick => SHORT_LEAD_IN_S,
            None => LEAD_IN_S,
        };
        let needed_s = if is_warm && is_steady && is_ours { usual_s } else { 0.0 };
        load.sending.lead_in_s.unwrap_or(needed_s)
    }
}

#[cfg(test)]
mod tests {
    use crate::config::parse;

    fn longest_s(more: &str, quick: bool) -> f64 {
        let text = format!(
            "question: q\nserver: {{tomcat: 11.0}}\nrequest: /\nvariants: {{a: {{}}, b: {{}}}}\n{more}\n\
             loads: [{{clients: 4, duration: 1s, runs: 3}}]\n"
        );
        let experiment = parse("x", "x.yaml", &text, quick).expect("an experiment");
        experiment.longest_warmup_s(&experiment.loads[0])
    }

    #[test]
    fn auto_is_the_default_and_has_a_ceiling_a_part_of_the_budget_and_with_quick_no_more_than_before() {
        assert_eq!((longest_s("", false), longest_s("warmup: auto", false)), (60.0, 60.0));
        // Three rounds of two variants: half of 240 s among six runs.
        assert_eq!(longest_s("budget: 4m", false), 20.0);
        assert_eq!((longest_s("budget: 30s", false), longest_s("budget: 1h", false)), (10.0, 60.0));
        assert_eq!(longest_s("", true), 10.0);
    }

    #[test]
    fn a_time_that_is_written_keeps_its_meaning() {
        assert_eq!((longest_s("warmup: 90s", false), longest_s("warmup: 3s\nbudget: 4m", true)), (90.0, 3.0));
        assert_eq!(longest_s("quick: {warmup: 4s}", true), 4.0);
        assert_eq!(longest_s("warmup: 3s\nquick: {warmup: auto}", true), 10.0);
    }

    #[test]
    fn a_steady_load_after_a_warm_up_is_led_in_and_what_is_cold_counted_or_changing_is_not() {
        let lead_in_s = |more: &str, load: &str, quick: bool| {
            let text = format!(
                "question: q\nserver: {{tomcat: 11.0}}\nrequest: /\nvariants: {{a: {{}}}}\n{more}\nloads: [{{{load}}}]\n"
            );
            let experiment = parse("x", "x.yaml", &text, quick).expect("an experiment");
            experiment.lead_in_s(&experiment.loads[0])
        };
        assert_eq!(lead_in_s("", "clients: 4, duration: 1s", false), 2.0);
        assert_eq!(lead_in_s("", "clients: 4, duration: 1s", true), 1.0);
        assert_eq!(lead_in_s("", "capacity: {p99: 200ms}, duration: 3s", false), 0.0);
        assert_eq!(lead_in_s("", "rate: 4/s, duration: 1s", false), 2.0);
        assert_eq!(lead_in_s("", "clients: 4, duration: 1s, lead_in: 5s", false), 5.0);
        assert_eq!(lead_in_s("", "clients: 4, duration: 8s, interleave: 2s", false), 0.5);
        assert_eq!(lead_in_s("warmup: 0s", "clients: 4, duration: 1s", false), 0.0);
        assert_eq!(lead_in_s("", "clients: 4, requests: 100", false), 0.0);
        assert_eq!(lead_in_s("", "ramp: '1:9:3s', duration: 5s", false), 0.0);
        assert_eq!(lead_in_s("", "clients: 4, duration: 1s, tool: {ab: 1}", false), 0.0);
    }

    #[test]
    fn a_load_has_its_own_time_and_auto_is_for_all_of_them() {
        let text = "question: q\nserver: {tomcat: 11.0}\nrequest: /\nvariants: {a: {}}\n\
            loads: [{clients: 4, duration: 1s, warmup: 7s}]\n";
        let experiment = parse("x", "x.yaml", text, false).expect("an experiment");
        assert_eq!(experiment.longest_warmup_s(&experiment.loads[0]), 7.0);
    }
}
