//! The runs of an experiment in the order in which they happen.

use super::{Experiment, LoadSpec, Variant};

/// One run to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlannedRun {
    /// Index in [`Experiment::variants`].
    pub variant: usize,
    /// Index in [`Experiment::loads`].
    pub load: usize,
    /// Which round of this load, from 1.
    pub round: u32,
    /// Its place in the whole plan, from 1.
    pub position: u32,
}

/// All runs there may be, interleaved. The session ends the rounds of a load earlier where its answer is decided.
#[must_use]
pub fn plan(experiment: &Experiment) -> Vec<PlannedRun> {
    let mut runs = Vec::new();
    for (index, load) in experiment.loads.iter().enumerate() {
        for round in 1..=load.runs {
            let position = runs.len() as u32 + 1;
            runs.extend(round_of(experiment, index, round, position));
        }
    }
    runs
}

/// One round of a load, whose first run gets this position: every variant once, and every second round in the
/// opposite order (A B C, C B A, ...), so that whatever drifts over time (heat, other users of the machine) weighs on
/// all variants alike. A variant or a load that cannot run on this machine is left out.
#[must_use]
pub fn round_of(experiment: &Experiment, load: usize, round: u32, position: u32) -> Vec<PlannedRun> {
    let spec = &experiment.loads[load];
    let runs = |variant: &usize| spec.skipped.is_none() && experiment.variants[*variant].runs_under(spec);
    let mut order: Vec<usize> = (0..experiment.variants.len()).filter(runs).collect();
    if round.is_multiple_of(2) {
        order.reverse();
    }
    let placed = (position..).zip(order);
    placed.map(|(position, variant)| PlannedRun { variant, load, round, position }).collect()
}

impl Variant {
    /// Does it run under the load, on this machine?
    #[must_use]
    pub fn runs_under(&self, load: &LoadSpec) -> bool {
        self.skipped.is_none() && load.includes(&self.name)
    }
}

impl LoadSpec {
    /// How many connections it has at most.
    #[must_use]
    pub fn clients(&self) -> u32 {
        self.workload.clients()
    }

    /// Does this variant run under the load?
    #[must_use]
    pub fn includes(&self, variant: &str) -> bool {
        self.only_variants.is_empty() || self.only_variants.iter().any(|name| name == variant)
    }

    /// Leaves only those of the variants that run under the load anyway; false: none is left, and the load is not
    /// to be used.
    #[must_use]
    pub fn keep_only(&mut self, variants: &[String]) -> bool {
        let kept: Vec<String> = variants.iter().filter(|name| self.includes(name)).cloned().collect();
        let any = !kept.is_empty();
        if any {
            self.only_variants = kept;
        }
        any
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::parse;

    fn experiment(text: &str) -> Experiment {
        let head = "question: q\nserver: {tomcat: 11.0}\nrequest: /\nvariants: {a: {}, b: {}, c: {}}\n";
        parse("x", "x.yaml", &format!("{head}{text}"), false).expect("an experiment")
    }

    fn order(experiment: &Experiment) -> String {
        let names = plan(experiment).into_iter().map(|run| {
            assert_eq!(run.load, 0);
            experiment.variants[run.variant].name.clone()
        });
        names.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn rounds_alternate_the_order_of_the_variants() {
        let experiment = experiment("loads: [{clients: 1, duration: 1s, runs: 3}]");
        assert_eq!(order(&experiment), "a b c c b a a b c");
        let rounds: Vec<u32> = plan(&experiment).iter().map(|run| run.round).collect();
        assert_eq!(rounds, [1, 1, 1, 2, 2, 2, 3, 3, 3]);
        let positions: Vec<u32> = plan(&experiment).iter().map(|run| run.position).collect();
        assert_eq!(positions, (1..=9).collect::<Vec<_>>());
    }

    #[test]
    fn a_load_runs_only_its_variants() {
        let experiment = experiment("loads: [{clients: 1, duration: 1s, runs: 2, variants: [c, a]}]");
        assert_eq!(order(&experiment), "a c c a");
    }

    #[test]
    fn a_variant_that_cannot_run_here_is_left_out() {
        let mut experiment = experiment("loads: [{clients: 1, duration: 1s, runs: 2}]");
        experiment.variants[0].skipped = Some("there is no Ada here".into());
        assert_eq!(order(&experiment), "b c c b");
    }

    #[test]
    fn loads_come_one_after_the_other() {
        let experiment =
            experiment("runs: 1\nloads: [{clients: 1, duration: 1s}, {clients: 2, duration: 1s}]");
        let loads: Vec<usize> = plan(&experiment).iter().map(|run| run.load).collect();
        assert_eq!(loads, [0, 0, 0, 1, 1, 1]);
    }
}
