//! The load is the limit: each client waits for its response, and the server has room for more of them.

use super::variant_runs::FULL_MACHINE;
use super::{Rule, VariantRuns, evidence};
use crate::model::figures::{milliseconds as ms, whole};
use crate::model::result::Finding;

/// A median this much above the fastest response leaves no room for a queue.
const NEARLY_THE_FASTEST: f64 = 1.15;
/// How near clients / response time has to come to the rate: then the clients did nothing but wait.
const SAME_RATE: f64 = 0.05;

pub(super) struct ClientCeiling;

impl Rule for ClientCeiling {
    fn name(&self) -> &'static str {
        "client-ceiling"
    }

    fn look(&self, runs_of_variant: &VariantRuns<'_>) -> Option<Finding> {
        let clients = runs_of_variant.clients();
        if !runs_of_variant.is_closed() {
            return None;
        }
        let (facts, confidence) = runs_of_variant.mostly(|facts| {
            let waiting_only = clients * 1_000.0 / facts.mean_ms;
            facts.p50_ms <= NEARLY_THE_FASTEST * facts.fastest_ms
                && facts.machine_share() < FULL_MACHINE
                && (facts.rate_per_s / waiting_only - 1.0).abs() <= SAME_RATE
        })?;
        let sentence = format!(
            "limited by the load: {} clients cannot request more than {}/s at {} per request",
            whole(clients),
            whole(clients * 1_000.0 / facts.mean_ms),
            ms(facts.mean_ms)
        );
        let mut seen = vec![
            evidence("clients", clients, "clients"),
            evidence("mean response time", facts.mean_ms, "ms"),
            evidence("median response time", facts.p50_ms, "ms"),
            evidence("fastest response", facts.fastest_ms, "ms"),
            evidence("rate seen", facts.rate_per_s, "requests/s"),
        ];
        seen.extend(facts.cpu_evidence());
        let advice = "more clients, or a rate, to find the limit of the server";
        let finding = runs_of_variant.finding(self.name(), sentence, seen, confidence);
        Some(finding.advising(advice))
    }
}

#[cfg(test)]
mod tests {
    use super::super::variant_runs::stage::{look, run};
    use super::*;

    #[test]
    fn clients_that_only_wait_are_the_limit() {
        let finding = look(&ClientCeiling, "clients: 400", run(7846.0, 50.1, 50.9, 1.2)).expect("a finding");
        let expected =
            "limited by the load: 400 clients cannot request more than 7,859/s at 50.9 ms per request";
        assert_eq!(finding.sentence, expected);
    }

    #[test]
    fn look_alikes_are_left_alone() {
        let silent = [
            ("a queue in the server", "clients: 400", run(3961.0, 50.2, 100.6, 0.9)),
            ("a full CPU", "clients: 400", run(7846.0, 50.1, 50.9, 1.9)),
            ("an open load", "rate: 7846/s", run(7846.0, 50.1, 50.9, 1.2)),
            ("clients that do something else", "clients: 400", run(5000.0, 50.1, 50.9, 1.2)),
        ];
        for (what, load, record) in silent {
            assert_eq!(look(&ClientCeiling, load, record), None, "{what}");
        }
    }
}
