//! Applies every rule to the runs of an experiment, to a window of a running JVM, or to both.

pub mod attached;
mod window;

pub use window::explain_window;

use crate::evidence::variant_runs::VariantRuns;
use crate::finding::Finding;
use crate::findings::{FINDERS, allocation};
use threadcount_model::experiment::{Experiment, LoadSpec};
use threadcount_model::record::Record;

/// All findings, load by load and variant by variant.
#[must_use]
pub fn explain(experiment: &Experiment, records: &[Record]) -> Vec<Finding> {
    experiment.loads.iter().flat_map(|load| under_load(experiment, load, records)).collect()
}

fn under_load(experiment: &Experiment, load: &LoadSpec, records: &[Record]) -> Vec<Finding> {
    let variants = experiment.variants.iter().filter(|variant| load.includes(&variant.name));
    let runs = variants.map(|variant| VariantRuns::of(variant, load, records));
    runs.flat_map(|runs| in_runs(experiment, &runs, records)).collect()
}

fn in_runs(experiment: &Experiment, runs: &VariantRuns<'_>, records: &[Record]) -> Vec<Finding> {
    FINDERS.iter().fold(Vec::new(), |mut found, it| {
        let alone = it.find.and_then(|find| find(runs));
        let beside = || it.find_beside.and_then(|find| find(experiment, runs, records));
        let after = || it.find_after.and_then(|find| find(runs, &found));
        let one = alone.or_else(beside).or_else(after);
        let all = it.find_all.map_or_else(Vec::new, |find| find(runs, &found));
        for mut finding in one.into_iter().chain(all) {
            allocation::attribute(&mut finding, &found);
            found.push(finding);
        }
        found
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::Rule;
    use threadcount_config::parse;
    use threadcount_model::sample::{run, with_cost};

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
            .map(|finding| (finding.rule(), finding.variant.as_deref(), finding.load.as_deref()))
            .collect();
        assert_eq!(
            named,
            [
                (Rule::CpuCeiling, Some("platform"), Some("c400")),
                (Rule::CpuCeiling, Some("virtual"), Some("c1000"))
            ]
        );
    }
}
