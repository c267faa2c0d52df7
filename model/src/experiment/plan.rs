//! The runs of an experiment in the order in which they happen.

use super::{Experiment, LoadSpec, Variant};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlannedRun {
    /// Index in [`Experiment::variants`].
    pub variant: usize,
    /// Index in [`Experiment::loads`].
    pub load: usize,
    /// The round of this load, from 1.
    pub round: u32,
    /// The run's place in the whole plan, from 1.
    pub position: u32,
}

/// All possible runs, interleaved. The session ends the rounds of a load earlier if its answer is decided.
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

/// One round of a load, whose first run gets this position. Every second round has the opposite order (A B C, C B A, ...), so that
/// whatever drifts over time (heat, other users of the machine) affects all variants alike. Variants and loads that cannot run on this
/// machine are left out.
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
    /// Whether the variant runs under the load on this machine.
    #[must_use]
    pub fn runs_under(&self, load: &LoadSpec) -> bool {
        self.skipped.is_none() && load.includes(&self.name)
    }
}

impl LoadSpec {
    /// The most connections of the load.
    #[must_use]
    pub fn clients(&self) -> u32 {
        self.workload.clients()
    }

    /// Whether the load includes this variant.
    #[must_use]
    pub fn includes(&self, variant: &str) -> bool {
        self.only_variants.is_empty() || self.only_variants.iter().any(|name| name == variant)
    }

    /// Restricts the load to these variants. Returns `false` if none of them runs under it, and the load must not be used.
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
