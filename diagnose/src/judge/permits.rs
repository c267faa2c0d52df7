//! Judges threads that wait for a permit or a pooled connection: no thread holds one, or the holders wait themselves.

use super::waits::{ASLEEP, READS_STREAM, waits_for_work, waits_in};
use crate::evidence::{Evidence, Thread};
use crate::frame::Frame;
use crate::verdict::{ThreadAt, Verdict};
use std::collections::{HashMap, HashSet};

pub(super) const PERMIT: &str = "a permit of a Semaphore";
/// A result of reactive code, which no thread gives back.
const RESULT: &str = "a reactive result";
/// Holders that keep theirs for less than this are fast, however many threads wait.
const SLOW_SECONDS: f64 = 0.7;

/// Methods in which a thread waits for one of a limited number of things, and the name of the thing.
const WAITS: [(&str, &str); 13] = [
    ("ConcurrentBag.borrow", "a HikariCP connection"),
    ("org.apache.tomcat.jdbc.pool.ConnectionPool.borrowConnection", "a Tomcat JDBC connection"),
    ("GenericObjectPool.borrowObject", "an object of a commons-pool2 pool"),
    ("GenericKeyedObjectPool.borrowObject", "an object of a commons-pool2 pool"),
    ("com.mchange.v2.resourcepool.BasicResourcePool.awaitAvailable", "a c3p0 connection"),
    ("com.mongodb.internal.connection.ConcurrentPool$StateAndPermits.acquirePermit", "a MongoDB connection"),
    ("io.agroal.pool.ConnectionPool.waitAvailableHandler", "an Agroal connection"),
    // The classes of Apache HttpClient 5 and 4.
    ("InternalExecRuntime.acquireEndpoint", "an HTTP connection of a pool"),
    ("AbstractConnPool.getPoolEntryBlocking", "an HTTP connection of a pool"),
    ("Semaphore.acquire", PERMIT),
    ("Semaphore.acquireUninterruptibly", PERMIT),
    ("Semaphore.tryAcquire", PERMIT),
    ("reactor.core.publisher.BlockingSingleSubscriber.blockingGet", RESULT),
];

pub(super) fn judge(evidence: &Evidence) -> Vec<Verdict> {
    let mut queues: HashMap<String, Vec<&Thread>> = HashMap::new();
    for thread in evidence.threads.iter().filter(|thread| what(thread).is_some()) {
        // Without a snapshot of locks, threads at the same line are one queue.
        let at = || thread.application().map(ToString::to_string).unwrap_or_default();
        queues.entry(thread.waits_for.clone().unwrap_or_else(at)).or_default().push(thread);
    }
    let mut queues: Vec<_> = queues.into_iter().collect();
    queues.sort_by_key(|(name, waiters)| (usize::MAX - waiters.len(), name.clone()));
    queues.iter().filter_map(|(lock, waiters)| Queue::of(evidence, lock, waiters)?.judge()).collect()
}

/// The threads that wait for one limited resource.
struct Queue<'a> {
    evidence: &'a Evidence,
    lock: &'a str,
    what: &'static str,
    waiters: &'a [&'a Thread],
    /// The number of waiters that stood still all the time.
    still: usize,
}

