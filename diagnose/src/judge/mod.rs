//! Evidence to verdicts.

mod abandoned;
mod deadlock;
mod elimination;
mod gc;
mod held_carriers;
mod permits;
mod quiet;
mod stuck;
mod waits;

use super::evidence::Evidence;
use super::verdict::Verdict;

/// What is wrong, the cause of the rest first; never empty.
#[must_use]
pub fn judge(evidence: &Evidence) -> Vec<Verdict> {
    let mut found: Vec<Verdict> = gc::judge(evidence).into_iter().collect();
    found.extend(deadlock::judge(evidence));
    if found.is_empty() {
        found.extend(abandoned::judge(evidence));
    }
    if found.is_empty() {
        found.extend(held_carriers::judge(evidence));
    }
    if found.is_empty() {
        found.extend(permits::judge(evidence));
    }
    if found.is_empty() {
        found.extend(stuck::judge(evidence));
    }
    if found.is_empty() && evidence.unresponsive {
        found.push(Verdict::Unresponsive { seconds: evidence.seconds });
    }
    // The virtual threads may have another trouble, unless the heap is it.
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
