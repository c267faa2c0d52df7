//! The advice for each verdict.

use threadcount_diagnose::KernelCause;
use threadcount_diagnose::verdict::{
    Bond, DeadEnd, FOR_CHILD_PROCESS, FOR_FILE_LOCK, Link, Missing, Verdict, WAITS_TO_WRITE_BACK, are_unread,
};

pub(super) fn advice(verdict: &Verdict) -> Option<&'static str> {
    match verdict {
        Verdict::Deadlock { links, .. } if links.iter().any(|it| it.bond == Bond::Initialises) => Some(
            "wait for no other thread in a static initialiser. Make there only what needs no other class or pool. Restart the JVM \
             meanwhile",
        ),
        Verdict::Deadlock { links, .. } if links.iter().any(|it| it.bond == Bond::BelongsToIt) => Some(
            "end a pool from a thread that is not its own, and hold no lock meanwhile. Restart the JVM meanwhile",
        ),
        Verdict::Deadlock { links, .. } if matches!(&links[..], [Link { bond: Bond::Kept { .. }, .. }]) => {
            Some(
                "wait for no result on the thread that brings it. Continue with a callback, or wait on another pool. Restart the JVM meanwhile",
            )
        }
        Verdict::Deadlock { links, .. } if links.iter().any(|it| !matches!(it.bond, Bond::Holds)) => Some(
            "hold no lock while waiting for a result, and give tasks that wait for tasks their own pool. Restart the JVM meanwhile",
        ),
        Verdict::Deadlock { links, .. } if links.len() == 1 => Some(
            "give back what the thread holds before it takes it in another way. A read lock does not become a write lock",
        ),
        Verdict::Deadlock { .. } => Some(
            "take these locks in the same order everywhere, or use tryLock with a limit. Restart the JVM meanwhile",
        ),
        Verdict::PoolWaitsForItself { .. } => Some(
            "use the first one for both, or give it back before the second is taken. A larger pool only moves the limit",
        ),
        Verdict::DeadEnd { end: DeadEnd::Nobody { peers, .. }, .. } if !peers.is_empty() => {
            Some("a time limit for the wait, and check the machine that does not respond")
        }
        Verdict::DeadEnd { end: DeadEnd::Nobody { behind: Some(_), .. }, .. } => Some(
            "give the tasks that end this wait another pool, or wait before a task begins. Also check that errors give it back",
        ),
        Verdict::DeadEnd { end: DeadEnd::Nobody { .. }, .. } => Some(
            "find the path on which it is not given, as after an error or the end of its thread. Set a time limit for the wait",
        ),
        Verdict::DeadEnd { end: DeadEnd::Outside { waits_in, .. }, .. } if waits_in == FOR_FILE_LOCK => Some(
            "tryLock() with a time limit, and no lock of this JVM held meanwhile. End the process that has the file",
        ),
        Verdict::DeadEnd { end: DeadEnd::Outside { .. }, .. } => Some(
            "a time limit for what the last thread does, and nothing held meanwhile. Check the other end",
        ),
        Verdict::RequestsStand { own_calls: Some(_), .. } => {
            Some("a method instead of a request to its own port, or more threads than such requests can take")
        }
        Verdict::RequestsStand { groups, .. } if groups.iter().any(|it| it.child.is_some()) => {
            Some("a time limit for the child process, and no more of them at once than the machine has cores")
        }
        Verdict::RequestsStand { groups, .. }
            if !groups.is_empty() && groups.iter().all(|it| it.computes) =>
        {
            Some(
                "check how the loop ends, and data that threads change without a lock. The same command shows whether it goes on",
            )
        }
        Verdict::RequestsStand { groups, .. } if are_unread(groups) => Some(
            "a time limit for the response, and look at the clients or the proxy before them: they have stopped reading it",
        ),
        Verdict::RequestsStand { groups, .. }
            if !groups.is_empty() && groups.iter().all(|it| it.is_limited) =>
        {
            Some(
                "the same command once more. If it shows the same, a shorter wait, or more threads than requests that wait",
            )
        }
        Verdict::RequestsStand { groups, .. } if groups.iter().any(|it| it.owner.is_some()) => Some(
            "look first at the thread that holds it, then run the same command with --out, for all stacks",
        ),
        Verdict::RequestsStand { groups, .. } if groups.iter().any(|it| it.what.is_some()) => Some(
            "find the code that ends this wait, and the path on which it does not run, as after an error or the end of its thread. \
             --out writes all stacks. Long polls without a time limit appear the same",
        ),
        Verdict::RequestsStand { .. } => Some(
            "the same command with --out, for all stacks. Long polls without a time limit appear the same",
        ),
        Verdict::LockWithoutRunnableOwner { .. } => Some(
            "Java 24 or newer, where `synchronized` does not pin. Before, a ReentrantLock instead of `synchronized` around this \
             call. Or -Djdk.virtualThreadScheduler.parallelism above the number of threads that may be pinned. This JVM does \
             not recover; restart it",
        ),
        Verdict::CarriersHeld { java, .. } if java.is_some_and(|it| it >= 24) => Some(
            "do what they do there, in native code or while a class begins, on a platform thread. This JVM may not recover; restart it",
        ),
        Verdict::CarriersHeld { .. } => Some(
            "where they are in `synchronized`: Java 24 or newer, which does not pin there, or a ReentrantLock instead. Elsewhere, do \
             that work on a platform thread. The thread that would let them continue may have no carrier. Then this JVM does \
             not recover; restart it",
        ),
        Verdict::LeakedPermits { .. } => {
            Some("give it back in `finally` or try-with-resources, on the path of errors and timeouts too")
        }
        Verdict::LockNotGivenBack { .. } => Some(
            "unlock() in `finally`, in the method that takes the lock, on the path of errors and timeouts too. This JVM does not recover; \
             restart it",
        ),
        Verdict::CarriersSpinning { .. } => Some(
            "run computations on platform threads, or as many at a time as leave a carrier free. A loop that waits for a flag \
             needs a lock or a queue",
        ),
        Verdict::PoolExhausted { .. } => Some(
            "limits for the wait of the holders (connect and read timeouts), and for the wait for the pool. A larger \
             pool helps only if what they wait for can do more at once",
        ),
        Verdict::GcThrashing { .. } => {
            Some("a larger -Xmx, or `jcmd PID GC.class_histogram`, which lists by class what lives")
        }
        Verdict::Unresponsive { facts, .. } if facts.iter().any(|it| it.cause.is_some()) => {
            facts.iter().find_map(|it| it.cause).map(of_kernel)
        }
        Verdict::Unresponsive { seconds: None, .. } => Some(
            "remove what keeps it from taking commands (below), or list its threads from outside (`top -H -p PID`, \
             `jhsdb jstack --pid PID`)",
        ),
        Verdict::Unresponsive { .. } => Some(
            "list its threads from outside (`top -H -p PID`, `jhsdb jstack --pid PID`). A thread that does not reach a \
             safepoint causes this, and so does a swapping or a throttled machine",
        ),
        Verdict::Stuck { waits_in, .. } if waits_in == FOR_CHILD_PROCESS => {
            Some("read what the child process writes before you wait for its end, or let it write to a file")
        }
        Verdict::Stuck { peer: Some(peer), .. } if peer.ends_with(WAITS_TO_WRITE_BACK) => {
            Some("read what the child process writes on another thread, while this one writes to it")
        }
        Verdict::Stuck { .. } => Some(
            "connect and read timeouts, and check what they wait for. If these are connections that are idle, nothing is wrong",
        ),
        Verdict::Inconclusive { missing: Missing::Time, .. } => {
            Some("the same command again, or `top -H -p PID`")
        }
        Verdict::Inconclusive { missing: Missing::ThreadDump | Missing::Sources, .. } => None,
        Verdict::Inconclusive { missing: Missing::HeapIsShort, .. } => {
            Some("a larger -Xmx, or `jcmd PID GC.class_histogram`, which lists by class what lives")
        }
        Verdict::Slow { .. } => Some("`threadcount watch PID` for where the time goes"),
        Verdict::Idle { for_permits: 1.., .. } => Some(
            "if these threads should work, find the path on which release() is not called, as after an error",
        ),
        Verdict::Waiting { .. } | Verdict::Idle { .. } => None,
    }
}

const fn of_kernel(cause: KernelCause) -> &'static str {
    match cause {
        KernelCause::Stopped => "`kill -CONT PID`, or let the debugger or the control group go on",
        KernelCause::FullPipe => {
            "read the pipe to which the JVM writes, or write to a file. With -Xlog:async the JVM does not wait for its log"
        }
        KernelCause::Descriptors => {
            "close what is no longer used; CLOSE_WAIT is a connection that the other side has closed and this process has not. \
             A higher `ulimit -n` only postpones it"
        }
        KernelCause::Disk => "look after that disk or network file system (`dmesg`, `mount`)",
        KernelCause::Memory => "a smaller -Xmx, or more memory for the machine or the control group",
        KernelCause::Throttled => {
            "a larger CPU quota of the control group (`cpu.max`, or the container's CPU limit)"
        }
    }
}
