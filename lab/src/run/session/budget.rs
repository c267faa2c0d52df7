//! Decides whether another round may begin. The loads take time in their order, but each later load keeps enough for its minimum rounds.

use threadcount_model::experiment::Experiment;
use threadcount_model::experiment::estimate::{explaining_s, explaining_window_s, run_s};
use threadcount_model::experiment::plan::{PlannedRun, round_of};
use threadcount_model::record::Record;

/// The time that runs under each load take, as far as it is known.
#[derive(Clone, Debug)]
pub(super) struct Budget<'a> {
    experiment: &'a Experiment,
    /// For each load, the lengths of its runs without the search for reasons.
    spent: Vec<Lengths>,
    /// For each load, how long its JVMs recompiled.
    recompiled: Vec<Lengths>,
    /// For each load, how much longer its explaining windows took than planned.
    longer: Vec<Lengths>,
}

/// The lengths of several runs.
#[derive(Clone, Copy, Debug, Default)]
struct Lengths {
    sum_s: f64,
    runs: u32,
}

impl Lengths {
    fn add(&mut self, seconds: f64) {
        self.sum_s += seconds;
        self.runs += 1;
    }

    fn mean_s(self) -> Option<f64> {
        (self.runs > 0).then(|| self.sum_s / f64::from(self.runs))
    }
}

impl<'a> Budget<'a> {
    pub fn new(experiment: &'a Experiment) -> Self {
        let none = vec![Lengths::default(); experiment.loads.len()];
        Self { experiment, spent: none.clone(), recompiled: none.clone(), longer: none }
    }

    /// Takes in a run's length from launch to stop. A run that ended during the search for reasons predicts nothing, so it is ignored.
    pub fn took(&mut self, run: &PlannedRun, seconds: f64, record: &Record) {
        if record.unexplained.is_some() {
            return;
        }
        let explaining = record.explaining.as_ref();
        let recompiling_s = explaining.and_then(|window| window.recompiling).map(|it| it.lasted_s);
        if let Some(lasted_s) = recompiling_s {
            self.recompiled[run.load].add(lasted_s);
        }
        let recompiling_s = recompiling_s.unwrap_or(self.experiment.usual_recompiling_s());
        let explaining_s = explaining.map_or(0.0, |window| {
            let longer_s = (window.load.elapsed_s - explaining_window_s(self.experiment, run)).max(0.0);
            self.longer[run.load].add(longer_s);
            explaining_s(self.experiment, run, recompiling_s) + longer_s
        });
        self.spent[run.load].add((seconds - explaining_s).max(0.0));
    }

    /// Whether these runs of a load may begin after `elapsed_s`. Without a budget they always may.
    pub fn allows(&self, load: usize, next: &[PlannedRun], elapsed_s: f64) -> bool {
        let Some(budget_s) = self.experiment.budget_s else { return true };
        let later_loads = load + 1..self.experiment.loads.len();
        let later: f64 = later_loads.map(|later| self.runs_s(&self.least_after(later, 0))).sum();
        elapsed_s + self.runs_s(next) + later <= budget_s
    }

    /// The rest of a load's minimum rounds after `rounds` of them.
    pub fn least_after(&self, load: usize, rounds: u32) -> Vec<PlannedRun> {
        let least = rounds + 1..=self.experiment.loads[load].at_least();
        least.flat_map(|round| round_of(self.experiment, load, round, 1)).collect()
    }

    fn runs_s(&self, runs: &[PlannedRun]) -> f64 {
        runs.iter().map(|run| self.run_s(run)).sum()
    }

