//! Without a pool nothing limits the requests: those that are in the server at once fill its heap, and the collector stops it.

use super::VariantRuns;
use super::variant_runs::mean_of;
use crate::model::finding::{Fact, Finding, UnboundedRequests};
use crate::model::record::{Record, RequestThread};

/// Twice the threads of Tomcat's pool, which would have been a limit.
const MANY: f64 = 400.0;
/// Of the largest heap: what is left is too little for a collector to go on.
const FULL: f64 = 0.8;

pub(super) fn find(runs_of_variant: &VariantRuns<'_>) -> Option<Finding> {
    let (found, runs) = runs_of_variant.in_most(unbounded)?;
    let mean = |figure: fn(&UnboundedRequests) -> f64| mean_of(found.iter().map(figure)).unwrap_or_default();
    let means = UnboundedRequests {
        in_flight: mean(|it| it.in_flight),
        virtual_thread_stacks: mean(|it| it.virtual_thread_stacks),
        live_bytes: mean(|it| it.live_bytes),
        heap_bytes: mean(|it| it.heap_bytes),
        gc_paused_share: mean_of(found.iter().filter_map(|it| it.gc_paused_share)),
    };
    Some(runs_of_variant.finding(Fact::UnboundedRequests(means), runs))
}

fn unbounded(record: &Record) -> Option<UnboundedRequests> {
    let is_virtual =
        record.server.request_thread.as_ref().is_some_and(|thread: &RequestThread| thread.is_virtual);
    if !is_virtual || record.server.pool_max_threads.is_some() {
        return None;
    }
    let heap = record.memory?.under_load;
    let found = UnboundedRequests {
        in_flight: most_in_flight(record)?,
        virtual_thread_stacks: heap.virtual_thread_stacks as f64,
        live_bytes: heap.live_bytes as f64,
        heap_bytes: record.native_memory?.after.heap_reserved_bytes? as f64,
        gc_paused_share: gc_paused_share(record),
    };
    let many = found.in_flight.min(found.virtual_thread_stacks) >= MANY;
    (many && found.live_bytes >= FULL * found.heap_bytes).then_some(found)
}

fn most_in_flight(record: &Record) -> Option<f64> {
    let plan = &record.measured.as_ref()?.plan;
    let seconds = record.load_series.iter().filter_map(|second| second.in_flight);
    let most = if plan.mode == "closed" { Some(u64::from(plan.connections)) } else { seconds.max() };
    most.map(|requests| requests as f64)
}

fn gc_paused_share(record: &Record) -> Option<f64> {
    let (paused, load) = (record.gc_pauses()?.total, record.measured.as_ref()?);
    (load.elapsed_s > 0.0).then(|| (paused.total_ms / 1e3 / load.elapsed_s).min(1.0))
}

#[cfg(test)]
mod tests {
    use super::super::variant_runs::stage::{advice, found, run, sentence};
    use super::*;
    use crate::model::record::memory::{LiveHeap, MemoryUnderLoad};
    use crate::model::record::{BeforeAfter, LoadSample, NativeMemory};

    const LOAD: &str = "rate: 1200/s";

    /// So many in flight in the last second, and so many of the 268 MB live.
    fn server(is_virtual: bool, in_flight: u64, live_bytes: u64) -> Record {
        let mut record = run(150.0, 5.0, 500.0, 1.99);
        record.server.request_thread = Some(RequestThread { name: "a thread".to_owned(), is_virtual });
        let second = |in_flight| LoadSample { in_flight: Some(in_flight), ..LoadSample::default() };
        record.load_series = vec![second(3), second(in_flight)];
        if let Some(load) = &mut record.measured {
            "open".clone_into(&mut load.plan.mode);
        }
        let under_load = LiveHeap { live_bytes, virtual_thread_stacks: 1_597, ..LiveHeap::default() };
        record.memory = Some(MemoryUnderLoad { under_load, ..MemoryUnderLoad::default() });
        let after = NativeMemory { heap_reserved_bytes: Some(268_435_456), ..NativeMemory::default() };
        record.native_memory = Some(BeforeAfter { before: NativeMemory::default(), after });
        record
    }

    #[test]
    fn a_heap_full_of_requests_that_nothing_limits_is_named() {
        let finding = found(find, LOAD, server(true, 4_000, 266_000_000)).expect("a finding");
        let expected = "nothing limits the requests at once: up to 4,000 are in flight, the heap has the stacks of 1,597 parked \
            virtual threads, and 266 MB of its 268 MB are live";
        assert_eq!(sentence(&finding), expected);
        assert!(advice(&finding).starts_with("a limit"), "{}", advice(&finding));
    }

    #[test]
    fn of_a_closed_load_all_clients_may_be_in_flight() {
        let mut closed = server(true, 0, 266_000_000);
        if let Some(load) = &mut closed.measured {
            "closed".clone_into(&mut load.plan.mode);
            load.plan.connections = 1_000;
        }
        assert!(found(find, "clients: 1000", closed).is_some());
    }

    #[test]
    fn look_alikes_are_left_alone() {
        let mut limited = server(true, 4_000, 266_000_000);
        limited.server.pool_max_threads = Some(200);
        let mut idle = server(true, 4_000, 266_000_000);
        if let Some(memory) = &mut idle.memory {
            memory.under_load.virtual_thread_stacks = 50;
        }
        let silent = [
            ("a pool of platform threads", server(false, 4_000, 266_000_000)),
            ("virtual threads with a limit", limited),
            ("half of the heap", server(true, 4_000, 134_000_000)),
            ("a leak, and few requests at once", server(true, 40, 266_000_000)),
            ("requests that wait before the server", idle),
            ("no JVM", Record { memory: None, ..server(true, 4_000, 266_000_000) }),
        ];
        for (what, record) in silent {
            assert_eq!(found(find, LOAD, record), None, "{what}");
        }
    }
}
