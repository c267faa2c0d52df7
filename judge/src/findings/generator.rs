//! The load generator was the bottleneck, so the figures are its own.

use crate::evidence::variant_runs::VariantRuns;
use crate::finding::{Fact, Finding, RunsShowing};
use crate::words::finding::Words;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use threadcount_model::figures::percent;
use threadcount_model::record::Record;
use threadcount_stats::runs::is_healthy;

/// Figures of the run in which the generator was busiest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names are the definition")]
pub struct GeneratorBottleneck {
    pub limited: LimitedGenerator,
    /// CPU use of the generator's busiest thread, as a share of one core.
    pub cpu_share: f64,
    pub cpu_us_per_request: f64,
    pub send_lag_p99_ms: Option<f64>,
}

/// The load generator that was the bottleneck.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum LimitedGenerator {
    /// Threadcount's own generator.
    Own {
        /// The reason in its own report; `None` if it reported nothing.
        why: Option<String>,
    },
    /// An external load tool, whose processes have one thread each.
    External {
        /// Number of processes that used a whole core.
        full_processes: u32,
        /// Number of all processes.
        processes: u32,
    },
}

pub(crate) fn find(runs_of_variant: &VariantRuns<'_>) -> Option<Finding> {
    let limited: Vec<_> = runs_of_variant
        .runs
        .iter()
        .filter(|run| !is_healthy(run))
        .filter_map(|run| Some((run, run.measured.as_ref()?)))
        .collect();
    let share = |load: &threadcount_load::report::LoadReport| load.generator.cpu_share;
    let (run, load) = limited.iter().max_by(|a, b| share(a.1).total_cmp(&share(b.1)))?;
    let bottleneck = GeneratorBottleneck {
        limited: generator_of(run),
        cpu_share: load.generator.cpu_share,
        cpu_us_per_request: load.generator.cpu_us_per_request,
        send_lag_p99_ms: load.generator.send_lag_ms.map(|lag| lag.p99),
    };
    let runs = RunsShowing::new(limited.len(), runs_of_variant.runs.len());
    Some(runs_of_variant.finding(Fact::Generator(bottleneck), runs))
}

fn generator_of(run: &Record) -> LimitedGenerator {
    match &run.external {
        Some(external) => LimitedGenerator::External {
            full_processes: external.full_processes(),
            processes: external.processes.len() as u32,
        },
        None => {
            LimitedGenerator::Own { why: run.measured.as_ref().and_then(|load| load.generator.why.clone()) }
        }
    }
}

impl Words for GeneratorBottleneck {
    fn sentence(&self) -> String {
        match &self.limited {
            LimitedGenerator::Own { why } => {
                let why = why.as_deref().unwrap_or("the reason is not known");
                format!("the load generator was the bottleneck: {why}. There is no verdict")
            }
            LimitedGenerator::External { full_processes, processes } => {
                let share = percent(self.cpu_share);
                let used = match processes {
                    1 => format!("it used {share} of a core and can use no more than one"),
                    _ => format!(
                        "{full_processes} of its {processes} processes used up to {share} of a core and can use no more \
                         than one each"
                    ),
                };
                format!(
                    "the load tool was the bottleneck: {used}. The figures are those of the tool, not of the \
                     server"
                )
            }
        }
    }

    fn advice(&self) -> Option<String> {
        let advice = match self.limited {
            LimitedGenerator::Own { .. } => {
                "more generator threads, another machine for the generator, or a lower rate"
            }
            LimitedGenerator::External { .. } => {
                "more processes of the tool, or Threadcount's own load generator"
            }
        };
        Some(advice.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::variant_runs::stage::{found, run, sentence};
    use threadcount_model::sample::with_load;

    #[test]
    fn a_generator_without_room_is_named_with_its_reason() {
        let record = with_load(run(90_000.0, 0.1, 1.0, 1.9), |load| {
            load.generator.bottleneck = true;
            load.generator.why = Some("it used 97 % of a core".to_owned());
        });
        let finding = found(find, "clients: 64", record).expect("a finding");
        let expected = "the load generator was the bottleneck: it used 97 % of a core. There is no verdict";
        assert_eq!(sentence(&finding), expected);
    }

    #[test]
    fn a_busy_generator_that_keeps_up_is_left_alone() {
        let record = with_load(run(90_000.0, 0.1, 1.0, 1.9), |load| load.generator.cpu_share = 0.88);
        assert_eq!(found(find, "clients: 64", record), None);
    }
}
