//! Finds carriers that have the same virtual thread all the time, so that no other virtual thread runs.

use crate::evidence::{Evidence, Thread};
use crate::verdict::{HolderAt, Verdict};

/// A carrier whose thread computes is runnable for at least this share of the time.
const SPINS: f64 = 0.85;
/// A carrier whose thread waits is runnable for at most this share of the time.
const WAITS: f64 = 0.1;
/// A carrier whose thread tries something again and again is runnable for more than this share of the time.
const RUNS: f64 = 0.5;

pub(super) fn judge(evidence: &Evidence) -> Option<Verdict> {
    let carriers = evidence.carriers();
    let held: Vec<(&Thread, &Thread)> =
        carriers.iter().filter_map(|carrier| Some((*carrier, evidence.carried_by(carrier)?))).collect();
    let share = |thread: &Thread| thread.runnable_share.unwrap_or(0.0);
    let waits = |(carrier, thread): &(&Thread, &Thread)| share(carrier) <= WAITS && thread.stood_still;
    if !held.is_empty() && held.len() == carriers.len() {
        if held.iter().all(|(carrier, _)| share(carrier) >= SPINS) {
            return spinning(evidence, &held);
        }
        let without_owner =
            held.iter().all(waits).then(|| lock_without_runnable_owner(evidence, &held)).flatten();
        if without_owner.is_some() {
            return without_owner;
        }
    }
    let stays = |it: &(&Thread, &Thread)| waits(it) || share(it.0) > RUNS;
    if held.iter().all(stays) { carriers_held(evidence, &held) } else { None }
}

/// All carriers compute. This is trouble only if the scheduler may start no further carrier and another thread wants one.
fn spinning(evidence: &Evidence, held: &[(&Thread, &Thread)]) -> Option<Verdict> {
    let is_wanted = are_all(evidence, held) && evidence.threads.iter().any(wants_carrier);
    is_wanted.then(|| Verdict::CarriersSpinning {
        held_by: held.iter().map(|(_, thread)| thread.at()).collect(),
        seconds: evidence.seconds,
        not_started: not_started(evidence),
    })
}

/// All carriers are held, whatever their threads do. This is trouble only if another thread wants a carrier, which is not so in an idle
/// JVM. A carrier that is left over is not woken while as many are held as may run.
fn carriers_held(evidence: &Evidence, held: &[(&Thread, &Thread)]) -> Option<Verdict> {
    let is_anyone_held_up = evidence.threads.iter().any(|it| wants_carrier(it) && it.stood_still);
    let at = |thread: &Thread| HolderAt { thread: thread.at(), in_method: thread.frames.first().cloned() };
    (are_all(evidence, held) && is_anyone_held_up).then(|| Verdict::CarriersHeld {
        held_by: held.iter().map(|(_, thread)| at(thread)).collect(),
        seconds: evidence.seconds,
        not_started: not_started(evidence),
        java: evidence.java,
    })
}

fn are_all(evidence: &Evidence, held: &[(&Thread, &Thread)]) -> bool {
    evidence.parallelism.is_some_and(|most| held.len() >= most)
}

fn not_started(evidence: &Evidence) -> usize {
    evidence.threads.iter().filter(|it| it.is_virtual && it.frames.is_empty()).count()
}

/// Whether a virtual thread has not begun yet, or is runnable without a carrier.
fn wants_carrier(thread: &Thread) -> bool {
    let is_runnable = thread.state.as_deref() == Some("RUNNABLE");
    thread.is_virtual && !thread.is_mounted && (thread.frames.is_empty() || is_runnable)
}

/// The lock that a carried thread waits for has no owner, or one that would need a carrier.
fn lock_without_runnable_owner(evidence: &Evidence, held: &[(&Thread, &Thread)]) -> Option<Verdict> {
    let pinned: Vec<&Thread> =
        held.iter().map(|(_, thread)| *thread).filter(|thread| waits_for_lock(thread)).collect();
    let lock = pinned.iter().find_map(|thread| thread.waits_for.clone());
    let owner = lock.as_ref().and_then(|lock| evidence.owner_of(lock));
    let can_run = owner.is_some_and(|owner| !owner.is_virtual || owner.carrier.is_some());
    if pinned.is_empty() || can_run {
        return None;
    }
    let is_same = |thread: &&Thread| match &lock {
        Some(lock) => thread.waits_for.as_ref() == Some(lock),
        // Without a snapshot of locks, threads at the same line wait for the same lock.
        None => pinned.iter().any(|it| it.application() == thread.application()) && waits_for_lock(thread),
    };
    let unmounted =
        |thread: &&Thread| thread.is_virtual && thread.carrier.is_none() && !thread.frames.is_empty();
    let unmounted: Vec<&Thread> = evidence.threads.iter().filter(unmounted).filter(is_same).collect();
    if unmounted.is_empty() && owner.is_none() {
        return None;
    }
    Some(Verdict::LockWithoutRunnableOwner {
        owner: owner.map(Thread::at),
        pinned: pinned.iter().filter(|it| is_same(it)).map(|it| it.at()).collect(),
        unmounted: unmounted.iter().map(|it| it.at()).collect(),
        carriers: held.len(),
        lock,
    })
}

