//! One cause delays most of the requests beyond the 99th percentile, as a comparison of the times of both shows.

use crate::evidence::tail::STANDS_OUT;
use crate::evidence::variant_runs::VariantRuns;
use crate::finding::{Fact, Finding, Rule};
use crate::limit::thresholds::MOST;
use crate::words::finding::Words;
use crate::words::pause_cause::cause_words;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use threadcount_model::figures::{milliseconds as ms, percent};
use threadcount_model::record::Record;
use threadcount_model::record::pause_ledger::PauseCause;

/// Figures of the typical run of those that show it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names are the definition")]
pub struct DelayedTail {
    pub cause: PauseCause,
    /// Share of the requests beyond the 99th percentile.
    pub requests_share: f64,
    /// Mean delay of these requests.
    pub delay_ms: f64,
    pub pauses_per_run: f64,
    pub longest_pause_ms: f64,
    pub p50_ms: f64,
    pub p99_ms: f64,
}

/// With fewer sampled requests, a coincidence may be chance.
const FEWEST_REQUESTS: u64 = 20;
/// A 99th percentile that stands out is also longer than the median by at least this.
const LONGER_BY_MS: f64 = 2.0;

/// `named` are the findings of other rules for the same variant and load.
pub(crate) fn find(runs_of_variant: &VariantRuns<'_>, named: &[Finding]) -> Option<Finding> {
    let main_cause = |run: &&Record| delayed_tail(run).map(|tail| tail.cause);
    let cause = runs_of_variant.runs.iter().find_map(main_cause).filter(|cause| !is_named(*cause, named))?;
    runs_of_variant
        .typical_finding(|run| delayed_tail(run).filter(|tail| tail.cause == cause).map(Fact::DelayedTail))
}

/// The tail of a run that mostly has one cause.
fn delayed_tail(record: &Record) -> Option<DelayedTail> {
    let ledger = record.pause_ledger.as_ref()?;
    let stands_out =
        ledger.p99_ms >= STANDS_OUT * ledger.p50_ms && ledger.p99_ms >= ledger.p50_ms + LONGER_BY_MS;
    let cause = ledger.main_cause().filter(|cause| cause.requests_share >= MOST)?;
    (stands_out && ledger.sampled >= FEWEST_REQUESTS).then_some(DelayedTail {
        cause: cause.cause,
        requests_share: cause.requests_share,
        delay_ms: cause.delay_ms.unwrap_or(0.0),
        pauses_per_run: cause.pauses as f64,
        longest_pause_ms: cause.longest_ms,
        p50_ms: ledger.p50_ms,
        p99_ms: ledger.p99_ms,
    })
}

/// Does another finding about the same variant and load already name this cause?
fn is_named(cause: PauseCause, findings: &[Finding]) -> bool {
    let rule = match cause {
        PauseCause::GarbageCollection => Rule::Gc,
        PauseCause::AllocationStall => Rule::AllocationStalls,
        PauseCause::Throttling => Rule::Throttled,
        PauseCause::OtherSafepoint
        | PauseCause::TimeToSafepoint
        | PauseCause::Compilation
        | PauseCause::Steal => return false,
    };
    findings.iter().any(|finding| finding.rule() == rule)
}

impl Words for DelayedTail {
    fn sentence(&self) -> String {
        format!(
            "{} delay {} of the requests beyond p99. The p99 is {}, the median {}, the mean delay {}, and the longest pause {}",
            cause_words(self.cause).long,
            percent(self.requests_share),
            ms(self.p99_ms),
            ms(self.p50_ms),
            ms(self.delay_ms),
            ms(self.longest_pause_ms)
        )
    }