    /// The expected length of a run: the mean under the same load so far; before its first run the plan's estimate, or, without an
    /// estimate, the longest mean of the other loads.
    fn run_s(&self, run: &PlannedRun) -> f64 {
        let others = || self.spent.iter().filter_map(|spent| spent.mean_s()).fold(0.0, f64::max);
        let recompiling_s =
            self.recompiled[run.load].mean_s().unwrap_or(self.experiment.usual_recompiling_s());
        let explaining_s = explaining_s(self.experiment, run, recompiling_s);
        let longer_s = if explaining_s > 0.0 { self.longer[run.load].mean_s().unwrap_or(0.0) } else { 0.0 };
        match self.spent[run.load].mean_s() {
            Some(usual_s) => usual_s + explaining_s + longer_s,
            None => run_s(self.experiment, run, recompiling_s).unwrap_or_else(|| others() + explaining_s),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use threadcount_config::parse;
    use threadcount_load::report::LoadReport;
    use threadcount_model::record::explaining::{ExplainingWindow, Recompiling};

    fn experiment(budget: &str) -> Experiment {
        let text = format!(
            "question: q\nserver: {{tomcat: 11.0}}\nrequest: /\nwarmup: 5s\nvariants: {{a: {{}}, b: {{}}}}\n{budget}\n\
            loads: [{{clients: 4, duration: 4s}}, {{clients: 8, duration: 4s, runs: 1}}]\n"
        );
        parse("x", "x.yaml", &text, false).expect("an experiment")
    }

    /// The seconds for attaching, recompiling, a lead-in, and looking for reasons for 4 s.
    const EXPLAINING_S: f64 = 2.0 + 5.0 + 2.0 + 4.0 + 0.7;
    /// The seconds for starting, warming up, the lead-in, measuring and counting the heap.
    const USUAL_S: f64 = 3.0 + 5.0 + 2.0 + 4.0 + 1.0;
    /// The seconds for one round of the second load.
    const LATER_S: f64 = 2.0 * (USUAL_S + EXPLAINING_S);

    fn explained(lasted_s: f64) -> Record {
        let recompiling = Some(Recompiling { lasted_s, is_over: true });
        let window = ExplainingWindow { load: LoadReport::default(), cost: None, recompiling };
        Record { explaining: Some(window), ..Record::default() }
    }

    #[test]
    fn without_a_budget_everything_may_begin() {
        let experiment = experiment("");
        assert!(Budget::new(&experiment).allows(0, &round_of(&experiment, 0, 1, 1), 1e9));
    }

    #[test]
    fn a_round_may_begin_if_it_and_the_least_of_the_later_loads_fit() {
        let experiment = experiment("budget: 200s");
        let round = |load, round| round_of(&experiment, load, round, 1);
        let mut budget = Budget::new(&experiment);
        let expected_s = 2.0 * (USUAL_S + EXPLAINING_S) + LATER_S;
        assert!(budget.allows(0, &round(0, 1), 200.0 - expected_s - 0.1));
        assert!(!budget.allows(0, &round(0, 1), 200.0 - expected_s + 0.1));
        for (run, usual_s) in round(0, 1).iter().zip([10.0, 6.0]) {
            budget.took(run, usual_s + EXPLAINING_S, &explained(5.0));
        }
        let measured_s = 2.0 * (8.0 + EXPLAINING_S) + LATER_S;
        assert!(budget.allows(0, &round(0, 2), 200.0 - measured_s - 0.1), "it takes 8 s on average");
        assert!(!budget.allows(0, &round(0, 2), 200.0 - measured_s + 0.1));
        assert!(budget.allows(1, &round(1, 1), 199.9 - LATER_S), "nothing is kept after the last load");
    }

    #[test]
    fn a_round_without_reasons_is_expected_to_be_as_much_shorter() {
        let experiment = experiment("budget: 200s");
        let mut budget = Budget::new(&experiment);
        for run in round_of(&experiment, 0, 1, 1) {
            budget.took(&run, 8.0 + EXPLAINING_S, &explained(5.0));
        }
        let fourth = round_of(&experiment, 0, 4, 1);
        assert!(budget.allows(0, &fourth, 199.9 - LATER_S - 2.0 * 8.0));
        assert!(!budget.allows(0, &fourth, 200.1 - LATER_S - 2.0 * 8.0));
    }

    #[test]
    fn a_jvm_that_compiled_anew_for_longer_makes_only_rounds_with_reasons_longer() {
        let experiment = experiment("budget: 300s");
        let mut budget = Budget::new(&experiment);
        for run in round_of(&experiment, 0, 1, 1) {
            budget.took(&run, 8.0 + EXPLAINING_S + 9.0, &explained(14.0));
        }
        let fits = |round, seconds: f64| {
            let round = round_of(&experiment, 0, round, 1);
            let left = |more: f64| 300.0 - LATER_S - 2.0 * seconds + more;
            budget.allows(0, &round, left(-0.1)) && !budget.allows(0, &round, left(0.1))
        };
        assert!(fits(2, 8.0 + EXPLAINING_S + 9.0) && fits(4, 8.0));
    }

    #[test]
    fn an_explaining_window_that_lasted_longer_than_planned_makes_only_rounds_with_reasons_longer() {
        let experiment = experiment("budget: 300s");
        let mut budget = Budget::new(&experiment);
        let mut record = explained(5.0);
        if let Some(window) = &mut record.explaining {
            window.load.elapsed_s = 4.0 + 16.0;
        }
        for run in round_of(&experiment, 0, 1, 1) {
            budget.took(&run, 8.0 + EXPLAINING_S + 16.0, &record);
        }
        let fits = |round, seconds: f64| {
            let round = round_of(&experiment, 0, round, 1);
            let left = |more: f64| 300.0 - LATER_S - 2.0 * seconds + more;
            budget.allows(0, &round, left(-0.1)) && !budget.allows(0, &round, left(0.1))
        };
        assert!(fits(2, 8.0 + EXPLAINING_S + 16.0) && fits(4, 8.0));
    }

    #[test]
    fn a_run_without_an_explaining_window_took_all_of_its_time_itself() {
        let experiment = experiment("budget: 200s");
        let mut budget = Budget::new(&experiment);
        for run in round_of(&experiment, 0, 1, 1) {
            budget.took(&run, 8.0, &Record::default());
        }
        assert!(budget.allows(0, &round_of(&experiment, 0, 4, 1), 199.9 - LATER_S - 2.0 * 8.0));
        assert!(!budget.allows(0, &round_of(&experiment, 0, 4, 1), 200.1 - LATER_S - 2.0 * 8.0));
    }

    #[test]
    fn what_is_left_of_the_least_rounds_is_known() {
        let experiment = experiment("");
        let budget = Budget::new(&experiment);
        let rounds =
            |after| -> Vec<u32> { budget.least_after(0, after).iter().map(|run| run.round).collect() };
        assert_eq!(rounds(0), [1, 1, 2, 2, 3, 3]);
        assert_eq!(rounds(2), [3, 3]);
        assert!(rounds(3).is_empty() && rounds(7).is_empty());
    }
}
