//! Findings: which ceiling was hit, with the evidence.
//!
//! A rule looks at one variant under one load. It says nothing where the evidence is not there.

mod accept_queue;
mod carriers;
mod client_ceiling;
mod cpu_ceiling;
mod gc;
mod generator;
mod kind_or_size;
mod limits;
mod memory_growth;
mod pinned;
mod pool_ceiling;
mod site;
mod variant_runs;
mod waiting;
mod without_progress;

pub use variant_runs::{RunFigures, VariantRuns};

use crate::model::experiment::Experiment;
use crate::model::record::Record;
use crate::model::result::{Evidence, Finding};

/// One way in which a variant can be limited.
pub trait Rule {
    /// The rule's name in results, e.g. `pool-ceiling`.
    fn name(&self) -> &'static str;

    /// What it sees; `None`: the evidence is not there.
    fn look(&self, runs_of_variant: &VariantRuns<'_>) -> Option<Finding>;
}

/// All rules, those that put the measurement itself in doubt first.
const RULES: [&dyn Rule; 11] = [
    &generator::Generator,
    &accept_queue::AcceptQueue,
    &limits::Limits,
    &pinned::Pinned,
    &without_progress::WithoutProgress,
    &pool_ceiling::PoolCeiling,
    &waiting::Waiting,
    &gc::GarbageCollection,
    &cpu_ceiling::CpuCeiling,
    &client_ceiling::ClientCeiling,
    &memory_growth::MemoryGrowth,
];

/// What every rule finds, load by load and variant by variant, and last what a pair of variants shows.
#[must_use]
pub fn explain(experiment: &Experiment, records: &[Record]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for load in &experiment.loads {
        for variant in experiment.variants.iter().filter(|variant| load.includes(&variant.name)) {
            let runs_of_variant = VariantRuns::of(variant, load, records);
            findings.extend(RULES.iter().filter_map(|rule| rule.look(&runs_of_variant)));
        }
        findings.extend(kind_or_size::look(experiment, load, records));
    }
    findings
}

/// How sure a finding is that holds in `held` of `runs` runs: (held + 1) / (runs + 2), Laplace's rule of succession,
/// the chance that the next run shows it too. One of one gives 0.67, three of three 0.8, seven of seven 0.89.
#[must_use]
pub fn confidence(held: usize, runs: usize) -> f64 {
    (held as f64 + 1.0) / (runs as f64 + 2.0)
}

fn evidence(what: &str, value: f64, unit: &str) -> Evidence {
    // The sum of nothing is -0.0 in Rust; nobody wants to read that.
    Evidence { what: what.to_owned(), value: value + 0.0, unit: unit.to_owned() }
}

/// Those of the figures that were measured.
fn known(figures: &[(&str, Option<f64>, &str)]) -> Vec<Evidence> {
    figures.iter().filter_map(|&(what, value, unit)| Some(evidence(what, value?, unit))).collect()
}

impl Finding {
    /// With what might help.
    fn advising(self, advice: impl Into<String>) -> Self {
        Self { advice: Some(advice.into()), ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::parse;
    use crate::stats::sample::{run, with_cost};

    #[test]
    fn a_finding_is_surer_with_more_runs_and_never_certain() {
        let of_all: Vec<f64> = [1, 3, 7].map(|runs| confidence(runs, runs)).to_vec();
        assert!(of_all.is_sorted() && of_all[2] < 1.0);
        assert!(confidence(2, 3) < confidence(3, 3));
        assert_eq!(confidence(3, 3), 0.8);
    }

    #[test]
    fn findings_name_their_variant_and_load_and_nothing_is_said_without_runs() {
        let text = "question: q\nserver: {tomcat: 11.0}\nrequest: /\nvariants: {platform: {}, virtual: {}}\n\
            loads: [{clients: 400, duration: 1s}, {clients: 1000, duration: 1s, variants: [virtual]}]\n";
        let experiment = parse("x", "x.yaml", text, false).expect("an experiment");
        assert_eq!(explain(&experiment, &[]), []);
        let full = |variant: &str, load: &str| {
            with_cost(run(variant, load, 7_990.0, 50.0), |cost| cost.machine_cpu_cores = 1.95)
        };
        let found = explain(&experiment, &[full("virtual", "c1000"), full("platform", "c400")]);
        let named: Vec<_> = found
            .iter()
            .map(|finding| (finding.rule.as_str(), finding.variant.as_deref(), finding.load.as_deref()))
            .collect();
        assert_eq!(
            named,
            [
                ("cpu-ceiling", Some("platform"), Some("c400")),
                ("cpu-ceiling", Some("virtual"), Some("c1000"))
            ]
        );
    }
}
