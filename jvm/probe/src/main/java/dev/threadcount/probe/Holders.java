package dev.threadcount.probe;

import dev.threadcount.probe.stacks.Activity;
import dev.threadcount.probe.stacks.Classifier;
import dev.threadcount.probe.stacks.JvmAccess;
import dev.threadcount.probe.stacks.State;
import dev.threadcount.probe.stacks.ThreadStack;
import java.lang.management.LockInfo;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.lang.management.ThreadMXBean;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;

/** Finds where in the code the holder of a lock or monitor is, for the threads of one sample that wait for it. */
final class Holders {
    /** The number of holders that are looked up, because each one costs a stack. */
    private static final int MOST = 8;

    private final JvmAccess jvm;
    private final Map<Long, Thread> platformThreads;
    private final ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    private final Map<Object, String> byLock = new IdentityHashMap<>();
    /** The places of platform threads by the name that the JVM gives to the monitor that they hold. */
    private final Map<String, String> byMonitorName = new HashMap<>();
    private int looks;

    /**
     * Reads the holders in one sample.
     *
     * @param sampled the stacks of the sample, which show the monitors that their threads hold
     * @param platformThreads all platform threads by number
     */
    Holders(JvmAccess jvm, List<ThreadStack> sampled, Map<Long, Thread> platformThreads) {
        this.jvm = jvm;
        this.platformThreads = platformThreads;
        for (ThreadStack stack : sampled) {
            for (Object monitor : stack.monitors()) {
                // For a thread in Object.wait(), the JVM also lists the monitor that the thread released in order to wait.
                if (monitor != stack.blocker()) {
                    byLock.put(monitor, place(stack));
                }
            }
        }
    }

    /** The activity with the class of the monitor, if only the JVM's beans know it, as before Java 25. */
    Activity named(Thread thread, Activity activity) {
        if (activity.state() != State.MONITOR || activity.resource() != null || thread.isVirtual()) {
            return activity;
        }
        ThreadInfo info = threads.getThreadInfo(thread.threadId());
        // The thread may have got the monitor by now, and wait for something else.
        LockInfo monitor = info == null || info.getThreadState() != Thread.State.BLOCKED ? null : info.getLockInfo();
        return monitor == null ? activity : new Activity(activity.state(), monitor.getClassName(),
                activity.application(), activity.library(), activity.role());
    }

    /** The place of the holder, or null if nobody holds the lock or the JVM does not say. */
    String of(Thread thread, ThreadStack stack, Activity activity) {
        Object lock = stack.blocker();
        String known = lock == null ? null : byLock.get(lock);
        return switch (activity.state()) {
            case LOCK -> lock == null || byLock.containsKey(lock) ? known : ofLock(lock);
            case MONITOR -> known != null || thread.isVirtual() ? known : ofMonitor(thread);
            default -> null;
        };
    }

    private String ofLock(Object lock) {
        if (++looks > MOST) {
            return null;
        }
        Thread owner = jvm.ownerOf(lock);
        String place = place(owner);
        // If the owner has released the lock meanwhile, its place says nothing about the lock.
        String held = owner == jvm.ownerOf(lock) ? place : null;
        byLock.put(lock, held);
        return held;
    }

    /** The place of a monitor's owner. The JVM names the owner only if a platform thread waits. */
    private String ofMonitor(Thread waiting) {
        ThreadInfo info = threads.getThreadInfo(waiting.threadId());
        if (info == null || info.getThreadState() != Thread.State.BLOCKED || info.getLockOwnerId() < 0) {
            return null;
        }
        if (!byMonitorName.containsKey(info.getLockName()) && ++looks <= MOST) {
            byMonitorName.put(info.getLockName(), place(platformThreads.get(info.getLockOwnerId())));
        }
        return byMonitorName.get(info.getLockName());
    }

    private String place(Thread owner) {
        return owner == null ? null : place(jvm.stackOf(owner));
    }

    private static String place(ThreadStack stack) {
        return stack.frames().length == 0 ? null : Classifier.classify(stack).application();
    }
}
