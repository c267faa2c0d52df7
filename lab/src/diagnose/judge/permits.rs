//! Threads that wait for a permit or a pooled connection: nobody has what they wait for, or those who have it wait themselves.

use crate::diagnose::evidence::{Evidence, Thread};
use crate::diagnose::verdict::Verdict;
use std::collections::{HashMap, HashSet};

const PERMIT: &str = "a permit of a Semaphore";

/// Methods in which a thread waits for one of a limited number, and what it is.
const WAITS: [(&str, &str); 11] = [
    ("ConcurrentBag.borrow", "a HikariCP connection"),
    ("org.apache.tomcat.jdbc.pool.ConnectionPool.borrowConnection", "a Tomcat JDBC connection"),
    ("GenericObjectPool.borrowObject", "an object of a commons-pool2 pool"),
    ("io.agroal.pool.ConnectionPool.waitAvailableHandler", "an Agroal connection"),
    ("LeaseRequest.get", "an HTTP connection of a pool"),
    ("AbstractConnPool.getPoolEntryBlocking", "an HTTP connection of a pool"),
    ("StrictConnPool.lease", "an HTTP connection of a pool"),
    ("Semaphore.acquire", PERMIT),
    ("Semaphore.acquireUninterruptibly", PERMIT),
    ("Semaphore.tryAcquire", PERMIT),
    ("reactor.core.publisher.BlockingSingleSubscriber.blockingGet", "a reactive result"),
];

/// Where a thread waits for another machine or for time.
const OUTSIDE: [(&str, &str); 8] = [
    ("NioSocketImpl.connect", "connecting a socket"),
    ("NioSocketImpl.read", "reading from a socket"),
    ("NioSocketImpl.implRead", "reading from a socket"),
    ("NioSocketImpl.park", "reading from a socket"),
    ("SocketChannelImpl.read", "reading from a socket"),
    ("SocketDispatcher.read0", "reading from a socket"),
    ("Thread.sleep", "sleeping"),
    ("FileDispatcherImpl.read0", "reading a file"),
];

pub(super) fn judge(evidence: &Evidence) -> Vec<Verdict> {
    let mut queues: HashMap<String, Vec<&Thread>> = HashMap::new();
    for thread in evidence.threads.iter().filter(|thread| what(thread).is_some()) {
        // Without a snapshot of locks: those who wait at the same line.
        let at = || thread.application().map(ToString::to_string).unwrap_or_default();
        queues.entry(thread.waits_for.clone().unwrap_or_else(at)).or_default().push(thread);
    }
    let mut queues: Vec<_> = queues.into_iter().collect();
    queues.sort_by_key(|(name, waiters)| (usize::MAX - waiters.len(), name.clone()));
    queues.iter().filter_map(|(lock, waiters)| judge_queue(evidence, lock, waiters)).collect()
}

fn judge_queue(evidence: &Evidence, lock: &str, waiters: &[&Thread]) -> Option<Verdict> {
    let what = what(waiters.first()?)?.to_owned();
    let at = waiters[0].application().cloned();
    let left = evidence.synchronizers.get(lock).map(|it| it.value);
    if left.is_some_and(|permits| permits > 0) {
        return None;
    }
    // One that was given a permit meanwhile shows that they come back.
    let still = waiters.iter().filter(|thread| thread.stood_still).count();
    let holders = holders(&evidence.threads, waiters);
    if holders.is_empty() {
        let is_stuck = still == waiters.len() && still > 1;
        if is_stuck && what != PERMIT {
            // Somebody may have one whose code does not show it.
            return Some(Verdict::PoolExhausted {
                what,
                waiters: waiters.len(),
                at,
                holders: vec![],
                waits_in: None,
                peer: None,
            });
        }
        let lock = evidence.synchronizers.contains_key(lock).then(|| lock.to_owned());
        let is_leak = is_stuck && is_given_back(evidence, waiters);
        return is_leak.then_some(Verdict::LeakedPermits { lock, what, waiters: waiters.len(), at });
    }
    let (outside, waits_in) = mostly_outside(&holders)?;
    // One moment says little: most waiters wait all the time, and whoever had one before waited outside, too.
    let was_so = |threads: &Vec<Thread>| mostly_outside(&self::holders(threads, waiters)).is_some();
    let is_lasting =
        still >= holders.len() && 2 * still >= waiters.len() && evidence.earlier.iter().any(was_so);
    is_lasting.then(|| Verdict::PoolExhausted {
        what,
        waiters: waiters.len(),
        at,
        holders: outside.iter().map(|thread| thread.at()).collect(),
        waits_in: Some(waits_in.to_owned()),
        peer: peer(outside.iter().copied()),
    })
}

/// The one that more than half of the threads wait for.
fn peer<'a>(threads: impl ExactSizeIterator<Item = &'a Thread>) -> Option<String> {
    let all = threads.len();
    let mut numbers: HashMap<&str, usize> = HashMap::new();
    threads
        .filter_map(|thread| thread.peer.as_deref())
        .for_each(|peer| *numbers.entry(peer).or_default() += 1);
    numbers.into_iter().find(|(_, number)| 2 * number > all).map(|(peer, _)| peer.to_owned())
}

/// What the thread waits for, if it is one of a limited number.
fn what(thread: &Thread) -> Option<&'static str> {
    let waits = thread.state.as_deref().is_none_or(|state| state != "RUNNABLE");
    WAITS.iter().find(|(method, _)| waits && thread.is_in(&[method])).map(|(_, what)| *what)
}

