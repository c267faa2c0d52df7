//! Memory.

use super::Words;
use super::evidence::figure;
use crate::finding::{GrowingMemory, MemoryGrowth, RunsShowing, UnboundedRequests};
use threadcount_model::figures::{memory as mb, whole};

const fn name(memory: GrowingMemory) -> &'static str {
    match memory {
        GrowingMemory::HeapAfterCollections => "the heap after full collections",
        GrowingMemory::ResidentSet => "resident memory",
    }
}

impl Words for MemoryGrowth {
    fn sentence(&self, _: Option<RunsShowing>) -> String {
        format!(
            "{} grew throughout the measured window: from {} to {} in {:.0} s, {:.1} MB/s",
            name(self.memory),
            mb(self.from_bytes),
            mb(self.to_bytes),
            self.window_s,
            (self.to_bytes - self.from_bytes) / 1e6 / self.window_s
        )
    }

    fn advice(&self) -> Option<String> {
        let advice = match self.memory {
            GrowingMemory::HeapAfterCollections => {
                "a longer measurement, as a cache reaches a steady state; else compare two class histograms (jcmd PID \
                 GC.class_histogram)"
            }
            GrowingMemory::ResidentSet => {
                "a longer measurement, to see whether it reaches a steady state; in a JVM, jcmd PID VM.native_memory, as \
                 the heap does not explain it"
            }
        };
        Some(advice.to_owned())
    }

    fn evidence(&self) -> Vec<String> {
        let name = name(self.memory);
        vec![
            figure(&format!("{name}, lowest in the first fifth"), self.from_bytes / 1e6, "MB"),
            figure(&format!("{name}, lowest in the last fifth"), self.to_bytes / 1e6, "MB"),
            figure("window", self.window_s, "s"),
        ]
    }
}

impl Words for UnboundedRequests {
    fn sentence(&self, _: Option<RunsShowing>) -> String {
        format!(
            "no limit of the requests at once is known, and they fill the heap: {} of {} are live, with the stacks of {} parked virtual \
             threads; {} with {}",
            mb(self.live_bytes),
            mb(self.heap_bytes),
            whole(self.virtual_thread_stacks),
            mb(self.least_live_bytes),
            self.least_variant
        )
    }

    fn advice(&self) -> Option<String> {
        let advice = "a limit for virtual threads (docs/bounded-virtual-threads.md), or a lower one: what cannot be served is refused at \
                      once; a larger heap lets more requests in, until it is full as well";
        Some(advice.to_owned())
    }

    fn evidence(&self) -> Vec<String> {
        vec![
            figure("stacks of parked virtual threads in the heap", self.virtual_thread_stacks, "stacks"),
            figure("live objects under load", self.live_bytes / 1e6, "MB"),
            figure("largest heap", self.heap_bytes / 1e6, "MB"),
            figure(&format!("live objects with {}", self.least_variant), self.least_live_bytes / 1e6, "MB"),
        ]
    }
}
