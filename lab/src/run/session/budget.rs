//! May another round begin? Time is given to the loads in their order, but each later one keeps what its least rounds
//! take.

use crate::model::experiment::Experiment;
use crate::model::experiment::plan::{round_of, run_s};

/// How long the runs under a load take, as far as is known.
#[derive(Clone, Debug)]
pub(super) struct Budget<'a> {
    experiment: &'a Experiment,
    /// For each load: the time its runs took so far, in seconds, and how many they were.
    spent: Vec<(f64, u32)>,
}

impl<'a> Budget<'a> {
    pub fn new(experiment: &'a Experiment) -> Self {
        Self { experiment, spent: vec![(0.0, 0); experiment.loads.len()] }
    }

    /// A run under this load took so long, from launch to stop.
    pub fn took(&mut self, load: usize, seconds: f64) {
        let (spent_s, runs) = &mut self.spent[load];
        *spent_s += seconds;
        *runs += 1;
    }

    /// May so many more runs of this load begin, when so much time has passed? Without a budget always.
    pub fn allows(&self, load: usize, runs: usize, elapsed_s: f64) -> bool {
        let Some(budget_s) = self.experiment.budget_s else { return true };
        let later: f64 = (load + 1..self.experiment.loads.len())
            .map(|later| f64::from(self.experiment.loads[later].at_least()) * self.round_s(later))
            .sum();
        elapsed_s + runs as f64 * self.run_s(load) + later <= budget_s
    }

    fn round_s(&self, load: usize) -> f64 {
        round_of(self.experiment, load, 1, 1).len() as f64 * self.run_s(load)
    }

    /// What a run under the load took on average; before the first one what it is expected to take, and where that
    /// is unknown, what the others took.
    fn run_s(&self, load: usize) -> f64 {
        let average = |(spent_s, runs): (f64, u32)| (runs > 0).then(|| spent_s / f64::from(runs));
        let expected = || {
            let runs = round_of(self.experiment, load, 1, 1);
            let longest = runs.iter().map(|run| run_s(self.experiment, run)).collect::<Option<Vec<f64>>>();
            longest.map(|runs_s| runs_s.iter().sum::<f64>() / runs_s.len().max(1) as f64)
        };
        let others = || self.spent.iter().filter_map(|&spent| average(spent)).fold(0.0, f64::max);
        average(self.spent[load]).or_else(expected).unwrap_or_else(others)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::parse;

    fn experiment(budget: &str) -> Experiment {
        let text = format!(
            "question: q\nserver: {{tomcat: 11.0}}\nrequest: /\nwarmup: 5s\nvariants: {{a: {{}}, b: {{}}}}\n{budget}\n\
            loads: [{{clients: 4, duration: 2s}}, {{clients: 8, duration: 2s, runs: 1}}]\n"
        );
        parse("x", "x.yaml", &text, false).expect("an experiment")
    }

    #[test]
    fn without_a_budget_everything_may_begin() {
        assert!(Budget::new(&experiment("")).allows(0, 1_000, 1e9));
    }

    #[test]
    fn a_round_may_begin_if_it_and_the_least_of_the_later_loads_fit() {
        // A run is expected to take 3 + 5 + 2 = 10 s; the later load keeps one round of two runs.
        let experiment = experiment("budget: 100s");
        let mut budget = Budget::new(&experiment);
        assert!(budget.allows(0, 2, 60.0));
        assert!(!budget.allows(0, 2, 61.0));
        budget.took(0, 12.0);
        budget.took(0, 8.0);
        budget.took(0, 4.0);
        assert!(budget.allows(0, 2, 64.0), "it takes 8 s on average");
        assert!(!budget.allows(0, 2, 65.0));
        assert!(budget.allows(1, 2, 80.0), "nothing is kept after the last load");
    }
}
