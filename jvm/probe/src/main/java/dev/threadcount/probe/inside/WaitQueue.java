package dev.threadcount.probe.inside;

import java.lang.reflect.Field;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.concurrent.locks.AbstractQueuedSynchronizer;

/** The queue of a synchronizer. A thread has a new node each time that it begins to wait. */
final class WaitQueue {
    /** The largest number of nodes that are read. */
    private static final int MOST = 20_000;

    private final Field tail;
    private final Field previous;
    private final Field waiter;

    private WaitQueue() throws ReflectiveOperationException {
        Class<?> node = Class.forName("java.util.concurrent.locks.AbstractQueuedSynchronizer$Node", false, null);
        tail = AbstractQueuedSynchronizer.class.getDeclaredField("tail");
        previous = node.getDeclaredField("prev");
        waiter = node.getDeclaredField("waiter");
        tail.setAccessible(true);
        previous.setAccessible(true);
        waiter.setAccessible(true);
    }

    /** Returns null if this JVM has different internals. */
    static WaitQueue find() {
        try {
            return new WaitQueue();
        } catch (ReflectiveOperationException | RuntimeException another) {
            return null;
        }
    }

    /** Walks from the end, as {@code getQueuedThreads} does, because the links in that direction are always complete. */
    Map<Thread, Object> of(Object synchronizer) {
        if (!(synchronizer instanceof AbstractQueuedSynchronizer)) {
            return Map.of();
        }
        Map<Thread, Object> found = new IdentityHashMap<>();
        try {
            Object node = tail.get(synchronizer);
            for (int left = MOST; node != null && left > 0; left--) {
                Thread thread = (Thread) waiter.get(node);
                if (thread != null) {
                    found.put(thread, node);
                }
                node = previous.get(node);
            }
        } catch (IllegalAccessException another) {
            return Map.of();
        }
        return found;
    }
}
