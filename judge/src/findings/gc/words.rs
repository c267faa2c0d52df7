use super::GcPauses;
use crate::findings::allocation::fewer_allocations;
use crate::words::finding::Words;
use threadcount_model::figures::{milliseconds as ms, percent};

impl Words for GcPauses {
    fn sentence(&self) -> String {
        match (self.slow_seconds, self.tail) {
            (Some(slow), _) => format!(
                "garbage collection pauses explain {:.0} of the {:.0} slowest seconds (up to {}), and {} of the others. The longest \
                 pause is {}",
                slow.explained_seconds,
                slow.seconds,
                ms(slow.slowest_ms),
                percent(slow.others_share),
                ms(self.longest_pause_ms)
            ),
            (None, Some(tail)) => format!(
                "garbage collection pauses set p99 ({}, median {}). They delay at least {} of the requests by {} or more. The longest \
                 pause is {}",
                ms(tail.p99_ms),
                ms(tail.p50_ms),
                percent(tail.delayed_share),
                ms(tail.delay_ms),
                ms(self.longest_pause_ms)
            ),
            (None, None) => {
                format!(
                    "garbage collection pauses stop the server for {} of the time",
                    percent(self.paused_share)
                )
            }
        }
    }

    fn advice(&self) -> Option<String> {
        let larger_heap = "a larger heap (-Xmx), a collector with shorter pauses (-XX:+UseZGC), or fewer allocations per request";
        Some(self.allocates_more_than.as_deref().map_or_else(|| larger_heap.to_owned(), fewer_allocations))
    }
}