    fn advice(&self) -> Option<String> {
        let advice = match self.cause {
            PauseCause::GarbageCollection => {
                "a larger heap (-Xmx), a collector with shorter pauses (-XX:+UseZGC), or fewer allocations per request"
            }
            PauseCause::OtherSafepoint => {
                "the reasons of the safepoints in the JVM's log (-Xlog:safepoint): thread dumps, heap inspections, and agents stop all threads"
            }
            PauseCause::TimeToSafepoint => {
                "to find the thread that stops late (-XX:+SafepointTimeout -XX:SafepointTimeoutDelay=10). It may be a long copy of an \
                 array, a page fault in a mapped file, or a full machine"
            }
            PauseCause::AllocationStall => {
                "a larger heap (-Xmx), more threads for the collector (-XX:ConcGCThreads)"
            }
            PauseCause::Compilation => "a longer `warmup`, or more cores",
            PauseCause::Throttling => "a larger CPU quota, or none",
            PauseCause::Steal => "a machine with cores of its own",
        };
        Some(advice.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::variant_runs::stage::{advice, found, run, sentence};
    use crate::findings::gc::GcPauses;
    use threadcount_model::record::pause_ledger::{CauseOfDelay, PauseLedger};

    fn alone(runs_of_variant: &VariantRuns<'_>) -> Option<Finding> {
        find(runs_of_variant, &[])
    }

    /// A run whose slowest hundredth takes `p99_ms`; the cause explains `requests_share` of these requests.
    fn delayed(cause: PauseCause, requests_share: f64, p99_ms: f64, sampled: u64) -> Record {
        let causes = vec![
            CauseOfDelay {
                cause,
                pauses: 12,
                total_ms: 400.0,
                longest_ms: 44.0,
                requests_share,
                delay_ms: Some(31.0),
            },
            CauseOfDelay {
                cause: PauseCause::Steal,
                pauses: 0,
                total_ms: 0.0,
                longest_ms: 0.0,
                requests_share: 0.0,
                delay_ms: None,
            },
        ];
        let ledger = PauseLedger {
            p50_ms: 50.0,
            p99_ms,
            slow_requests: sampled,
            sampled,
            causes,
            unexplained_share: 1.0 - requests_share,
            slowest: Vec::new(),
        };
        Record { pause_ledger: Some(ledger), ..run(4_000.0, 49.0, 50.0, 0.9) }
    }

    #[test]
    fn a_cause_of_most_of_the_slowest_requests_is_named() {
        let safepoints = delayed(PauseCause::OtherSafepoint, 0.9, 88.0, 400);
        let finding = found(alone, "clients: 200", safepoints).expect("a finding");
        let expected = "stops of all threads for other reasons than garbage collection delay 90 % of the requests beyond p99. The p99 is \
            88.0 ms, the median 50.0 ms, the mean delay 31.0 ms, and the longest pause 44.0 ms";
        assert_eq!(sentence(&finding), expected);
        assert!(advice(&finding).contains("-Xlog:safepoint"), "{finding:?}");
    }

    #[test]
    fn look_alikes_are_left_alone() {
        let cause = PauseCause::TimeToSafepoint;
        let silent = [
            ("pauses beside the slow requests", delayed(cause, 0.02, 88.0, 400)),
            ("one of several causes", delayed(cause, 0.4, 88.0, 400)),
            ("there is no tail", delayed(cause, 0.9, 51.0, 400)),
            ("too few requests", delayed(cause, 1.0, 88.0, 8)),
            (
                "nothing that could delay requests",
                Record { pause_ledger: None, ..delayed(cause, 0.9, 88.0, 400) },
            ),
        ];
        for (case, record) in silent {
            assert_eq!(found(alone, "clients: 200", record), None, "{case}");
        }
    }

    #[test]
    fn what_the_finding_on_garbage_collection_says_is_not_said_twice() {
        let finding =
            found(alone, "clients: 200", delayed(PauseCause::GarbageCollection, 0.9, 88.0, 400)).unwrap();
        let pauses = GcPauses {
            paused_share: 0.2,
            pauses_per_run: 9.0,
            longest_pause_ms: 90.0,
            slow_seconds: None,
            tail: None,
            allocates_more_than: None,
        };
        let as_named = Finding { fact: Fact::Gc(pauses), ..finding };
        assert!(is_named(PauseCause::GarbageCollection, std::slice::from_ref(&as_named)));
        assert!(!is_named(PauseCause::OtherSafepoint, &[as_named]));
        assert!(!is_named(PauseCause::GarbageCollection, &[]));
    }
}