impl<'a> Queue<'a> {
    fn of(evidence: &'a Evidence, lock: &'a str, waiters: &'a [&'a Thread]) -> Option<Self> {
        let what = what(waiters.first()?)?;
        let still = waiters.iter().filter(|thread| thread.stands_still()).count();
        Some(Self { evidence, lock, what, waiters, still })
    }

    fn judge(&self) -> Option<Verdict> {
        let left = self.evidence.synchronizers.get(self.lock).map(|it| it.value);
        // Unless most of them stand still, the queue moves.
        if left.is_some_and(|permits| permits > 0) || 2 * self.still < self.waiters.len() {
            return None;
        }
        let holders = past_the_wait(&self.evidence.threads, self.waiters);
        if holders.is_empty() { self.without_holder() } else { self.exhausted(&holders) }
    }

    /// Threads that wait all the time while at no moment another thread holds a connection wait for one that is lost. A semaphore may be a
    /// signal instead, which the code that waits for it does not give back.
    fn without_holder(&self) -> Option<Verdict> {
        if self.what == PERMIT {
            return None;
        }
        let were_there = |threads: &Vec<Thread>| !past_the_wait(threads, self.waiters).is_empty();
        if self.still < 2 || self.evidence.earlier.iter().any(were_there) {
            return None;
        }
        let may_hold: Vec<&Thread> = self.evidence.threads.iter().filter(|it| self.may_hold(it)).collect();
        let is_nobody = may_hold.is_empty();
        // A virtual thread that was not seen may hold one and be about to give it back.
        if is_nobody && self.evidence.lacks_virtual_threads {
            return None;
        }
        if is_nobody && self.what != RESULT {
            return Some(self.leaked());
        }
        Some(self.pool_exhausted(&may_hold, None, None))
    }

    fn leaked(&self) -> Verdict {
        let is_known = self.evidence.synchronizers.contains_key(self.lock);
        let waiting = self.waiting_at_once();
        Verdict::LeakedPermits {
            lock: is_known.then(|| self.lock.to_owned()),
            what: self.what.to_owned(),
            waiters: waiting.len(),
            waiting,
            at: self.at(),
        }
    }

    fn exhausted(&self, holders: &[&Thread]) -> Option<Verdict> {
        let (outside, waits_in) = mostly_outside(holders)?;
        // One moment proves little, so holders in an earlier snapshot must have waited outside as well.
        let was_so = |threads: &Vec<Thread>| mostly_outside(&past_the_wait(threads, self.waiters)).is_some();
        let is_lasting = self.still >= holders.len() && self.evidence.earlier.iter().any(was_so);
        // Little's law: each is held for the number of holders divided by the rate at which they were passed on.
        let served = self.served();
        let per_each = holders.len() as f64 * self.evidence.between_seconds / served.max(1) as f64;
        let hold_seconds = (served > 0).then_some(per_each);
        let is_slow = hold_seconds.is_none_or(|it| it >= SLOW_SECONDS) && self.are_held_long(&outside);
        (is_lasting && is_slow).then(|| self.pool_exhausted(&outside, Some(waits_in), hold_seconds))
    }

    /// Whether the holders keep theirs for long. The queue of a synchronizer shows which threads wait anew. Without one, a virtual thread
    /// that serves one request after the other seems to wait all the time, so most holders must be the same as before.
    fn are_held_long(&self, outside: &[&Thread]) -> bool {
        let has_queue = self.evidence.synchronizers.get(self.lock).is_some_and(|it| it.has_queue);
        let before: HashMap<u64, &Thread> =
            self.evidence.earlier.first().into_iter().flatten().map(|it| (it.tid, it)).collect();
        let is_same =
            |it: &&&Thread| !it.went_on && before.get(&it.tid).is_some_and(|then| then.frames == it.frames);
        has_queue || 2 * outside.iter().filter(is_same).count() >= outside.len()
    }

    fn pool_exhausted(
        &self,
        holders: &[&Thread],
        waits_in: Option<&str>,
        hold_seconds: Option<f64>,
    ) -> Verdict {
        let waiting = self.waiting_at_once();
        Verdict::PoolExhausted {
            what: self.what.to_owned(),
            waiters: waiting.len(),
            waiting,
            at: self.at(),
            holders: holders.iter().map(|thread| thread.at()).collect(),
            waits_in: waits_in.map(str::to_owned),
            peer: waits_in.and_then(|_| peer(holders)),
            hold_seconds,
        }
    }

    /// The waiters that existed when the JVM began to write its last dump. While it writes, virtual threads end and others begin, so the
    /// dump contains more of them than ever existed at once. A virtual thread that is also in the dump before existed in between.
    fn waiting_at_once(&self) -> Vec<ThreadAt> {
        let before: Option<HashSet<u64>> =
            self.evidence.earlier.first().map(|all| all.iter().map(|it| it.tid).collect());
        let was_there =
            |it: &Thread| !it.is_virtual || before.as_ref().is_none_or(|all| all.contains(&it.tid));
        self.waiters.iter().filter(|it| was_there(it)).map(|thread| thread.at()).collect()
    }

    fn at(&self) -> Option<Frame> {
        self.waiters.first()?.at().at
    }

    /// The number of threads that got one: they waited in one snapshot and not in the last, or began a new wait in between.
    fn served(&self) -> usize {
        let waits_now: HashMap<u64, &Thread> =
            self.waiters.iter().map(|thread| (thread.tid, *thread)).collect();
        let places: HashSet<&Frame> = self.waiters.iter().filter_map(|thread| thread.application()).collect();
        let waited = |thread: &&Thread| {
            what(thread) == Some(self.what) && thread.application().is_some_and(|at| places.contains(at))
        };
        let mut served: HashSet<u64> =
            waits_now.values().filter(|it| it.stood_still && it.went_on).map(|it| it.tid).collect();
        for threads in &self.evidence.earlier {
            let gone = threads.iter().filter(waited).filter(|it| !waits_now.contains_key(&it.tid));
            served.extend(gone.map(|it| it.tid));
        }
        served.len()
    }

    /// Whether the thread may hold one: it is in code of the application that waits neither for one nor for work.
    fn may_hold(&self, thread: &Thread) -> bool {
        let own = thread.application_frames();
        let is_outside = waits_in(thread).is_some_and(|it| ![ASLEEP, READS_STREAM].contains(&it));
        let is_busy = own.len() > 1 || !thread.stood_still || is_outside;
        let is_other = what(thread) != Some(self.what) && !own.is_empty() && !waits_for_work(thread);
        is_other && is_busy
    }
}

