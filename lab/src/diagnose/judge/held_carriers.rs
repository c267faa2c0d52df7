//! Every carrier has the same virtual thread all the time, so that no other one runs.

use crate::diagnose::evidence::{Evidence, Thread};
use crate::diagnose::verdict::Verdict;

/// A thread that computes wants to run nearly all the time, and one that waits hardly ever.
const SPINS: f64 = 0.85;
const WAITS: f64 = 0.1;

pub(super) fn judge(evidence: &Evidence) -> Option<Verdict> {
    let carriers = evidence.carriers();
    let held: Vec<(&Thread, &Thread)> =
        carriers.iter().filter_map(|carrier| Some((*carrier, evidence.carried_by(carrier)?))).collect();
    if carriers.is_empty() || held.len() < carriers.len() {
        return None;
    }
    let share = |thread: &Thread| thread.runnable_share.unwrap_or(0.0);
    if held.iter().all(|(carrier, _)| share(carrier) >= SPINS) {
        let not_started = evidence.threads.iter().filter(|it| it.is_virtual && it.frames.is_empty()).count();
        // The scheduler begins a further carrier where it may; and without a thread that wants one, nobody is held up.
        let are_all = evidence.parallelism.is_some_and(|most| carriers.len() >= most);
        if !are_all || !evidence.threads.iter().any(wants_carrier) {
            return None;
        }
        let held_by = held.iter().map(|(_, thread)| thread.at()).collect();
        return Some(Verdict::CarriersSpinning { held_by, seconds: evidence.seconds, not_started });
    }
    let waiting = held.iter().all(|(carrier, thread)| share(carrier) <= WAITS && thread.stood_still);
    if waiting { lock_without_runnable_owner(evidence, &held) } else { None }
}

/// Not begun, or runnable without a carrier.
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
        // Without a snapshot of locks: who waits at the same line.
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
    use crate::diagnose::frame::Frame;

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
