package dev.threadcount.probe;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;

/** How much of the machine the process uses from one question to the next: where cores are idle, observing it costs nobody. */
final class ProcessLoad {
    /** From this share of the cores on a process is busy. */
    private static final double BUSY = 0.25;

    private final OperatingSystemMXBean system =
            (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    private long cpuThenNs = system.getProcessCpuTime();
    private long thenNs = System.nanoTime();

    /** Whether it was busy since the question before. */
    boolean isBusy() {
        long cpuNs = system.getProcessCpuTime();
        long nowNs = System.nanoTime();
        double cores = (double) (cpuNs - cpuThenNs) / Math.max(1, nowNs - thenNs);
        cpuThenNs = cpuNs;
        thenNs = nowNs;
        return cores >= BUSY * Runtime.getRuntime().availableProcessors();
    }
}
