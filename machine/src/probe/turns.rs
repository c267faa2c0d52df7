//! The order of threads that wait for the same resource, added up over a window.

use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::BTreeMap;
use threadcount_load::clock::{NANOS_PER_S, Nanos};
use threadcount_model::record::turns::Turns;
use threadcount_model::record::wait_profile::{ThreadRole, ThreadState};

/// Turns at one lock, monitor, semaphore, pool or queue since the sample before, as far as they were seen.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
pub struct TurnsLine {
    /// When it was written.
    pub t_ns: Nanos,
    /// The kind of work that the threads do.
    pub role: ThreadRole,
    /// The kind of resource that is waited for.
    pub state: ThreadState,
    /// Its class or product.
    pub resource: Option<String>,
    /// Threads that got it.
    pub turns: u64,
    /// Turns of threads that came after a thread that still waits.
    pub overtaking: u64,
    /// Where the one that overtook the longest wait is or was.
    pub overtaker: Option<String>,
    /// Where the one that it overtook waits.
    pub overtaken: Option<String>,
    /// How long that one has been waiting; 0: nobody was overtaken.
    pub waited_ns: u64,
}

/// The lines read so far.
#[derive(Default)]
pub(super) struct TurnsTally {
    sums: BTreeMap<Key, Sum>,
}

type Key = (ThreadRole, ThreadState, Option<String>);

#[derive(Default)]
struct Sum {
    turns: u64,
    overtaking: u64,
    overtaking_after_1s: u64,
    /// Pairs of overtaker and overtaken, with the number of times.
    pairs: BTreeMap<(Option<String>, Option<String>), u64>,
    longest_ns: u64,
}

impl TurnsTally {
    pub(super) fn add(&mut self, line: &TurnsLine) {
        let sum = self.sums.entry((line.role, line.state, line.resource.clone())).or_default();
        sum.turns = sum.turns.saturating_add(line.turns);
        sum.overtaking = sum.overtaking.saturating_add(line.overtaking);
        if line.waited_ns >= NANOS_PER_S {
            sum.overtaking_after_1s = sum.overtaking_after_1s.saturating_add(line.overtaking);
        }
        sum.longest_ns = sum.longest_ns.max(line.waited_ns);
        if line.overtaking > 0 {
            let times = sum.pairs.entry((line.overtaker.clone(), line.overtaken.clone())).or_default();
            *times = times.saturating_add(line.overtaking);
        }
    }

    /// The turns by resource, the most frequent first.
    pub(super) fn finish(self) -> Vec<Turns> {
        let turns = |((role, state, resource), sum): (Key, Sum)| {
            let most = sum.pairs.into_iter().max_by_key(|(_, count)| *count);
            let (overtaker, overtaken) = most.map(|(pair, _)| pair).unwrap_or_default();
            let longest_ms = sum.longest_ns as f64 / 1e6;
            Turns {
                role,
                state,
                resource,
                turns: sum.turns,
                overtaking: sum.overtaking,
                overtaking_after_1s: sum.overtaking_after_1s,
                overtaker,
                overtaken,
                longest_ms,
            }
        };
        let mut all: Vec<Turns> = self.sums.into_iter().map(turns).collect();
        all.sort_by_key(|it| std::cmp::Reverse(it.turns));
        all
    }
}

#[cfg(test)]
mod tests {
    use super::super::readings::tests::read;
    use super::*;

    fn turns(
        at_s: u64,
        state: &str,
        (turns, overtaking): (u64, u64),
        overtaker: &str,
        waited_ms: u64,
    ) -> String {
        let (t_ns, waited_ns) = (at_s * NANOS_PER_S, waited_ms * 1_000_000);
        format!(
            r#"{{"type":"turns","t_ns":{t_ns},"role":"request","state":"{state}","resource":"java.lang.Object","turns":{turns},"overtaking":{overtaking},"overtaker":"{overtaker}","overtaken":"shop.Orders.save:88","waited_ns":{waited_ns}}}"#
        )
    }

    #[test]
    fn turns_of_the_window_are_added_up_and_the_most_frequent_pair_is_named() {
        let lines = [
            turns(9, "monitor", (9, 9), "A.a:1", 9_000),
            turns(12, "monitor", (3, 2), "shop.Orders.list:31", 400),
            turns(13, "monitor", (2, 1), "shop.Orders.add:7", 900),
            turns(13, "monitor", (1, 1), "shop.Orders.list:31", 1_000),
            turns(14, "semaphore", (1, 0), "", 0),
            turns(14, "monitor", (7, 7), "Job.run:3", 5_000).replace("\"request\"", "\"application\""),
        ];
        let mut all = read(&lines).turns;
        assert_eq!((all[0].role, all[0].overtaking_after_1s), (ThreadRole::Application, 7));
        all.remove(0);
        let figures: Vec<_> =
            all.iter().map(|it| (it.state, it.turns, it.overtaking, it.longest_ms)).collect();
        assert_eq!(all[0].overtaking_after_1s, 1);
        assert_eq!(figures, [(ThreadState::Monitor, 6, 4, 1_000.0), (ThreadState::Semaphore, 1, 0, 0.0)]);
        assert_eq!(all[0].overtaker.as_deref(), Some("shop.Orders.list:31"));
        assert_eq!((all[0].overtaken.as_deref(), &all[1].overtaken), (Some("shop.Orders.save:88"), &None));
    }
}
