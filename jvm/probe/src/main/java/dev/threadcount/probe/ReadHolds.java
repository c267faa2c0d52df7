package dev.threadcount.probe;

import dev.threadcount.probe.stacks.JvmAccess;
import java.lang.ref.Reference;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Finds the readers of a {@code ReentrantReadWriteLock}. Its read lock has no owner, and each reader counts its own holds. */
final class ReadHolds {
    private static final String COUNTER = "java.util.concurrent.locks.ReentrantReadWriteLock$Sync$HoldCounter";
    private static final String SYNC = "java.util.concurrent.locks.ReentrantReadWriteLock$";
    /** The largest number of threads, because reading the variables of more threads keeps the JVM busy. */
    private static final int MOST_THREADS = 100_000;

    private final JvmAccess jvm;
    private final List<Thread> threads;
    /** The readers by the variable in which they count. Null until somebody waits for such a lock. */
    private Map<Object, Set<Long>> readers;

    ReadHolds(JvmAccess jvm, List<Thread> threads) {
        this.jvm = jvm;
        this.threads = threads;
    }

    /** The readers of a lock. Empty for any other object. */
    Set<Long> of(Object blocker) {
        if (!blocker.getClass().getName().startsWith(SYNC)) {
            return Set.of();
        }
        if (readers == null) {
            readers = readers();
        }
        Set<Long> found = new HashSet<>(readers.getOrDefault(jvm.fieldOf(blocker, "readHolds"), Set.of()));
        // The first reader has no counter, and the lock forgets it when it is released.
        if (jvm.fieldOf(blocker, "firstReader") instanceof Thread first) {
            found.add(first.threadId());
        }
        return found;
    }

    private Map<Object, Set<Long>> readers() {
        Map<Object, Set<Long>> found = new IdentityHashMap<>();
        for (Thread thread : threads.subList(0, Math.min(threads.size(), MOST_THREADS))) {
            Object variables = jvm.fieldOf(thread, "threadLocals");
            if (variables != null && jvm.fieldOf(variables, "table") instanceof Object[] entries) {
                for (Object entry : entries) {
                    Object value = entry == null ? null : jvm.fieldOf(entry, "value");
                    if (value != null && value.getClass().getName().equals(COUNTER)
                            && jvm.fieldOf(value, "count") instanceof Integer count && count > 0) {
                        found.computeIfAbsent(((Reference<?>) entry).get(), any -> new HashSet<>()).add(thread.threadId());
                    }
                }
            }
        }
        return found;
    }
}
