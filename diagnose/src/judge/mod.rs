//! Turns the evidence into verdicts. Each file finds one kind of trouble, or prepares the evidence for the others.

mod chains;
mod elimination;
mod gc;
mod givers;
mod held_carriers;
mod jvm_circles;
mod library_tasks;
mod overtaken;
mod permits;
mod quiet;
mod requests;
mod sites;
mod standing;
mod stuck;
mod taken_pool;
mod wait;
mod wait_graph;
mod waits;

use super::evidence::{Evidence, SNAPSHOTS};
use super::verdict::Verdict;

use super::evidence::Thread;

/// Whether the thread is in a write to a file, a pipe or a socket.
pub(super) fn is_writing(thread: &Thread) -> bool {
    wait::is_writing(thread)
}

/// Whether the thread is in `FileChannel.lock`.
pub(super) fn waits_for_file_lock(thread: &Thread) -> bool {
    wait::waits_for_file_lock(thread)
}

/// Whether the thread goes on by itself after a time that its code gives.
pub(super) fn is_timed(thread: &Thread) -> bool {
    wait::is_timed(thread)
}

/// Whether the thread is in a read of a file or a pipe.
pub(super) fn reads_stream(thread: &Thread) -> bool {
    wait::reads_stream(thread)
}

/// Whether the thread is in `Process.waitFor`.
pub(super) fn waits_for_child(thread: &Thread) -> bool {
    wait::waits_for_child(thread)
}

/// Whether a server that Threadcount recognises has called the application in this thread.
pub(super) fn is_of_server(thread: &Thread) -> bool {
    requests::is_of_server(thread)
}

/// The verdicts, the cause of the others first; never empty.
#[must_use]
pub fn judge(evidence: &Evidence) -> Vec<Verdict> {
    let mut found: Vec<Verdict> = gc::judge(evidence).into_iter().collect();
    let (circles, dead_ends) = chains::judge(evidence);
    found.extend(jvm_circles::judge(evidence, &circles));
    found.extend(circles);
    if found.is_empty() {
        found.extend(elimination::judge(evidence));
    }
    // Held carriers come before dead ends, because a thread without a carrier gives nothing.
    if found.is_empty() {
        found.extend(held_carriers::judge(evidence));
    }
    if found.is_empty() {
        found.extend(dead_ends);
    }
    if found.is_empty() {
        found.extend(permits::judge(evidence));
    }
    if found.is_empty() {
        found.extend(stuck::judge(evidence));
    }
    if found.is_empty() && (evidence.unresponsive || !evidence.kernel_facts.is_empty()) {
        let seconds = evidence.unresponsive.then_some(evidence.seconds);
        found.push(Verdict::Unresponsive { seconds, facts: evidence.kernel_facts.clone() });
    }
    if found.is_empty() && evidence.snapshots >= SNAPSHOTS {
        found.extend(standing::judge(evidence));
    }
    // If only platform threads were judged, the virtual threads may have another trouble, unless the heap is the cause.
    let is_open = evidence.lacks_virtual_threads && !matches!(found[..], [Verdict::GcThrashing { .. }, ..]);
    if found.is_empty() || is_open {
        found.push(quiet::judge(evidence));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::Thread;
    use crate::frame::Frame;
    use crate::gc_use::GcCounters;
    use crate::verdict::Missing;

    fn waiter(tid: u64, waits_for: &str, has: &str) -> Thread {
        Thread {
            tid,
            stood_still: true,
            frames: vec![Frame::parse("shop.Orders.book(Orders.java:7)")],
            state: Some("BLOCKED".into()),
            waits_for: Some(waits_for.to_owned()),
            monitors: vec![has.to_owned()],
            ..Thread::default()
        }
    }

    fn of_platform_threads(threads: Vec<Thread>) -> Evidence {
        let missing = Some(Missing::HeapIsShort);
        Evidence { threads, lacks_virtual_threads: true, missing, ..Evidence::default() }
    }

    #[test]
    fn a_deadlock_of_platform_threads_is_found_where_the_heap_is_short_and_the_rest_stays_open() {
        let circle = of_platform_threads(vec![waiter(1, "B@2", "A@1"), waiter(2, "A@1", "B@2")]);
        assert!(matches!(&judge(&circle)[..], [Verdict::Deadlock { .. }, Verdict::Inconclusive { .. }]));
        let queue = of_platform_threads(vec![waiter(1, "B@2", "A@1"), waiter(2, "B@2", "")]);
        assert!(matches!(&judge(&queue)[..], [Verdict::Inconclusive { snapshots: 0, .. }]));
    }

    #[test]
    fn a_heap_that_thrashes_is_the_cause_and_nothing_stays_open() {
        let moment =
            |seconds: f64, collections| GcCounters { seconds, collections, used_bytes: 9, most_bytes: 10 };
        let mut evidence = of_platform_threads(Vec::new());
        evidence.seconds = 4.0;
        evidence.gc = vec![moment(0.0, 0), moment(1.0, 10), moment(2.0, 20), moment(3.5, 40)];
        assert!(matches!(&judge(&evidence)[..], [Verdict::GcThrashing { .. }]));
    }
}
