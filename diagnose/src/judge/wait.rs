//! Tells what a thread waits for, by the methods of the JDK on its stack.

use super::permits;
use super::waits::{
    ASLEEP, CHILD, LOCKS_FILE, READS, READS_STREAM, WRITES, WRITES_FILE, WRITES_STREAM, waits_for_work,
    waits_in,
};
use crate::evidence::Thread;

/// The kind of thing that a thread waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Wait {
    Monitor,
    Lock,
    Permit(&'static str),
    /// The result of a task or a future, or the end of a thread.
    Result,
    /// The end of all threads of a pool.
    PoolEnd,
    /// Room in a queue that is full.
    Room,
    /// An item of a queue that is empty.
    Item,
    /// The arrival of others: a latch, a barrier.
    Latch(&'static str),
    /// A condition, `notify`, `unpark`.
    Signal,
    ClassBegun,
    Outside(&'static str),
}

/// Methods of the JDK, and what a thread in them waits for. The topmost of them on the stack counts.
const PLACES: [(&str, Wait); 24] = [
    ("CountDownLatch.await", Wait::Latch("a CountDownLatch")),
    ("CyclicBarrier.dowait", Wait::Latch("a CyclicBarrier")),
    ("Phaser.internalAwaitAdvance", Wait::Latch("a Phaser")),
    ("Exchanger.exchange", Wait::Latch("an Exchanger")),
    ("PipedInputStream.awaitSpace", Wait::Latch("room in a pipe")),
    ("PipedInputStream.read", Wait::Latch("data of a pipe")),
    ("PipedReader.read", Wait::Latch("data of a pipe")),
    ("FutureTask.awaitDone", Wait::Result),
    ("CompletableFuture.waitingGet", Wait::Result),
    ("CompletableFuture.timedGet", Wait::Result),
    ("ForkJoinTask.awaitDone", Wait::Result),
    ("ForkJoinPool.awaitDone", Wait::Result),
    ("Thread.join", Wait::Result),
    ("VirtualThread.joinNanos", Wait::Result),
    ("ThreadFlock.awaitAll", Wait::Result),
    ("ThreadPoolExecutor.awaitTermination", Wait::PoolEnd),
    ("ForkJoinPool.awaitTermination", Wait::PoolEnd),
    ("ReentrantLock.lock", Wait::Lock),
    ("ReentrantLock.tryLock", Wait::Lock),
    ("ReentrantLock.lockInterruptibly", Wait::Lock),
    ("AbstractQueuedSynchronizer$ConditionObject.await", Wait::Signal),
    ("AbstractQueuedSynchronizer$ConditionObject.awaitNanos", Wait::Signal),
    ("Object.wait", Wait::Signal),
    ("Object.wait0", Wait::Signal),
];
const LOCKS: [&str; 3] = ["ReentrantReadWriteLock$", "StampedLock.", "locks.ReentrantLock$"];
const PUTS: [&str; 7] = ["put", "offer", "putFirst", "putLast", "offerFirst", "offerLast", "transfer"];
const TAKES: [&str; 6] = ["take", "poll", "takeFirst", "takeLast", "pollFirst", "pollLast"];
const PARKS: [&str; 4] =
    ["LockSupport.park", "LockSupport.parkNanos", "LockSupport.parkUntil", "Unsafe.park"];
/// A thread in one of these methods goes on by itself.
const TIMED: [&str; 6] = [
    "LockSupport.parkNanos",
    "LockSupport.parkUntil",
    "Thread.sleep",
    "Thread.sleepNanos",
    "VirtualThread.sleepNanos",
    "VirtualThread.parkNanos",
];

/// The wait of a thread; `None` if it runs, sleeps or is idle, or if this is unknown.
pub(super) fn of(thread: &Thread) -> Option<Wait> {
    if thread.is_carrier {
        return None;
    }
    if thread.class_to_begin.is_some() || begins_class(thread) {
        return Some(Wait::ClassBegun);
    }
    if thread.state.as_deref() == Some("BLOCKED") {
        return Some(Wait::Monitor);
    }
    if let Some(what) = permits::what(thread) {
        return Some(Wait::Permit(what));
    }
    match waits_in(thread) {
        Some(ASLEEP) => return None,
        Some(what) => return Some(Wait::Outside(what)),
        None => {}
    }
    in_jdk(thread)
}

fn in_jdk(thread: &Thread) -> Option<Wait> {
    let library = || thread.frames.iter().take_while(|frame| is_of_jdk(&frame.method));
    if !library().any(|frame| PARKS.iter().chain(&["Object.wait", "Object.wait0"]).any(|it| frame.is(it))) {
        return None;
    }
    let queue = library().find_map(|frame| of_queue(&frame.method));
    let known = || {
        library().find_map(|frame| {
            let known_place = PLACES.iter().find(|(method, _)| frame.is(method)).map(|(_, wait)| *wait);
            let is_lock = LOCKS.iter().any(|it| frame.method.contains(it)) && !is_condition(&frame.method);
            known_place.filter(|it| *it != Wait::Signal).or(is_lock.then_some(Wait::Lock))
        })
    };
    let is_idle = thread.application().is_none() && waits_for_work(thread);
    // A pool's thread that waits for a task is idle.
    let waits_for_task = thread.is_in(&["ThreadPoolExecutor.getTask", "ForkJoinPool.awaitWork"]);
    let other = || if is_for_result(thread) { Wait::Result } else { Wait::Signal };
    if is_idle || waits_for_task { None } else { queue.or_else(known).or_else(|| Some(other())) }
}

/// Whether the thread waits for a `CompletableFuture`, which any code may complete.
pub(super) fn is_for_completion(thread: &Thread) -> bool {
    thread.is_in(&["CompletableFuture.waitingGet", "CompletableFuture.timedGet"])
}

/// Whether the thread waits for a library's own kind of future, which the name of its class shows.
fn is_for_result(thread: &Thread) -> bool {
    let class = thread.waits_for.as_deref().and_then(|it| it.split('@').next());
    let name = class.and_then(|it| it.rsplit(['.', '$']).next()).unwrap_or_default();
    ["Future", "Promise"].iter().any(|it| name.contains(it))
}

fn is_condition(method: &str) -> bool {
    method.contains("ConditionObject")
}

fn of_queue(method: &str) -> Option<Wait> {
    let (class, name) = method.rsplit_once('.')?;
    let is_queue =
        class.starts_with("java.util.concurrent.") && (class.contains("Queue") || class.contains("Deque"));
    if !is_queue {
        return None;
    }
    if PUTS.contains(&name) {
        return Some(Wait::Room);
    }
    TAKES.contains(&name).then_some(Wait::Item)
}

/// Whether the thread waits for the initialisation of a class. The JVM says so of platform threads. A virtual thread stands at a line of
/// the application, or in code of the JDK that initialises a class, without using the CPU, and keeps its carrier.
fn begins_class(thread: &Thread) -> bool {
    const NEW: [&str; 2] = ["Unsafe.ensureClassInitialized0", "Class.forName0"];
    let is_first =
        thread.frames.first().is_some_and(|top| NEW.iter().any(|it| top.is(it)) || top.is_application());
    let rests = thread.runnable_share.is_some_and(|share| share < 0.02);
    let is_runnable = thread.state.as_deref().is_none_or(|state| state == "RUNNABLE");
    thread.is_virtual && thread.is_mounted && is_first && rests && is_runnable && thread.stands_still()
}

pub(super) fn is_of_jdk(method: &str) -> bool {
    ["java.", "jdk.", "sun.", "javax."].iter().any(|it| method.starts_with(it))
}

/// Whether the thread goes on by itself after a time that its code gives.
pub(super) fn is_timed(thread: &Thread) -> bool {
    let is_waiting_at_object = thread.is_in(&["Object.wait", "Object.wait0"]);
    thread.is_in(&TIMED) || is_waiting_at_object && thread.state.as_deref() == Some("TIMED_WAITING")
}

/// Whether only time ends the wait, because no method of the JDK around it lets another thread end it.
pub(super) fn is_for_time(thread: &Thread) -> bool {
    const FOR_TIME: [&str; 2] = ["java.util.concurrent.locks.LockSupport.", "java.util.concurrent.TimeUnit."];
    let is_of_synchronizer = |method: &str| {
        method.starts_with("java.util.concurrent.") && !FOR_TIME.iter().any(|it| method.starts_with(it))
    };
    let mut way = thread.frames.iter().take_while(|it| it.is_jdk());
    is_timed(thread)
        && !thread.is_in(&["Object.wait", "Object.wait0"])
        && !way.any(|it| is_of_synchronizer(&it.method))
}

/// Whether the thread waits without end although it wakes up: it only checks whether the thread at the other end of a pipe is alive.
pub(super) fn has_no_end(thread: &Thread) -> bool {
    const PIPES: [&str; 4] =
        ["PipedInputStream.read", "PipedInputStream.awaitSpace", "PipedReader.read", "PipedReader.receive"];
    thread.is_in(&PIPES)
}

/// Whether the thread may just wait until its client sends or its child process prints.
pub(super) fn may_be_idle(thread: &Thread, wait: Wait) -> bool {
    match wait {
        Wait::Outside(READS | READS_STREAM) => thread.peer.is_none(),
        _ => false,
    }
}

pub(super) fn is_writing(thread: &Thread) -> bool {
    waits_in(thread).is_some_and(|it| [WRITES, WRITES_FILE, WRITES_STREAM].contains(&it))
}

pub(super) fn waits_for_file_lock(thread: &Thread) -> bool {
    waits_in(thread) == Some(LOCKS_FILE)
}

pub(super) fn waits_for_child(thread: &Thread) -> bool {
    waits_in(thread) == Some(CHILD)
}

/// Whether the thread reads a file, a pipe or what a child process prints.
pub(super) fn reads_stream(thread: &Thread) -> bool {
    waits_in(thread) == Some(READS_STREAM)
}

/// The words for the thing that a thread waits for.
pub(super) fn words(wait: Wait) -> &'static str {
    match wait {
        Wait::Monitor => "a monitor",
        Wait::Lock => "a lock",
        Wait::Permit(what) | Wait::Latch(what) | Wait::Outside(what) => what,
        Wait::Result => "a result",
        Wait::PoolEnd => "the end of a pool",
        Wait::Room => "room in a queue",
        Wait::Item => "an element of a queue",
        Wait::Signal => "a signal",
        Wait::ClassBegun => "the initialisation of a class",
    }
}

/// The words for a thread that waits for it.
pub(super) fn phrase(wait: Wait) -> String {
    match wait {
        Wait::Outside(what) => what.to_owned(),
        other => format!("waiting for {}", words(other)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::Frame;

    fn of_frames(frames: &[&str]) -> Option<Wait> {
        let frames = [frames, &["shop.Orders.find(Orders.java:7)"]].concat();
        of(&Thread { frames: frames.iter().map(|it| Frame::parse(it)).collect(), ..Thread::default() })
    }

    #[test]
    fn the_method_of_the_jdk_says_what_is_waited_for() {
        const PARK: &str = "java.base/jdk.internal.misc.Unsafe.park(Native Method)";
        const AWAIT: &str =
            "java.base/java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject.await(A.java:1)";
        let of_method =
            |method: &str| of_frames(&[PARK, &format!("java.base/java.util.concurrent.{method}(A.java:1)")]);
        let of_condition = |method: &str| {
            of_frames(&[PARK, AWAIT, &format!("java.base/java.util.concurrent.{method}(A.java:1)")])
        };
        assert_eq!(of_method("FutureTask.awaitDone"), Some(Wait::Result));
        assert_eq!(of_method("CountDownLatch.await"), Some(Wait::Latch("a CountDownLatch")));
        assert_eq!(of_method("locks.ReentrantReadWriteLock$ReadLock.lock"), Some(Wait::Lock));
        assert_eq!(of_method("locks.StampedLock.acquireRead"), Some(Wait::Lock));
        assert_eq!(of_condition("ArrayBlockingQueue.put"), Some(Wait::Room));
        assert_eq!(of_condition("LinkedBlockingQueue.take"), Some(Wait::Item));
        assert_eq!(of_condition("ThreadPoolExecutor.getTask"), None);
        assert_eq!(of_frames(&[PARK, AWAIT]), Some(Wait::Signal));
        assert_eq!(of_frames(&["java.base/java.util.HashMap.get(HashMap.java:1)"]), None, "it computes");
    }
}