/// The other end that more than half of the threads wait for.
pub(super) fn peer(threads: &[&Thread]) -> Option<String> {
    let all = threads.len();
    let mut numbers: HashMap<&str, usize> = HashMap::new();
    threads
        .iter()
        .filter_map(|thread| thread.peer.as_deref())
        .for_each(|peer| *numbers.entry(peer).or_default() += 1);
    numbers.into_iter().find(|(_, number)| 2 * number > all).map(|(peer, _)| peer.to_owned())
}

/// The limited thing that the thread waits for. A thread that opens a new connection has a place in the pool and waits outside the JVM.
pub(super) fn what(thread: &Thread) -> Option<&'static str> {
    let is_opening = waits_in(thread).is_some_and(|it| it != ASLEEP);
    let waits = !is_opening && thread.state.as_deref().is_none_or(|state| state != "RUNNABLE");
    WAITS.iter().find(|(method, _)| waits && thread.is_in(&[method])).map(|(_, what)| *what)
}

/// Whether a thread waits for a permit while none is left and no other thread is, or was, in the code that takes one.
pub(super) fn has_no_holder(evidence: &Evidence, thread: &Thread) -> bool {
    let semaphore = thread.waits_for.as_ref().and_then(|it| evidence.synchronizers.get(it));
    let is_nobody = |threads: &Vec<Thread>| past_the_wait(threads, &[thread]).is_empty();
    what(thread) == Some(PERMIT)
        && semaphore.is_some_and(|it| it.value == 0)
        && !evidence.lacks_virtual_threads
        && is_nobody(&evidence.threads)
        && evidence.earlier.iter().all(is_nobody)
}

/// The holders that wait outside, if they are at least half of all, and the words for what the first one does.
fn mostly_outside<'a>(holders: &[&'a Thread]) -> Option<(Vec<&'a Thread>, &'static str)> {
    let is_outside = |it: &&Thread| waits_in(it).is_some() && it.busy_child.is_none();
    let outside: Vec<&Thread> = holders.iter().copied().filter(is_outside).collect();
    let first = waits_in(outside.first()?)?;
    (2 * outside.len() >= holders.len()).then_some((outside, first))
}

/// The threads that are past the wait in the code of the waiters: they may hold what these want.
fn past_the_wait<'a>(threads: &'a [Thread], waiters: &[&Thread]) -> Vec<&'a Thread> {
    let code: HashSet<&str> = waiters.iter().flat_map(|thread| thread.code()).collect();
    let others = threads.iter().filter(|thread| what(thread).is_none());
    others.filter(|thread| thread.code().iter().any(|method| code.contains(method))).collect()
}

#[cfg(test)]
mod tests;
