//! The load generator was the bottleneck: the figures are its own.

use super::{VariantRuns, showing};
use crate::finding::{Fact, Finding, GeneratorBottleneck, LimitedGenerator};
use threadcount_model::record::Record;
use threadcount_stats::runs::is_healthy;

pub(super) fn find(runs_of_variant: &VariantRuns<'_>) -> Option<Finding> {
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
    let runs = showing(limited.len(), runs_of_variant.runs.len());
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

#[cfg(test)]
mod tests {
    use super::super::variant_runs::stage::{found, run, sentence};
    use super::*;
    use threadcount_model::sample::with_load;

    #[test]
    fn a_generator_without_room_is_named_with_its_reason() {
        let record = with_load(run(90_000.0, 0.1, 1.0, 1.9), |load| {
            load.generator.bottleneck = true;
            load.generator.why = Some("it used 97 % of a core".to_owned());
        });
        let finding = found(find, "clients: 64", record).expect("a finding");
        let expected = "the load generator was the bottleneck in 3 of 3 runs, so no verdict is \
            drawn: it used 97 % of a core";
        assert_eq!(sentence(&finding), expected);
    }

    #[test]
    fn a_busy_generator_that_keeps_up_is_left_alone() {
        let record = with_load(run(90_000.0, 0.1, 1.0, 1.9), |load| load.generator.cpu_share = 0.88);
        assert_eq!(found(find, "clients: 64", record), None);
    }
}
