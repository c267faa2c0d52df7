//! How long a warm-up may last.

use super::{Experiment, LoadSpec};

/// Length of an `auto` warm-up in estimates, in seconds; with `quick` also its longest.
pub const USUAL_S: f64 = 10.0;
/// The longest `auto` warm-up, in seconds: a server that is not warm by then rarely becomes warm.
pub const LONGEST_S: f64 = 60.0;
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
    fn a_load_has_its_own_time_and_auto_is_for_all_of_them() {
        let text = "question: q\nserver: {tomcat: 11.0}\nrequest: /\nvariants: {a: {}}\n\
            loads: [{clients: 4, duration: 1s, warmup: 7s}]\n";
        let experiment = parse("x", "x.yaml", text, false).expect("an experiment");
        assert_eq!(experiment.longest_warmup_s(&experiment.loads[0]), 7.0);
    }
}
