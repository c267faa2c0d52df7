//! One cause of most of the slowest requests.

use super::Words;
use super::evidence::known;
use crate::finding::{DelayedTail, RunsShowing};
use crate::words::pause_cause::cause_words;
use threadcount_model::figures::{milliseconds as ms, percent};
use threadcount_model::record::pause_ledger::PauseCause;

impl Words for DelayedTail {
    fn sentence(&self, _: Option<RunsShowing>) -> String {
        format!(
            "{} delay {} of the requests beyond the 99th percentile ({}, median {}), by {} on average; the longest is {}",
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
                "to find the thread that stops late (-XX:+SafepointTimeout -XX:SafepointTimeoutDelay=10): a long copy of an array, a page \
                 fault in a mapped file, or a full machine"
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

    fn evidence(&self) -> Vec<String> {
        known(&[
            ("requests beyond the 99th percentile that it delays", Some(self.requests_share * 100.0), "%"),
            ("mean delay of these", Some(self.delay_ms), "ms"),
            ("pauses", Some(self.pauses_per_run), "in each run"),
            ("longest pause", Some(self.longest_pause_ms), "ms"),
            ("99th percentile", Some(self.p99_ms), "ms"),
            ("median response", Some(self.p50_ms), "ms"),
        ])
    }
}
