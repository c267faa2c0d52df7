package dev.threadcount.probe;

import dev.threadcount.probe.stacks.JvmAccess;
import java.io.PipedInputStream;
import java.io.PipedReader;
import java.lang.management.LockInfo;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.locks.AbstractQueuedSynchronizer.ConditionObject;

/**
 * Finds out at one moment who can end a wait: the thread that holds or computes what a thread waits for, the pool with
 * its task in the queue, and threads whose work refers to it.
 */
final class Givers {
    private static final Set<String> PIPES = Set.of(PipedInputStream.class.getName(), PipedReader.class.getName());

    private final JvmAccess jvm;
    private final ThreadMXBean beans = ManagementFactory.getThreadMXBean();
    private final ThreadPools pools;
    private final References references;
    private final ReadHolds readHolds;
    private final List<Thread> threads;
    /** The latches that virtual threads count down at their end. */
    private final Map<Object, Thread> ends = new IdentityHashMap<>();
    private final Map<Long, Thread> mounted = new HashMap<>();

    /**
     * The threads that can end one wait, with the evidence for them.
     *
     * @param lock class and identity; null if it is not known
     * @param threads the threads that have it or give it
     * @param pool the name of the pool with its task in the queue; null for none
     * @param users the threads whose work refers to it
     */
    record Given(String lock, Set<Long> threads, String pool, Set<Long> users) {}

    Givers(JvmAccess jvm, List<Thread> threads) {
        this.jvm = jvm;
        this.threads = threads;
        pools = new ThreadPools(jvm, threads);
        references = new References(jvm, threads);
        readHolds = new ReadHolds(jvm, threads);
        for (Thread thread : threads) {
            if (thread.isVirtual()) {
                Object latch = jvm.fieldOf(thread, "termination");
                if (latch instanceof CountDownLatch) {
                    ends.put(jvm.fieldOf(latch, "sync"), thread);
                }
                Thread carrier = jvm.carrierOf(thread);
                if (carrier != null) {
                    mounted.put(carrier.threadId(), thread);
                }
            }
        }
    }

    ThreadPools pools() {
        return pools;
    }

    /** @param blocker the object for which the thread is parked; null for a monitor or an unknown object */
    Given of(Thread thread, Object blocker) {
        return blocker == null ? ofMonitor(thread) : ofBlocker(thread, blocker);
    }

    private Given ofBlocker(Thread thread, Object blocker) {
        Set<Long> givers = new HashSet<>(readHolds.of(blocker));
        Thread ended = blocker instanceof Thread joined ? joined : ends.get(blocker);
        if (ended != null) {
            givers.add(ended.threadId());
        }
        if (blocker instanceof FutureTask<?> && jvm.fieldOf(blocker, "runner") instanceof Thread runner) {
            givers.add(runner.threadId());
        }
        givers.addAll(pools.whoseEndIs(blocker));
        otherEnd(thread, blocker).ifPresent(givers::add);
        // If the blocker is a condition, its lock identifies the queue to which both belong.
        Object key = blocker instanceof ConditionObject ? jvm.fieldOf(blocker, "this$0") : blocker;
        givers.addAll(pools.whoTakesFrom(key));
        String pool = pools.withTask(blocker);
        return new Given(name(blocker), givers, pool == null ? pools.withTask(key) : pool, references.to(key));
    }

    /** The thread that last wrote the pipe that this thread reads, or last read the pipe that it writes. */
    private Optional<Long> otherEnd(Thread thread, Object pipe) {
        boolean isPipe = pipe instanceof PipedInputStream || pipe instanceof PipedReader;
        String side = isPipe ? otherSide(jvm.stackOf(thread).frames()) : null;
        return side != null && jvm.fieldOf(pipe, side) instanceof Thread end ? Optional.of(end.threadId()) : Optional.empty();
    }

    /** The pipe's field with the thread at its other end, or null if the stack is not in a pipe. */
    static String otherSide(StackTraceElement[] frames) {
        for (StackTraceElement frame : frames) {
            if (PIPES.contains(frame.getClassName())) {
                return frame.getMethodName().equals("read") ? "writeSide" : "readSide";
            }
        }
        return null;
    }

    /**
     * The wait for a monitor, which the JVM's beans know for platform threads: the monitor that a thread wants, or the object at which it
     * waits. Before Java 24 a virtual thread that wants a monitor keeps its carrier, and the beans show the carrier instead.
     */
    private Given ofMonitor(Thread thread) {
        Thread known = thread.isVirtual() ? jvm.carrierOf(thread) : thread;
        ThreadInfo info = known == null ? null : beans.getThreadInfo(known.threadId());
        boolean isOther = info == null || known != thread && info.getThreadState() != Thread.State.BLOCKED;
        LockInfo lock = isOther ? null : info.getLockInfo();
        if (lock == null) {
            return new Given(null, Set.of(), null, Set.of());
        }
        Set<Long> givers = new HashSet<>();
        if (info.getLockOwnerId() >= 0) {
            Thread carried = mounted.get(info.getLockOwnerId());
            givers.add(carried == null ? info.getLockOwnerId() : carried.threadId());
        }
        for (Thread other : threads) {
            if (System.identityHashCode(other) == lock.getIdentityHashCode() && other.getClass().getName().equals(lock.getClassName())) {
                givers.add(other.threadId());
            }
        }
        otherEnd(known, jvm.stackOf(known).blocker()).ifPresent(givers::add);
        return new Given(lock.toString(), givers, pools.withTask(lock), Set.of());
    }

    static String name(Object object) {
        return object.getClass().getName() + "@" + Integer.toHexString(System.identityHashCode(object));
    }

    static long[] sorted(Set<Long> ids) {
        List<Long> all = new ArrayList<>(ids);
        return all.stream().mapToLong(Long::longValue).sorted().toArray();
    }
}
