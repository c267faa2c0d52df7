//! Threads that wait for each other in a circle.

use super::elimination::by_elimination;
use crate::evidence::{Evidence, Thread};
use crate::verdict::{Link, Verdict};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::iter::successors;

pub(super) fn judge(evidence: &Evidence) -> Vec<Verdict> {
    let circles = circles(evidence);
    if circles.is_empty() { by_elimination(evidence).into_iter().collect() } else { circles }
}

/// By owners that are known. Each thread waits for one lock at most, so that a walk from one to the next owner ends or comes back;
/// a thread that was walked over is not walked over again.
fn circles(evidence: &Evidence) -> Vec<Verdict> {
    let owners = evidence.owners();
    // A snapshot is no moment: who moves on has not waited.
    let owner_of = |thread: &Thread| -> Option<&Thread> {
        let lock = thread.waits_for.as_deref().filter(|_| thread.stood_still)?;
        owners.get(lock).copied().filter(|owner| owner.tid != thread.tid)
    };
    let mut walks: HashMap<u64, u64> = HashMap::new();
    let mut found = Vec::new();
    for start in &evidence.threads {
        let mut next = (!walks.contains_key(&start.tid)).then_some(start);
        while let Some(thread) = next {
            match walks.entry(thread.tid) {
                Entry::Occupied(walk) if *walk.get() == start.tid => {
                    found.push(circle(thread, &owner_of));
                    break;
                }
                Entry::Occupied(_) => break,
                Entry::Vacant(free) => free.insert(start.tid),
            };
            next = owner_of(thread);
        }
    }
    found.extend(circles_of_jvm(evidence, &found));
    found
}

fn circle<'a>(start: &'a Thread, owner_of: &impl Fn(&Thread) -> Option<&'a Thread>) -> Verdict {
    let rest = successors(owner_of(start), |it| owner_of(it)).take_while(|it| it.tid != start.tid);
    let link = |thread: &Thread| Link { waiter: thread.at(), lock: thread.waits_for.clone() };
    let links = [start].into_iter().chain(rest).map(link).collect();
    Verdict::Deadlock { links, owners_known: true }
}

/// The JVM looks for those of platform threads itself, at one safepoint; it knows threads by name.
fn circles_of_jvm(evidence: &Evidence, known: &[Verdict]) -> Vec<Verdict> {
    let is_known = |tid: u64| {
        known.iter().any(
            |it| matches!(it, Verdict::Deadlock { links, .. } if links.iter().any(|link| link.waiter.thread.id == tid)),
        )
    };
    let by_name = |name: &str| evidence.threads.iter().find(|it| !it.is_virtual && it.name == name);
    let link = |(name, lock): &(String, Option<String>)| {
        let waiter = by_name(name).filter(|it| it.stood_still && !is_known(it.tid))?.at();
        Some(Link { waiter, lock: lock.clone() })
    };
    let circles = evidence.circles_of_jvm.iter();
    let links = circles.filter_map(|circle| circle.iter().map(link).collect::<Option<Vec<Link>>>());
    links.map(|links| Verdict::Deadlock { links, owners_known: true }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::Synchronizer;
    use crate::frame::Frame;

    fn waiter(tid: u64, lock: &str, has: &str) -> Thread {
        Thread {
            tid,
            is_virtual: true,
            stood_still: true,
            frames: vec![Frame::parse("shop.Orders.book(Orders.java:7)")],
            waits_for: Some(lock.to_owned()),
            monitors: vec![has.to_owned()],
            ..Thread::default()
        }
    }

    #[test]
    fn a_circle_of_monitors_and_locks_is_found_once() {
        let mut both =
            Evidence { threads: vec![waiter(1, "B@2", "A@1"), waiter(2, "A@1", "")], ..Evidence::default() };
        both.synchronizers
            .insert("B@2".into(), Synchronizer { owner: Some(2), value: 1, ..Synchronizer::default() });
        let found = judge(&both);
        assert_eq!(found.len(), 1);
        assert!(matches!(&found[0], Verdict::Deadlock { links, owners_known: true } if links.len() == 2));
        both.threads[1].stood_still = false;
        assert_eq!(judge(&both), [], "it moves");
    }

    #[test]
    fn a_queue_behind_a_working_owner_is_no_circle() {
        let mut owner = waiter(3, "", "A@1");
        owner.waits_for = None;
        let queue = Evidence {
            threads: vec![waiter(1, "A@1", ""), waiter(2, "A@1", ""), owner],
            ..Evidence::default()
        };
        assert_eq!(judge(&queue), []);
    }

    #[test]
    fn blocked_virtual_threads_of_unknown_monitors_need_that_nobody_else_is_there() {
        let blocked = |tid| Thread { state: Some("BLOCKED".into()), waits_for: None, ..waiter(tid, "", "") };
        let mut all = Evidence { threads: vec![blocked(1), blocked(2)], ..Evidence::default() };
        assert_eq!(judge(&all), [], "both came the same way: a queue");
        all.threads[1].frames.push(Frame::parse("shop.Orders.cancel(Orders.java:20)"));
        assert!(matches!(&judge(&all)[..], [Verdict::Deadlock { owners_known: false, .. }]));
        let owner = Thread { is_virtual: false, monitors: vec!["A@1".into()], ..blocked(4) };
        let frames = vec![Frame::parse("shop.Orders.audit(Orders.java:40)")];
        all.threads.push(Thread { frames, ..owner });
        assert_eq!(judge(&all), [], "a platform thread with a monitor is in that class");
        all.threads.pop();
        all.threads.push(Thread { state: Some("RUNNABLE".into()), ..blocked(3) });
        assert_eq!(judge(&all), [], "the third may own it");
    }

    #[test]
    fn a_circle_that_the_jvm_found_needs_no_lock_snapshot() {
        let named = |tid, name: &str| Thread {
            name: name.into(),
            is_virtual: false,
            waits_for: None,
            ..waiter(tid, "", "")
        };
        let circle = vec![("a".to_owned(), Some("A@1".to_owned())), ("b".to_owned(), None)];
        let mut all = Evidence { threads: vec![named(1, "a"), named(2, "b")], ..Evidence::default() };
        all.circles_of_jvm = vec![circle];
        assert!(matches!(&judge(&all)[..], [Verdict::Deadlock { links, .. }] if links.len() == 2));
        all.threads[0].stood_still = false;
        assert_eq!(judge(&all), []);
    }

    /// Each waits for the next: a walk per thread over a list would take 50,000 times 50,000 steps.
    #[test]
    fn fifty_thousand_threads_in_a_row_are_judged_and_a_circle_at_their_end_is_found() {
        let lock = |at: u64| format!("L@{at}");
        let row = (0..50_000).map(|at| waiter(at, &lock(at + 1), &lock(at))).collect();
        let mut all = Evidence { threads: row, ..Evidence::default() };
        assert_eq!(judge(&all), []);
        all.threads[49_999].waits_for = Some(lock(49_998));
        assert!(matches!(&judge(&all)[..], [Verdict::Deadlock { links, .. }] if links.len() == 2));
    }
}