/// Those of the holders that wait outside, if it is half of them or more, and what the first one does.
fn mostly_outside<'a>(holders: &[&'a Thread]) -> Option<(Vec<&'a Thread>, &'static str)> {
    let outside: Vec<&Thread> = holders.iter().copied().filter(|it| waits_in(it).is_some()).collect();
    let first = waits_in(outside.first()?)?;
    (2 * outside.len() >= holders.len()).then_some((outside, first))
}

pub(super) fn waits_in(thread: &Thread) -> Option<&'static str> {
    OUTSIDE.iter().find(|(method, _)| thread.is_in(&[method])).map(|(_, what)| *what)
}

/// Threads that are past the wait in the code that waits: they may have what the others want.
fn holders<'a>(threads: &'a [Thread], waiters: &[&Thread]) -> Vec<&'a Thread> {
    let code: HashSet<&str> = waiters.iter().flat_map(|thread| thread.code()).collect();
    let others = threads.iter().filter(|thread| what(thread).is_none());
    others.filter(|thread| thread.code().iter().any(|method| code.contains(method))).collect()
}

/// A semaphore may be a signal, for which idle workers wait for good reason; a pool is none.
fn is_given_back(evidence: &Evidence, waiters: &[&Thread]) -> bool {
    let is_semaphore = waiters.iter().any(|thread| what(thread) == Some(PERMIT));
    let of_one =
        |thread: &&Thread| evidence.synchronizers.get(thread.waits_for.as_ref()?).map(|it| it.is_given_back);
    !is_semaphore || waiters.iter().find_map(of_one) == Some(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnose::evidence::Synchronizer;
    use crate::diagnose::frame::Frame;

    const WAIT: &str = "java.base/java.util.concurrent.Semaphore.acquire(Semaphore.java:318)";
    const READ: &str = "java.base/sun.nio.ch.NioSocketImpl.read(NioSocketImpl.java:1)";
    const CODE: [&str; 2] = ["shop.Neighbour.call(Neighbour.java:20)", "shop.Orders.find(Orders.java:4)"];

    fn thread(tid: u64, top: &str) -> Thread {
        let frames = [top].into_iter().chain(CODE).map(Frame::parse).collect();
        let waits_for = (top == WAIT).then(|| "Semaphore@1".to_owned());
        Thread { tid, stood_still: true, frames, waits_for, ..Thread::default() }
    }

    fn of(threads: Vec<Thread>) -> Evidence {
        let synchronizers = HashMap::from([(
            "Semaphore@1".to_owned(),
            Synchronizer { is_given_back: true, ..Synchronizer::default() },
        )]);
        let earlier = vec![threads.clone()];
        Evidence { seconds: 3.0, threads, synchronizers, has_locks: true, earlier, ..Evidence::default() }
    }

    #[test]
    fn permits_that_nobody_has_are_leaked_and_those_of_readers_are_not() {
        let waiting = vec![thread(1, WAIT), thread(2, WAIT)];
        assert!(matches!(&judge(&of(waiting.clone()))[..], [Verdict::LeakedPermits { waiters: 2, .. }]));
        let peer = Some("127.0.0.1:5432".to_owned());
        let all = [waiting.clone(), vec![Thread { peer, ..thread(3, READ) }]].concat();
        let [Verdict::PoolExhausted { holders, waits_in, peer, .. }] = &judge(&of(all.clone()))[..] else {
            panic!("not found")
        };
        assert_eq!((holders[0].thread.id, waits_in.as_deref()), (3, Some("reading from a socket")));
        assert_eq!(peer.as_deref(), Some("127.0.0.1:5432"));
        let mut once = of(all.clone());
        once.earlier = vec![vec![thread(3, "shop.Json.write(Json.java:3)")]];
        assert_eq!(judge(&once), [], "only this moment");
        let mut moving = of(all);
        moving.threads.iter_mut().for_each(|it| it.stood_still = false);
        assert_eq!(judge(&moving), [], "other waiters each time");
        let working = [waiting, vec![thread(3, "shop.Json.write(Json.java:3)")]].concat();
        assert_eq!(judge(&of(working)), [], "who has one works");
    }

    #[test]
    fn a_pool_whose_holders_are_not_found_is_exhausted_and_not_leaked() {
        let borrow = "com.zaxxer.hikari.util.ConcurrentBag.borrow(ConcurrentBag.java:1)";
        let [Verdict::PoolExhausted { holders, waits_in: None, .. }] =
            &judge(&of(vec![thread(1, borrow), thread(2, borrow)]))[..]
        else {
            panic!("not found")
        };
        assert!(holders.is_empty());
    }

    #[test]
    fn waiters_that_move_on_or_find_permits_are_not_stuck() {
        let mut moving = of(vec![thread(1, WAIT), thread(2, WAIT)]);
        moving.threads[1].stood_still = false;
        assert_eq!(judge(&moving), []);
        let mut signal = of(vec![thread(1, WAIT), thread(2, WAIT)]);
        signal.synchronizers.insert("Semaphore@1".into(), Synchronizer::default());
        assert_eq!(judge(&signal), [], "idle workers, which somebody else wakes");
        let mut left = of(vec![thread(1, WAIT), thread(2, WAIT)]);
        left.synchronizers.insert("Semaphore@1".into(), Synchronizer { value: 2, ..Synchronizer::default() });
        assert_eq!(judge(&left), []);
    }
}
