//! The kernel had no room for connections that the server had not yet accepted.

use super::{VariantRuns, showing};
use crate::finding::{AcceptQueueOverflow, Fact, Finding};
use threadcount_model::record::NetworkCounters;

/// SYN retransmits alone are no evidence: the kernel counts them for the whole machine, and a packet can be lost.
pub(super) fn find(runs_of_variant: &VariantRuns<'_>) -> Option<Finding> {
    let networks = runs_of_variant.runs.iter().filter_map(|run| run.network);
    let overflowed: Vec<_> = networks.filter(|network| network.listen_overflows > 0).collect();
    if overflowed.is_empty() {
        return None;
    }
    let sum = |count: fn(&NetworkCounters) -> u64| overflowed.iter().map(count).sum::<u64>();
    let overflow = AcceptQueueOverflow {
        overflows: sum(|network| network.listen_overflows),
        syn_retransmits: sum(|network| network.syn_retransmits),
        clients: runs_of_variant.clients(),
    };
    let runs = showing(overflowed.len(), runs_of_variant.runs.len());
    Some(runs_of_variant.finding(Fact::AcceptQueue(overflow), runs))
}

#[cfg(test)]
mod tests {
    use super::super::variant_runs::stage::{found, run, sentence};
    use super::*;

    fn counted(listen_overflows: u64, syn_retransmits: u64) -> Option<Finding> {
        let mut record = run(200.0, 1000.0, 1010.0, 0.2);
        record.network =
            Some(NetworkCounters { listen_overflows, syn_retransmits, ..NetworkCounters::default() });
        found(find, "clients: 200", record)
    }

    #[test]
    fn an_overflow_is_named_with_what_it_cost() {
        let finding = counted(7, 9).expect("a finding");
        assert!(
            sentence(&finding)
                .starts_with("the accept queue overflowed 21 times in 3 of 3 runs, and 27 connection")
        );
    }

    #[test]
    fn lost_packets_of_somebody_else_are_left_alone() {
        assert_eq!(counted(0, 9), None);
    }
}
