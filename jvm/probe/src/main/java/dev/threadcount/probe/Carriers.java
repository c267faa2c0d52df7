package dev.threadcount.probe;

import dev.threadcount.probe.stacks.JvmAccess;
import java.lang.management.ManagementFactory;
import java.lang.management.PlatformManagedObject;
import java.lang.reflect.Method;
import java.util.concurrent.ForkJoinPool;

/** The platform threads that carry virtual threads. */
interface Carriers {
    /**
     * One reading.
     *
     * @param parallelism how many virtual threads may run at once
     * @param threads carrier threads that exist
     * @param mounted carriers that have a virtual thread mounted
     * @param queued virtual threads that wait for a carrier
     * @param source where the figures come from
     */
    record Reading(int parallelism, int threads, int mounted, long queued, String source) {}

    /** Reads now; null if this JVM does not have the figures. */
    Reading read();

    /** The best source that this JVM has. */
    static Carriers find(JvmAccess jvm) {
        try {
            if (Runtime.version().feature() >= 24) {
                return new SchedulerBean();
            }
            return jvm == null ? () -> null : new Scheduler(jvm);
        } catch (ReflectiveOperationException | RuntimeException notHere) {
            return () -> null;
        }
    }

    /** {@code jdk.management.VirtualThreadSchedulerMXBean} (JDK 24), by name, because the probe is compiled for 21. */
    final class SchedulerBean implements Carriers {
        private final Object bean;
        private final Method parallelism;
        private final Method threads;
        private final Method mounted;
        private final Method queued;

        SchedulerBean() throws ReflectiveOperationException {
            Class<?> type = Class.forName("jdk.management.VirtualThreadSchedulerMXBean");
            bean = ManagementFactory.getPlatformMXBean(type.asSubclass(PlatformManagedObject.class));
            parallelism = type.getMethod("getParallelism");
            threads = type.getMethod("getPoolSize");
            mounted = type.getMethod("getMountedVirtualThreadCount");
            queued = type.getMethod("getQueuedVirtualThreadCount");
        }

        @Override
        public Reading read() {
            try {
                return new Reading((int) parallelism.invoke(bean), (int) threads.invoke(bean), (int) mounted.invoke(bean),
                        (long) queued.invoke(bean), "VirtualThreadSchedulerMXBean");
            } catch (ReflectiveOperationException another) {
                return null;
            }
        }
    }

    /** The scheduler's own pool, which Java 21 to 23 keep in a private field. */
    final class Scheduler implements Carriers {
        private final JvmAccess jvm;

        Scheduler(JvmAccess jvm) {
            this.jvm = jvm;
        }

        /** Null before the first virtual thread. */
        @Override
        public Reading read() {
            ForkJoinPool pool = jvm.scheduler();
            if (pool == null) {
                return null;
            }
            return new Reading(pool.getParallelism(), pool.getPoolSize(), pool.getActiveThreadCount(),
                    pool.getQueuedTaskCount() + pool.getQueuedSubmissionCount(), "ForkJoinPool");
        }
    }
}
