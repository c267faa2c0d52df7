//! Circles of platform threads that the JVM found itself, at one safepoint.

use crate::evidence::Evidence;
use crate::verdict::{Bond, Link, ThreadAt, Verdict};

/// The circles that the graph of waits does not contain, for example because locks were not read.
pub(super) fn judge(evidence: &Evidence, known: &[Verdict]) -> Vec<Verdict> {
    let is_known = |tid: u64| {
        known.iter().any(
            |it| matches!(it, Verdict::Deadlock { links, .. } if links.iter().any(|link| link.waiter.thread.id == tid)),
        )
    };
    let waiter = |tid: u64| Some(evidence.thread(tid).filter(|it| it.stood_still && !is_known(it.tid))?.at());
    let circles = evidence.circles_of_jvm.iter().filter_map(|circle| {
        let waiters: Option<Vec<ThreadAt>> = circle.iter().map(|(tid, _)| waiter(*tid)).collect();
        let waiters = waiters?;
        let link = |(at, (_, lock)): (usize, &(u64, Option<String>))| Link {
            waiter: waiters[at].clone(),
            what: "a lock".to_owned(),
            lock: lock.clone(),
            bond: Bond::Holds,
            giver: Some(waiters[(at + 1) % waiters.len()].clone()),
        };
        Some(Verdict::circle(circle.iter().enumerate().map(link).collect(), true))
    });
    circles.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::Thread;
    use crate::frame::Frame;

    #[test]
    fn a_circle_that_the_jvm_found_needs_no_lock_snapshot() {
        let named = |tid, name: &str| Thread {
            tid,
            name: name.into(),
            stood_still: true,
            frames: vec![Frame::parse("shop.Orders.book(Orders.java:7)")],
            ..Thread::default()
        };
        let circle = vec![(1, Some("A@1".to_owned())), (2, None)];
        let mut all = Evidence { threads: vec![named(1, "a"), named(2, "b")], ..Evidence::default() };
        all.circles_of_jvm = vec![circle];
        assert!(matches!(&judge(&all, &[])[..], [Verdict::Deadlock { links, .. }] if links.len() == 2));
        all.threads[0].stood_still = false;
        assert_eq!(judge(&all, &[]), []);
    }
}
