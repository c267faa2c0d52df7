//! Finds threads in a queue that is full but moves: others in the queue were let in while these waited. A pool need not serve in order.

use super::wait::{self, Wait};
use crate::evidence::{Evidence, Thread};
use crate::frame::Frame;
use std::collections::{HashMap, HashSet};

/// The place of a wait: the line of the application, and the method that it calls there.
type Place<'a> = (&'a Frame, &'a str);

/// The threads that wait where others waited that have ended since. A thread that passed at once may have been there for another reason, so
/// those count that waited for the same object, that waited from one dump to the next, or that came later for a permit or a connection.
pub(super) fn overtaken(evidence: &Evidence) -> HashSet<u64> {
    let [later, first, ..] = &evidence.earlier[..] else { return HashSet::new() };
    let alive: HashSet<u64> = evidence.threads.iter().map(|it| it.tid).collect();
    let before: HashMap<u64, Place<'_>> = places(first).collect();
    let ended = || places(later).filter(|(tid, _)| !alive.contains(tid));
    let waited: HashSet<Place<'_>> =
        ended().filter(|(tid, at)| before.get(tid) == Some(at)).map(|(_, at)| at).collect();
    let came_later: HashSet<Place<'_>> =
        ended().filter(|(tid, _)| !before.contains_key(tid)).map(|(_, at)| at).collect();
    let is_let_in = |thread: &Thread| {
        let Some(at) = place(thread) else { return false };
        // A thread with a time limit that waited for longer may have given up.
        let has_limit = wait::is_timed(thread) || thread.state.as_deref() == Some("TIMED_WAITING");
        let is_of_pool = || matches!(wait::of(thread), Some(Wait::Permit(_)));
        let is_passed = !has_limit && waited.contains(&at) || came_later.contains(&at) && is_of_pool();
        is_passed && is_one_queue(evidence, &at)
    };
    let is_given = |it: &Thread| it.waits_for.as_ref().is_some_and(|lock| evidence.given.contains(lock));
    let all = evidence.threads.iter().filter(|it| it.stood_still && (is_given(it) || is_let_in(it)));
    all.map(|it| it.tid).collect()
}

fn places(threads: &[Thread]) -> impl Iterator<Item = (u64, Place<'_>)> {
    threads.iter().filter_map(|it| Some((it.tid, place(it)?)))
}

/// Whether the waiters at a place are one queue: all wait for one object, or each for its own. A lock per customer makes a queue for each.
fn is_one_queue(evidence: &Evidence, at: &Place<'_>) -> bool {
    let mut waiters: HashMap<&str, usize> = HashMap::new();
    let there = evidence.threads.iter().filter(|it| place(it).as_ref() == Some(at));
    for lock in there.filter_map(|it| it.waits_for.as_deref()) {
        *waiters.entry(lock).or_default() += 1;
    }
    waiters.len() <= 1 || waiters.values().all(|number| *number == 1)
}

fn place(thread: &Thread) -> Option<Place<'_>> {
    let called = thread.frames.iter().take_while(|it| !it.is_application()).last()?;
    Some((thread.application()?, &called.method))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARK: &str = "java.base/java.util.concurrent.locks.LockSupport.park(LockSupport.java:1)";
    const GET: &str = "java.base/java.util.concurrent.CompletableFuture.get(C.java:1)";

    fn waiter(tid: u64, line: u32, lock: Option<&str>) -> Thread {
        let own = format!("shop.Pool.take(Pool.java:{line})");
        Thread {
            tid,
            frames: [PARK, GET, &own].map(Frame::parse).to_vec(),
            waits_for: lock.map(str::to_owned),
            stood_still: true,
            ..Thread::default()
        }
    }

    fn dump(tids: &[u64]) -> Vec<Thread> {
        tids.iter().map(|tid| waiter(*tid, 7, None)).collect()
    }

    fn of(now: Vec<Thread>, later: &[u64], first: &[u64]) -> HashSet<u64> {
        overtaken(&Evidence { threads: now, earlier: vec![dump(later), dump(first)], ..Evidence::default() })
    }

    #[test]
    fn who_waits_where_another_one_waited_for_long_and_was_let_in_is_overtaken() {
        let now = || vec![waiter(1, 7, Some("F@1")), waiter(2, 7, Some("F@2")), waiter(3, 9, Some("F@3"))];
        assert_eq!(of(now(), &[1, 2, 5], &[1, 5]), HashSet::from([1, 2]), "another line is another queue");
        assert_eq!(of(now(), &[1, 2, 6], &[1, 5]), HashSet::new(), "others passed at once: these two stand");
        assert_eq!(of(now(), &[1, 2], &[1, 2]), HashSet::new(), "nobody passed");
    }

    #[test]
    fn a_lock_of_which_there_are_many_is_a_queue_for_each_of_them() {
        let now = vec![waiter(1, 7, Some("A@1")), waiter(2, 7, Some("B@2")), waiter(3, 7, Some("B@2"))];
        assert_eq!(of(now.clone(), &[1, 5], &[1, 5]), HashSet::new());
        let given = HashSet::from(["B@2".to_owned()]);
        let earlier = vec![Vec::new(), Vec::new()];
        let evidence = Evidence { threads: now, given, earlier, ..Evidence::default() };
        assert_eq!(overtaken(&evidence), HashSet::from([2, 3]));
    }

    #[test]
    fn a_pool_that_serves_who_came_later_moves_and_one_whose_waiters_give_up_does_not() {
        const ACQUIRE: &str = "java.base/java.util.concurrent.Semaphore.acquire(Semaphore.java:1)";
        const TRIES: &str = "java.base/java.util.concurrent.Semaphore.tryAcquire(Semaphore.java:1)";
        let of_pool = |call: &str, later: &[u64], first: &[u64]| {
            let at = |tid| Thread {
                frames: [PARK, call, "shop.Pool.take(Pool.java:7)"].map(Frame::parse).to_vec(),
                ..waiter(tid, 7, Some("S@1"))
            };
            let dump = |tids: &[u64]| tids.iter().map(|tid| at(*tid)).collect();
            let earlier = vec![dump(later), dump(first)];
            overtaken(&Evidence { threads: vec![at(1)], earlier, ..Evidence::default() })
        };
        for call in [ACQUIRE, TRIES] {
            assert_eq!(of_pool(call, &[1, 6], &[1]), HashSet::from([1]), "{call}: it came later");
            assert_eq!(of_pool(call, &[1], &[1]), HashSet::new(), "{call}");
        }
        let timed = PARK.replace("park(", "parkNanos(");
        let gives_up = |thread: Thread| {
            let with_limit = |mut it: Thread| {
                it.frames[0] = Frame::parse(&timed);
                it
            };
            let earlier =
                [[1, 5], [1, 5]].map(|tids| tids.map(|tid| with_limit(waiter(tid, 7, None))).to_vec());
            overtaken(&Evidence { threads: vec![thread], earlier: earlier.to_vec(), ..Evidence::default() })
        };
        let mut limited = waiter(1, 7, None);
        limited.frames[0] = Frame::parse(&timed);
        assert_eq!(gives_up(limited), HashSet::new());
    }
}
