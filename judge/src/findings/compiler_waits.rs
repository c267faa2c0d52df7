//! The JIT compiler has work but no core; until the work is done, code runs interpreted or half optimised.
//!
//! A compiler that is merely busy shows in the CPU use. Here its threads are ready to run, but others occupy the cores.

use crate::evidence::variant_runs::VariantRuns;
use crate::finding::{Fact, Finding};
use crate::words::finding::Words;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use threadcount_model::figures::number;
use threadcount_model::record::Record;
use threadcount_stats::compiler::{is_starved, times_as_long};

/// Figures of the typical run of those that show it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names are the definition")]
pub struct CompilerWaits {
    /// Compiler threads that were ready to run but waited for a core.
    pub waiting_threads: f64,
    /// Compiler threads that ran.
    pub running_threads: f64,
    /// CPU use of the whole machine, in cores.
    pub machine_cpu_cores: f64,
    pub machine_cores: f64,
    /// Whether the load had a warm-up; `None` if no load was sent (`watch`).
    pub warmed_up: Option<bool>,
}

impl CompilerWaits {
    /// The factor by which compilation takes longer than with a core for each compiler thread.
    #[must_use]
    pub fn times_as_long(&self) -> f64 {
        times_as_long(self.waiting_threads, self.running_threads)
    }
}

pub(crate) fn find(runs_of_variant: &VariantRuns<'_>) -> Option<Finding> {
    runs_of_variant.typical_finding(in_window)
}

/// Finds waiting compiler threads in a window without a load.
pub(crate) fn in_window(record: &Record) -> Option<Fact> {
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

impl Words for CompilerWaits {
    fn sentence(&self) -> String {
        format!(
            "the JIT compiler waits for a core: {} of its threads could run and {} did. Code stays slow {}x as long",
            number(self.waiting_threads + self.running_threads),
            number(self.running_threads),
            number(self.times_as_long())
        )
    }

    fn advice(&self) -> Option<String> {
        Some(
            match self.warmed_up {
                Some(true) => {
                    "a longer `warmup`, or a warm-up under a smaller load, which leaves the compiler a core"
                }
                Some(false) => "a `warmup` under a smaller load, which leaves the compiler a core",
                None => "less load until the JVM is warm, or more cores",
            }
            .to_owned(),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::variant_runs::stage::{advice, found, run, sentence};
    use crate::explain::explain_window;
    use crate::finding::Rule;

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
            "the JIT compiler waits for a core: 0.850 of its threads could run and 0.120 did. Code stays slow 7.08x as long"
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
            ("waits that were not read", with(Some(0.12), None)),
        ];
        for (case, record) in silent {
            assert_eq!(found(find, "clients: 20", record), None, "{case}");
        }
    }
}
