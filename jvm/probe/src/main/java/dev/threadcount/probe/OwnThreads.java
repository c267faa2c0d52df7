package dev.threadcount.probe;

import com.sun.management.ThreadMXBean;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;

/** The threads of the probe, so that what they do can be told from what the server does. */
final class OwnThreads {
    private static final String PREFIX = "threadcount-probe";
    private static final List<Thread> STARTED = new CopyOnWriteArrayList<>();

    private OwnThreads() {}

    /** Starts a daemon thread of this name, after the probe's. */
    static Thread start(String name, Runnable task) {
        Thread thread = Thread.ofPlatform().daemon().name(PREFIX + name).unstarted(task);
        STARTED.removeIf(earlier -> !earlier.isAlive());
        STARTED.add(thread);
        thread.start();
        return thread;
    }

    /** A virtual thread, which is to be started once. */
    static Thread unstartedCanary(Runnable task) {
        return Thread.ofVirtual().name(PREFIX + "-canary").unstarted(task);
    }

    /** Waits until all but the calling one have ended, for a few seconds at most. */
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

    /** What they have allocated since they began. */
    static long allocatedBytes(ThreadMXBean threads) {
        // Of a thread that has ended the JVM says -1.
        return STARTED.stream()
                .mapToLong(thread -> Math.max(0, threads.getThreadAllocatedBytes(thread.threadId())))
                .sum();
    }
}
