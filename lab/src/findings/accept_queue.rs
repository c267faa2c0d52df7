//! The kernel had no room for connections that the server had not yet accepted.

use super::{Rule, VariantRuns, confidence, evidence};
use crate::model::figures::whole;
use crate::model::result::Finding;

pub(super) struct AcceptQueue;

impl Rule for AcceptQueue {
    fn name(&self) -> &'static str {
        "accept-queue"
    }

    /// SYN retransmits alone are no evidence: the kernel counts them for the whole machine, and a packet can be lost.
    fn look(&self, runs_of_variant: &VariantRuns<'_>) -> Option<Finding> {
        let overflowed: Vec<_> = runs_of_variant
            .runs
            .iter()
            .filter_map(|run| run.network)
            .filter(|network| network.listen_overflows > 0)
            .collect();
        if overflowed.is_empty() {
            return None;
        }
        let sum = |of: fn(&crate::model::record::NetworkCounters) -> u64| {
            overflowed.iter().map(of).sum::<u64>() as f64
        };
        let (overflows, repeated) =
            (sum(|network| network.listen_overflows), sum(|network| network.syn_retransmits));
        let (held, runs) = (overflowed.len(), runs_of_variant.runs.len());
        let sentence = format!(
            "the accept queue overflowed {} times in {held} of {runs} runs, and {} connection attempts were retried after \
             1 s: a limit of the backlog, not of the thread model",
            whole(overflows),
            whole(repeated)
        );
        let seen = vec![
            evidence("accept queue overflows", overflows, "connections"),
            evidence("connection attempts repeated", repeated, "segments"),
            evidence("clients", runs_of_variant.clients(), "clients"),
        ];
        let finding = runs_of_variant.finding(self.name(), sentence, seen, confidence(held, runs));
        let advice = "`accept_count` (Tomcat: acceptCount) and the kernel's net.core.somaxconn above the number of clients";
        Some(finding.advising(advice))
    }
}

#[cfg(test)]
mod tests {
    use super::super::variant_runs::stage::{look, run};
    use super::*;
    use crate::model::record::NetworkCounters;

    fn counted(listen_overflows: u64, syn_retransmits: u64) -> Option<Finding> {
        let mut record = run(200.0, 1000.0, 1010.0, 0.2);
        record.network =
            Some(NetworkCounters { listen_overflows, syn_retransmits, ..NetworkCounters::default() });
        look(&AcceptQueue, "clients: 200", record)
    }

    #[test]
    fn an_overflow_is_named_with_what_it_cost() {
        let finding = counted(7, 9).expect("a finding");
        assert!(
            finding
                .sentence
                .starts_with("the accept queue overflowed 21 times in 3 of 3 runs, and 27 connection")
        );
    }

    #[test]
    fn lost_packets_of_somebody_else_are_left_alone() {
        assert_eq!(counted(0, 9), None);
    }
}
