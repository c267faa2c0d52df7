//! Threads that wait for each other in a circle.

use crate::diagnose::evidence::{Evidence, Thread};
use crate::diagnose::verdict::{Link, Verdict};
use std::collections::HashSet;

pub(super) fn judge(evidence: &Evidence) -> Vec<Verdict> {
    let circles = circles(evidence);
    if circles.is_empty() { by_elimination(evidence).into_iter().collect() } else { circles }
}

/// By owners that are known.
fn circles(evidence: &Evidence) -> Vec<Verdict> {
    let mut in_one: HashSet<u64> = HashSet::new();
    let mut found = Vec::new();
    for start in &evidence.threads {
        if in_one.contains(&start.tid) {
            continue;
        }
        if let Some(circle) = circle_from(evidence, start) {
            in_one.extend(circle.iter().map(|thread| thread.tid));
            let link = |thread: &&Thread| Link { waiter: thread.at(), lock: thread.waits_for.clone() };
            found.push(Verdict::Deadlock { links: circle.iter().map(link).collect(), owners_known: true });
        }
    }
    found
}

/// The circle that this thread is part of.
fn circle_from<'a>(evidence: &'a Evidence, start: &'a Thread) -> Option<Vec<&'a Thread>> {
    let mut path = vec![start];
    loop {
        let last = path.last()?;
        // A snapshot is no moment: who moves on has not waited.
        let owner =
            last.waits_for.as_ref().filter(|_| last.stood_still).and_then(|it| evidence.owner_of(it))?;
        if owner.tid == start.tid {
            return (path.len() > 1).then_some(path);
        }
        if path.iter().any(|thread| thread.tid == owner.tid) {
            return None;
        }
        path.push(owner);
    }
}

/// Java 21 does not say which monitor a virtual thread waits for. If all threads that are in the code of the blocked ones are
/// blocked themselves, the owner is among them.
fn by_elimination(evidence: &Evidence) -> Option<Verdict> {
    let is_blocked = |thread: &&Thread| {
        thread.is_virtual
            && thread.stood_still
            && thread.state.as_deref() == Some("BLOCKED")
            && thread.waits_for.is_none()
    };
    let blocked: Vec<&Thread> = evidence.threads.iter().filter(is_blocked).collect();
    let code: HashSet<&str> = blocked.iter().flat_map(|it| it.code()).collect();
    let is_outside = |thread: &&Thread| !blocked.iter().any(|it| it.tid == thread.tid);
    let others = evidence.threads.iter().filter(is_outside);
    let is_anyone_else_there = others.flat_map(Thread::code).any(|method| code.contains(method));
    if blocked.len() < 2 || code.is_empty() || is_anyone_else_there {
        return None;
    }
    let links = blocked.iter().map(|thread| Link { waiter: thread.at(), lock: None });
    Some(Verdict::Deadlock { links: links.collect(), owners_known: false })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnose::evidence::Synchronizer;
    use crate::diagnose::frame::Frame;

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
            .insert("B@2".into(), Synchronizer { owner: Some(2), value: 1, is_given_back: false });
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
        assert!(matches!(&judge(&all)[..], [Verdict::Deadlock { owners_known: false, .. }]));
        all.threads.push(Thread { state: Some("RUNNABLE".into()), ..blocked(3) });
        assert_eq!(judge(&all), [], "the third may own it");
    }
}
