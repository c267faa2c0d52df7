//! The memory that a server needs: its live heap under load, and everything outside the heap.

use super::{NativeMemory, Record};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The heap after a collection of the whole heap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LiveHeap {
    /// Bytes of reachable objects.
    pub live_bytes: u64,
    /// Number of stack chunks of unmounted virtual threads; a thread with a deep stack has several.
    pub virtual_thread_stacks: u64,
    /// The part of `live_bytes` in these stack chunks.
    pub virtual_thread_stacks_bytes: u64,
}

/// The live heap of one run, counted right after the measured window under the same load.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryUnderLoad {
    /// The live heap with requests in flight.
    pub under_load: LiveHeap,
    /// The live heap after all connections were closed; `None`: not counted in this round.
    pub at_rest: Option<LiveHeap>,
    /// Connections of the load generator; for an open load, the most that it opens.
    pub connections: u64,
}

impl NativeMemory {
    /// Everything but the Java heap, committed, bytes.
    #[must_use]
    pub const fn outside_heap_bytes(&self) -> u64 {
        self.committed_bytes.saturating_sub(self.heap_committed_bytes)
    }

    /// Committed outside heap, thread stacks and classes: compiled code, the collector, buffers; bytes.
    #[must_use]
    pub fn other_bytes(&self) -> Option<u64> {
        let named = self.stack_committed_bytes + self.class_metadata_bytes?;
        Some(self.outside_heap_bytes().saturating_sub(named))
    }
}

impl Record {
    /// Live objects under load, bytes.
    #[must_use]
    pub fn live_heap_bytes(&self) -> Option<f64> {
        Some(self.memory?.under_load.live_bytes as f64)
    }

    /// Memory needed: the live heap and everything outside the heap, bytes.
    #[must_use]
    pub fn memory_needed_bytes(&self) -> Option<f64> {
        Some(self.live_heap_bytes()? + self.native_memory?.after.outside_heap_bytes() as f64)
    }

    /// Resident memory beyond the memory needed, in bytes: heap that was touched but holds no live objects.
    #[must_use]
    pub fn touched_not_needed_bytes(&self) -> Option<f64> {
        Some((self.cost?.rss_peak_bytes as f64 - self.memory_needed_bytes()?).max(0.0))
    }

    /// Memory that requests and their connections hold, in bytes: heap that becomes free without them, and the thread stacks added
    /// under load.
    #[must_use]
    fn held_by_load_bytes(&self) -> Option<f64> {
        let (memory, native) = (self.memory?, self.native_memory?);
        let heap = memory.under_load.live_bytes.saturating_sub(memory.at_rest?.live_bytes);
        let stacks = native.after.stack_committed_bytes.saturating_sub(native.before.stack_committed_bytes);
        Some((heap + stacks) as f64)
    }

    /// Memory that requests and connections hold, per connection, in bytes.
    #[must_use]
    pub fn memory_per_connection_bytes(&self) -> Option<f64> {
        let connections = self.memory?.connections;
        (connections > 0).then_some(self.held_by_load_bytes()? / connections as f64)
    }

    /// Bytes that requests and connections hold per request in flight, of which there are rate times mean response time (Little's law).
    #[must_use]
    pub fn memory_per_request_in_flight_bytes(&self) -> Option<f64> {
        let load = self.measured.as_ref()?;
        let in_flight = load.rate_per_s.completed * load.response_time_ms?.mean / 1e3;
        (in_flight > 0.0).then_some(self.held_by_load_bytes()? / in_flight)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::BeforeAfter;
    use crate::sample::run;

    const MB: u64 = 1_000_000;

    fn measured() -> Record {
        let native = |stack_mb: u64| NativeMemory {
            committed_bytes: 340 * MB,
            heap_committed_bytes: 256 * MB,
            stack_committed_bytes: stack_mb * MB,
            class_metadata_bytes: Some(30 * MB),
            ..NativeMemory::default()
        };
        let heap = |live_mb: u64| LiveHeap { live_bytes: live_mb * MB, ..LiveHeap::default() };
        Record {
            native_memory: Some(BeforeAfter { before: native(2), after: native(12) }),
            memory: Some(MemoryUnderLoad {
                under_load: heap(60),
                at_rest: Some(heap(20)),
                connections: 1_000,
            }),
            ..run("a", "c1000", 100.0, 5.0)
        }
    }

    #[test]
    fn needed_is_what_lives_and_what_is_outside_the_heap_and_the_rest_was_merely_touched() {
        let run = measured();
        assert_eq!(run.memory_needed_bytes(), Some(144e6));
        assert_eq!(run.cost.unwrap().rss_peak_bytes, 300 * MB);
        assert_eq!(run.touched_not_needed_bytes(), Some(156e6));
        assert_eq!(run.native_memory.unwrap().after.other_bytes(), Some(42 * MB));
    }

    #[test]
    fn a_connection_holds_what_dies_with_it_and_the_stacks_that_came_with_it() {
        assert_eq!(measured().memory_per_connection_bytes(), Some(50_000.0));
        // 100 requests per second of 5 ms each: half a request in flight.
        let each = measured().memory_per_request_in_flight_bytes().unwrap();
        let mean_ms = measured().measured.unwrap().response_time_ms.unwrap().mean;
        assert!((each - 50e6 / (100.0 * mean_ms / 1e3)).abs() < 1e-3, "{each}");
    }

    #[test]
    fn without_native_memory_tracking_it_is_not_known_what_is_needed() {
        let run = Record { native_memory: None, ..measured() };
        assert_eq!((run.memory_needed_bytes(), run.touched_not_needed_bytes()), (None, None));
        assert_eq!(run.live_heap_bytes(), Some(60e6));
    }
}
