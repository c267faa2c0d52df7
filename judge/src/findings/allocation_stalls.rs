//! Threads wait for memory that a concurrent collector has not freed yet. The pauses of such a collector (ZGC) stay short meanwhile.

use crate::evidence::tail::{ABOVE_P99, STANDS_OUT};
use crate::evidence::variant_runs::VariantRuns;
use crate::finding::{Fact, Finding};
use crate::findings::allocation::fewer_allocations;
use crate::words::finding::Words;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use threadcount_model::figures::{milliseconds as ms, percent};
use threadcount_model::record::Record;
use threadcount_stats::pause_ledger::EXPLAINS;

/// Figures of the typical run of those that show it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names are the definition")]
pub struct AllocationStalls {
    pub stalls_per_run: f64,
    pub mean_ms: f64,
    pub longest_ms: f64,
    /// Share of the window in which at least one thread waited.
    pub waiting_share: f64,
    /// A variant whose requests allocate much less, so that the heap is not too small; `None` if there is no such variant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allocates_more_than: Option<String>,
}

/// Stalls count if a thread waits for this share of the time, or if they make the 99th percentile stand out.
const MUCH_TIME: f64 = 0.1;

/// The allocation stalls of a run that are worth a finding.
fn stalls(record: &Record) -> Option<AllocationStalls> {
    let stalls = record.jvm_log.as_ref()?.allocation_stalls;
    let load = record.measured.as_ref()?;
    let times = load.response_time_ms?;
    if stalls.count == 0 {
        return None;
    }
    let count = stalls.count as f64;
    let mean_ms = stalls.total_ms / count;
    let makes_tail = times.p99 >= STANDS_OUT * times.p50
        && mean_ms >= EXPLAINS * (times.p99 - times.p50)
        && count >= ABOVE_P99 * load.requests.ok as f64;
    (stalls.share >= MUCH_TIME || makes_tail).then_some(AllocationStalls {
        stalls_per_run: count,
        mean_ms,
        longest_ms: stalls.longest_ms,
        waiting_share: stalls.share,
        allocates_more_than: None,
    })
}

pub(crate) fn find(runs_of_variant: &VariantRuns<'_>) -> Option<Finding> {
    runs_of_variant.typical_finding(|run| stalls(run).map(Fact::AllocationStalls))
}

impl Words for AllocationStalls {
    fn sentence(&self) -> String {
        format!(
            "threads wait for memory that the garbage collector has not freed, {} each time, at most {}. At least one thread \
             waits in {} of the time",
            ms(self.mean_ms),
            ms(self.longest_ms),
            percent(self.waiting_share)
        )
    }

    fn advice(&self) -> Option<String> {
        let larger_heap = "a larger heap (-Xmx), more threads for the collector (-XX:ConcGCThreads), or fewer allocations per request";
        Some(self.allocates_more_than.as_deref().map_or_else(|| larger_heap.to_owned(), fewer_allocations))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::variant_runs::stage::{found, run, sentence};
    use threadcount_model::record::jvm_log::{JvmLog, Stopped};

    /// A run of 40,000 requests of 50 ms; the slowest hundredth took `p99_ms`.
    fn stalled(p99_ms: f64, count: u64, total_ms: f64, share: f64) -> Record {
        let mut record = run(4_000.0, 49.0, 50.0, 0.9);
        let load = record.measured.as_mut().expect("it was measured");
        load.response_time_ms.as_mut().expect("it has times").p99 = p99_ms;
        let allocation_stalls = Stopped { count, total_ms, longest_ms: 80.0, share };
        record.jvm_log = Some(JvmLog { allocation_stalls, ..JvmLog::default() });
        record
    }

    #[test]
    fn threads_that_wait_in_a_third_of_the_time_are_named() {
        let finding = found(find, "clients: 200", stalled(55.0, 500, 5_000.0, 0.31)).expect("a finding");
        let expected = "threads wait for memory that the garbage collector has not freed, 10.0 ms each time, at most 80.0 ms. At least one thread waits in 31 % of the time";
        assert_eq!(sentence(&finding), expected);
    }

    #[test]
    fn stalls_that_make_the_slowest_hundredth_are_named_though_they_are_rare() {
        assert!(found(find, "clients: 200", stalled(90.0, 400, 12_000.0, 0.05)).is_some());
    }

    #[test]
    fn look_alikes_are_left_alone() {
        let silent = [
            ("a few stalls", stalled(90.0, 3, 90.0, 0.009)),
            ("many short ones", stalled(90.0, 900, 900.0, 0.05)),
            ("the tail is longer than they are", stalled(400.0, 400, 12_000.0, 0.05)),
            ("none", stalled(90.0, 0, 0.0, 0.0)),
            ("no log", Record { jvm_log: None, ..stalled(90.0, 400, 12_000.0, 0.5) }),
        ];
        for (case, record) in silent {
            assert_eq!(found(find, "clients: 200", record), None, "{case}");
        }
    }
}
