//! The accept queue overflowed: the kernel had no room for connections that the server had not accepted yet.

use crate::evidence::variant_runs::VariantRuns;
use crate::finding::{Fact, Finding, RunsShowing};
use crate::words::finding::Words;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use threadcount_model::figures::count;
use threadcount_model::record::NetworkCounters;

/// Sums over the runs in which the queue overflowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names are the definition")]
pub struct AcceptQueueOverflow {
    pub overflows: u64,
    pub syn_retransmits: u64,
    pub clients: u32,
}

/// Finds overflows of the accept queue. SYN retransmits alone prove nothing: they count for the whole machine, and any packet can be lost.
pub(crate) fn find(runs_of_variant: &VariantRuns<'_>) -> Option<Finding> {
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
    let runs = RunsShowing::new(overflowed.len(), runs_of_variant.runs.len());
    Some(runs_of_variant.finding(Fact::AcceptQueue(overflow), runs))
}

impl Words for AcceptQueueOverflow {
    fn sentence(&self) -> String {
        format!(
            "the accept queue overflowed {} times, and {} connection attempts were retried after 1 s. The limit is the \
             backlog, not the thread model",
            count(self.overflows),
            count(self.syn_retransmits)
        )
    }

    fn advice(&self) -> Option<String> {
        Some(
            "`accept_count` (Tomcat: acceptCount) and the kernel's net.core.somaxconn above the number of clients"
                .to_owned(),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::variant_runs::stage::{found, run, sentence};

    fn counted(listen_overflows: u64, syn_retransmits: u64) -> Option<Finding> {
        let mut record = run(200.0, 1000.0, 1010.0, 0.2);
        record.network =
            Some(NetworkCounters { listen_overflows, syn_retransmits, ..NetworkCounters::default() });
        found(find, "clients: 200", record)
    }

    #[test]
    fn an_overflow_is_named_with_what_it_cost() {
        let finding = counted(7, 9).expect("a finding");
        assert!(sentence(&finding).starts_with("the accept queue overflowed 21 times, and 27 connection"));
    }

    #[test]
    fn lost_packets_of_somebody_else_are_left_alone() {
        assert_eq!(counted(0, 9), None);
    }
}
