//! The JIT compiler has work and no core: until it has done it, the code runs interpreted, or half optimised.
//!
//! A compiler that is merely busy shows in the parts of the CPU. Here its threads could run, and others do.

use super::VariantRuns;
use super::variant_runs::mean_of;
use crate::finding::compiler_waits::is_starved;
use crate::finding::{CompilerWaits, Fact, Finding};
use threadcount_model::record::Record;

pub(super) fn find(runs_of_variant: &VariantRuns<'_>) -> Option<Finding> {
    let (found, runs) = runs_of_variant.in_most(waits)?;
    let mean = |figure: fn(&CompilerWaits) -> f64| mean_of(found.iter().map(figure)).unwrap_or_default();
    let means = CompilerWaits {
        waiting_threads: mean(|it| it.waiting_threads),
        running_threads: mean(|it| it.running_threads),
        machine_cpu_cores: mean(|it| it.machine_cpu_cores),
        machine_cores: mean(|it| it.machine_cores),
        warmed_up: found.first()?.warmed_up,
    };
    Some(runs_of_variant.finding(Fact::CompilerWaits(means), runs))
}

/// Of a window without a load.
pub(super) fn in_window(record: &Record) -> Option<Fact> {
    waits(record).map(Fact::CompilerWaits)
}

fn waits(record: &Record) -> Option<CompilerWaits> {
    let cost = record.cost.as_ref()?;
    let found = CompilerWaits {
        waiting_threads: cost.jit_waiting_threads?,
        running_threads: cost.jit_cpu_cores?,
        machine_cpu_cores: cost.machine_cpu_cores,
        machine_cores: f64::from(cost.machine_cores),
        warmed_up: record.measured.as_ref().map(|_| record.warm_up.is_some()),
    };
    is_starved(found.waiting_threads, found.running_threads).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::super::variant_runs::stage::{advice, found, run, sentence};
    use super::*;
    use crate::finding::Rule;
    use crate::findings::explain_window;

    fn with(running: Option<f64>, waiting: Option<f64>) -> Record {
        let mut record = run(190.0, 1.0, 3.0, 1.95);
        if let Some(cost) = &mut record.cost {
            (cost.jit_cpu_cores, cost.jit_waiting_threads) = (running, waiting);
        }
        record
    }

    #[test]
    fn a_compiler_without_a_core_is_named_with_how_much_longer_its_work_takes() {
        let finding = found(find, "clients: 20", with(Some(0.12), Some(0.73))).expect("a finding");
        assert_eq!(
            sentence(&finding),
            "the JIT compiler waits for a core: 0.850 of its threads could run and 0.120 did, so that code stays slow 7.08x as long"
        );
        assert!(advice(&finding).contains("warmup"), "{}", advice(&finding));
    }

    #[test]
    fn a_running_jvm_shows_it_as_well() {
        let record = Record { measured: None, ..with(Some(0.12), Some(0.73)) };
        let rules: Vec<Rule> = explain_window(&record).iter().map(|it| it.rule()).collect();
        assert!(rules.contains(&Rule::CompilerWaits), "{rules:?}");
    }

    #[test]
    fn look_alikes_are_left_alone() {
        let silent = [
            ("a busy compiler that has a core", with(Some(0.9), Some(0.3))),
            ("a full machine and little to compile", with(Some(0.01), Some(0.1))),
            ("an idle compiler", with(Some(0.0), Some(0.0))),
            ("no JVM", with(None, None)),
            ("an older result", with(Some(0.12), None)),
        ];
        for (what, record) in silent {
            assert_eq!(found(find, "clients: 20", record), None, "{what}");
        }
    }
}
