package dev.threadcount.probe;

import com.sun.management.ThreadMXBean;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;

/** Keeps the threads of the probe, to distinguish their activity from the server's. */
final class OwnThreads {
    private static final String PREFIX = "threadcount-probe";
    private static final List<Thread> STARTED = new CopyOnWriteArrayList<>();

    private OwnThreads() {}

    /** Starts a daemon thread with this name after the probe's prefix. */
    static Thread start(String name, Runnable task) {
        Thread thread = Thread.ofPlatform().daemon().name(PREFIX + name).unstarted(task);
        STARTED.removeIf(earlier -> !earlier.isAlive());
        STARTED.add(thread);
        thread.start();
        return thread;
    }

    /** A virtual thread that has not been started. */
    static Thread unstartedCanary(Runnable task) {
        return Thread.ofVirtual().name(PREFIX + "-canary").unstarted(task);
    }

    /** Waits a few seconds at most until all threads of the probe, except the calling one, have ended. */
    static void awaitOthers() {
        long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(3);
        boolean interrupted = Thread.interrupted();
        for (Thread thread : STARTED) {
            try {
                if (thread != Thread.currentThread()) {
                    thread.join(Math.max(1, TimeUnit.NANOSECONDS.toMillis(until - System.nanoTime())));
                }
            } catch (InterruptedException again) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    static boolean isOwn(String name) {
        return name != null && name.startsWith(PREFIX);
    }

    /** The bytes that these threads have allocated since they began. */
    static long allocatedBytes(ThreadMXBean threads) {
        // The JVM returns -1 for a thread that has ended.
        return STARTED.stream()
                .mapToLong(thread -> Math.max(0, threads.getThreadAllocatedBytes(thread.threadId())))
                .sum();
    }
}
