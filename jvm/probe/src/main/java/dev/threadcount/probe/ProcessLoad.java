package dev.threadcount.probe;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;

/**
 * Measures how much of the machine the process uses between two questions. If cores are idle, observing the process costs nobody anything.
 */
final class ProcessLoad {
    /** The share of the cores from which on a process is busy. */
    private static final double BUSY = 0.25;

    private final OperatingSystemMXBean system =
            (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    private long cpuThenNs = system.getProcessCpuTime();
    private long thenNs = System.nanoTime();

    /** Whether the process was busy since the previous question. */
    boolean isBusy() {
        long cpuNs = system.getProcessCpuTime();
        long nowNs = System.nanoTime();
        double cores = (double) (cpuNs - cpuThenNs) / Math.max(1, nowNs - thenNs);
        cpuThenNs = cpuNs;
        thenNs = nowNs;
        return cores >= BUSY * Runtime.getRuntime().availableProcessors();
    }
}