fn waits_for_lock(thread: &Thread) -> bool {
    const ACQUIRES: [&str; 4] = [
        "AbstractQueuedSynchronizer.acquire",
        "AbstractQueuedLongSynchronizer.acquire",
        "ReentrantLock.lock",
        "StampedLock.acquireWrite",
    ];
    thread.is_in(&ACQUIRES) || thread.state.as_deref() == Some("BLOCKED")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::Frame;

    const LOCKS: [&str; 2] = [
        "java.base/java.util.concurrent.locks.ReentrantLock.lock(ReentrantLock.java:1)",
        "shop.Log.append(Log.java:9)",
    ];

    fn carrier(tid: u64, runnable: f64) -> Thread {
        Thread {
            tid,
            is_carrier: true,
            runnable_share: Some(runnable),
            stood_still: true,
            ..Thread::default()
        }
    }

    fn on(tid: u64, carrier: Option<u64>, frames: &[&str]) -> Thread {
        Thread {
            tid,
            is_virtual: true,
            carrier,
            stood_still: true,
            frames: frames.iter().map(|it| Frame::parse(it)).collect(),
            waits_for: Some("ReentrantLock$NonfairSync@1".into()),
            ..Thread::default()
        }
    }

    fn of(threads: Vec<Thread>) -> Evidence {
        Evidence { seconds: 3.0, threads, parallelism: Some(1), ..Evidence::default() }
    }

    #[test]
    fn carriers_that_wait_for_a_lock_given_to_a_thread_without_carrier() {
        let pinned = vec![carrier(1, 0.0), carrier(2, 0.0), on(11, Some(1), &LOCKS), on(12, Some(2), &LOCKS)];
        assert_eq!(judge(&of(pinned.clone())), None, "nobody else waits for it");
        let all = [pinned, vec![on(13, None, &LOCKS)]].concat();
        let Some(Verdict::LockWithoutRunnableOwner { pinned, unmounted, carriers, .. }) =
            judge(&of(all.clone()))
        else {
            panic!("not found")
        };
        assert_eq!((pinned.len(), unmounted[0].thread.id, carriers), (2, 13, 2));
        let mut one_free = all;
        one_free.push(carrier(3, 0.0));
        assert_eq!(judge(&of(one_free)), None, "a carrier is free");
    }

    /// HikariCP returns a connection inside a monitor, to threads that have no carrier.
    #[test]
    fn carriers_that_wait_for_different_things_while_others_want_one() {
        const GIVES_BACK: [&str; 2] =
            ["java.base/jdk.internal.misc.Unsafe.park(Native Method)", "shop.Orders.take(Orders.java:42)"];
        let carried = |tid, carrier, frames| Thread { waits_for: None, ..on(tid, Some(carrier), frames) };
        let enters = carried(12, 2, &["shop.Stock.take(Stock.java:62)"]);
        let mut all = vec![carrier(1, 0.0), carrier(2, 0.0), carried(11, 1, &GIVES_BACK), enters];
        let of_two = |threads| Evidence { parallelism: Some(2), ..of(threads) };
        assert_eq!(
            judge(&of_two(all.clone())),
            None,
            "nobody else wants to run: a queue of work that is empty"
        );
        all.push(Thread { waits_for: None, ..on(13, None, &[]) });
        let Some(Verdict::CarriersHeld { held_by, not_started: 1, .. }) = judge(&of_two(all.clone())) else {
            panic!("not found")
        };
        let top = |at: usize| held_by[at].in_method.as_ref().map(|it| it.method.as_str());
        assert_eq!((top(0), top(1)), (Some("jdk.internal.misc.Unsafe.park"), Some("shop.Stock.take")));
        let offering = |share| {
            let mut offers = all.clone();
            (offers[0].runnable_share, offers[2].stood_still) = (Some(share), false);
            judge(&of_two(offers))
        };
        assert!(
            matches!(offering(0.8), Some(Verdict::CarriersHeld { .. })),
            "it offers the connection without end"
        );
        assert_eq!(offering(0.3), None, "it goes on from time to time");
        let mut left_over = all.clone();
        left_over.push(carrier(3, 0.0));
        assert!(
            matches!(judge(&of_two(left_over)), Some(Verdict::CarriersHeld { .. })),
            "nobody wakes the third"
        );
        let more = Evidence { parallelism: Some(3), ..of(all.clone()) };
        assert_eq!(judge(&more), None, "another carrier can begin");
        all[4].stood_still = false;
        assert_eq!(judge(&of_two(all)), None, "it has just come");
    }

    #[test]
    fn carriers_that_compute_all_the_time_and_those_that_share_it() {
        let spins = |share| {
            of(vec![carrier(1, share), on(11, Some(1), &["shop.Hash.spin(Hash.java:3)"]), on(12, None, &[])])
        };
        let Some(Verdict::CarriersSpinning { held_by, not_started, .. }) = judge(&spins(0.99)) else {
            panic!("not found")
        };
        assert_eq!(
            (held_by[0].at.as_ref().unwrap().to_string(), not_started),
            ("shop.Hash.spin:3".to_owned(), 1)
        );
        assert_eq!(judge(&spins(0.5)), None);
        let more = Evidence { parallelism: Some(2), ..spins(0.99) };
        assert_eq!(judge(&more), None, "another carrier can begin");
        let mut alone = spins(0.99);
        alone.threads.pop();
        assert_eq!(judge(&alone), None, "nobody else wants to run");
        assert_eq!(judge(&of(vec![carrier(1, 0.99)])), None, "it runs one after the other");
    }
}
