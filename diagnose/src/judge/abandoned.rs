//! Locks whose owner has ended, or does other work, without giving them back.

use super::waits::waits_for_work;
use crate::evidence::{Evidence, Synchronizer, Thread};
use crate::verdict::{LostOwner, ThreadName, Verdict};

pub(super) fn judge(evidence: &Evidence) -> Vec<Verdict> {
    let mut locks: Vec<_> = evidence.synchronizers.iter().collect();
    locks.sort_by_key(|(lock, _)| *lock);
    locks.into_iter().filter_map(|(lock, it)| abandoned(evidence, lock, it)).collect()
}

fn abandoned(evidence: &Evidence, lock: &str, synchronizer: &Synchronizer) -> Option<Verdict> {
    let owner = lost_owner(evidence, synchronizer)?;
    let is_waiter = |thread: &&Thread| thread.waits_for.as_deref() == Some(lock) && thread.stands_still();
    let waiters: Vec<&Thread> = evidence.threads.iter().filter(is_waiter).collect();
    // Those of a library that take turns as the one that waits for work are idle, too.
    let at = waiters.iter().find_map(|thread| thread.application())?.clone();
    let waiting = waiters.iter().map(|thread| thread.at()).collect();
    Some(Verdict::LockNotGivenBack { lock: lock.to_owned(), owner, waiters: waiters.len(), waiting, at })
}

fn lost_owner(evidence: &Evidence, synchronizer: &Synchronizer) -> Option<LostOwner> {
    let id = synchronizer.owner?;
    if synchronizer.owner_ended {
        return Some(LostOwner::Ended { id, name: synchronizer.owner_name.clone() });
    }
    let owner = evidence.thread(id)?;
    let is_idle = owner.stands_still() && owner.application().is_none() && waits_for_work(owner);
    let Thread { name, is_virtual, .. } = owner;
    is_idle.then(|| LostOwner::Idle(ThreadName { id, name: name.clone(), is_virtual: *is_virtual }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::Frame;
    use std::collections::HashMap;

    const LOCK: &str = "java.base/java.util.concurrent.locks.ReentrantLock.lock(ReentrantLock.java:1)";
    const POLL: &str = "java.base/java.util.concurrent.ThreadPoolExecutor.getTask(ThreadPoolExecutor.java:1)";
    const WORK: &str = "shop.Stock.reserve(Stock.java:9)";

    fn thread(tid: u64, frames: &[&str]) -> Thread {
        let frames = frames.iter().map(|it| Frame::parse(it)).collect();
        Thread { tid, stood_still: true, frames, ..Thread::default() }
    }

    fn waiter(frames: &[&str]) -> Thread {
        Thread { waits_for: Some("L@1".to_owned()), ..thread(1, frames) }
    }

    fn of(threads: Vec<Thread>, owner_ended: bool) -> Vec<Verdict> {
        let lock =
            Synchronizer { owner: Some(9), owner_name: "job".into(), owner_ended, ..Synchronizer::default() };
        let synchronizers = HashMap::from([("L@1".to_owned(), lock)]);
        judge(&Evidence { threads, synchronizers, ..Evidence::default() })
    }

    #[test]
    fn an_owner_that_is_no_more_gives_nothing_back_and_one_that_is_in_no_dump_may() {
        let waits = || vec![waiter(&[LOCK, WORK])];
        let [Verdict::LockNotGivenBack { owner: LostOwner::Ended { id: 9, name }, waiters: 1, .. }] =
            &of(waits(), true)[..]
        else {
            panic!("not found")
        };
        assert_eq!(name, "job");
        assert_eq!(of(waits(), false), [], "not every thread is in a dump");
        let mut moves = waits();
        moves[0].stood_still = false;
        assert_eq!(of(moves, true), [], "it has the lock by now");
    }

    #[test]
    fn an_owner_that_waits_for_other_work_has_forgotten_it_and_one_that_works_has_not() {
        let of = |owner: &[&str]| of(vec![waiter(&[LOCK, WORK]), thread(9, owner)], false);
        assert!(
            matches!(&of(&[POLL])[..], [Verdict::LockNotGivenBack { owner: LostOwner::Idle(it), .. }] if it.id == 9)
        );
        assert_eq!(of(&["shop.Json.write(Json.java:3)"]), []);
        assert_eq!(of(&[POLL, "shop.Feed.next(Feed.java:3)"]), [], "it waits while it has it");
    }

    #[test]
    fn idle_threads_of_a_library_that_take_turns_at_a_selector_are_no_waiters() {
        let select = "java.base/sun.nio.ch.SelectorImpl.select(SelectorImpl.java:1)";
        let follower = waiter(&[LOCK, "io.netty.Turn.take(Turn.java:1)"]);
        assert_eq!(of(vec![follower, thread(9, &[select])], false), []);
    }
}
