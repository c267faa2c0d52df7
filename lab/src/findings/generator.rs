//! The load generator was the bottleneck: the figures are its own.

use super::{Rule, VariantRuns, confidence, evidence};
use crate::model::result::Finding;
use crate::stats::runs::is_healthy;

pub(super) struct Generator;

impl Rule for Generator {
    fn name(&self) -> &'static str {
        "generator"
    }

    fn look(&self, runs_of_variant: &VariantRuns<'_>) -> Option<Finding> {
        let limited: Vec<_> = runs_of_variant
            .runs
            .iter()
            .filter(|run| !is_healthy(run))
            .filter_map(|run| run.measured.as_ref())
            .collect();
        let worst = limited.iter().max_by(|a, b| a.generator.cpu_share.total_cmp(&b.generator.cpu_share))?;
        let why = worst.generator.why.as_deref().unwrap_or("the reason is not known");
        let (held, runs) = (limited.len(), runs_of_variant.runs.len());
        let sentence = format!(
            "the load generator was the bottleneck in {held} of {runs} runs, so no verdict is drawn: {why}"
        );
        let mut seen = vec![
            evidence("runs in which it was the bottleneck", held as f64, "runs"),
            evidence("busiest generator thread's share of a core", worst.generator.cpu_share, "of a core"),
            evidence("generator CPU per request", worst.generator.cpu_us_per_request, "us"),
        ];
        seen.extend(
            worst.generator.send_lag_ms.map(|lag| evidence("send lag, 99th percentile", lag.p99, "ms")),
        );
        let finding = runs_of_variant.finding(self.name(), sentence, seen, confidence(held, runs));
        let advice = "more generator threads, another machine for the generator, or a lower rate";
        Some(finding.advising(advice))
    }
}

#[cfg(test)]
mod tests {
    use super::super::variant_runs::stage::{look, run};
    use super::*;
    use crate::stats::sample::with_load;

    #[test]
    fn a_generator_without_room_is_named_with_its_reason() {
        let record = with_load(run(90_000.0, 0.1, 1.0, 1.9), |load| {
            load.generator.bottleneck = true;
            load.generator.why = Some("it used 97 % of a core".to_owned());
        });
        let finding = look(&Generator, "clients: 64", record).expect("a finding");
        let expected = "the load generator was the bottleneck in 3 of 3 runs, so no verdict is \
            drawn: it used 97 % of a core";
        assert_eq!(finding.sentence, expected);
    }

    #[test]
    fn a_busy_generator_that_keeps_up_is_left_alone() {
        let record = with_load(run(90_000.0, 0.1, 1.0, 1.9), |load| load.generator.cpu_share = 0.88);
        assert_eq!(look(&Generator, "clients: 64", record), None);
    }
}
