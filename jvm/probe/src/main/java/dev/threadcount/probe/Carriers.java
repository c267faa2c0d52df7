package dev.threadcount.probe;

import dev.threadcount.probe.stacks.JvmAccess;
import java.lang.management.ManagementFactory;
import java.util.concurrent.ForkJoinPool;
import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.ObjectName;

/** Reads figures of the carriers, the platform threads on which virtual threads run. */
interface Carriers {
    /**
     * One reading.
     *
     * @param parallelism the largest number of virtual threads that may run at once
     * @param threads the carrier threads that exist
     * @param mounted the carriers that have a virtual thread mounted
     * @param queued the virtual threads that wait for a carrier
     * @param source where the figures come from
     */
    record Reading(int parallelism, int threads, int mounted, long queued, String source) {}

    /** Takes a reading, or returns null if this JVM does not have the figures. */
    Reading read();

    /** The best source that this JVM has. */
    static Carriers find(JvmAccess jvm) {
        try {
            if (Runtime.version().feature() >= 24) {
                return new SchedulerBean();
            }
            return jvm == null ? () -> null : new Scheduler(jvm);
        } catch (JMException | RuntimeException notHere) {
            return () -> null;
        }
    }

    /** {@code jdk.management.VirtualThreadSchedulerMXBean} (JDK 24), by name, because the probe is compiled for 21. */
    final class SchedulerBean implements Carriers {
        private final MBeanServer server = ManagementFactory.getPlatformMBeanServer();
        private final ObjectName name = new ObjectName("jdk.management:type=VirtualThreadScheduler");

        SchedulerBean() throws JMException {
            server.getMBeanInfo(name);
        }

        @Override
        public Reading read() {
            try {
                return new Reading(number("Parallelism").intValue(), number("PoolSize").intValue(),
                        number("MountedVirtualThreadCount").intValue(),
                        number("QueuedVirtualThreadCount").longValue(), "VirtualThreadSchedulerMXBean");
            } catch (JMException gone) {
                return null;
            }
        }

        private Number number(String attribute) throws JMException {
            return (Number) server.getAttribute(name, attribute);
        }
    }

    /** Reads the scheduler's own pool, which Java 21 to 23 keep in a private field. */
    final class Scheduler implements Carriers {
        private final JvmAccess jvm;

        Scheduler(JvmAccess jvm) {
            this.jvm = jvm;
        }

        /** Returns null before the first virtual thread. */
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
