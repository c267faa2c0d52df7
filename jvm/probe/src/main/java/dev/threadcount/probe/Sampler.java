package dev.threadcount.probe;

import com.sun.management.OperatingSystemMXBean;
import com.sun.management.ThreadMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryUsage;
import java.nio.file.Files;
import java.nio.file.Path;

/** Takes the readings at regular times: heap, allocation, CPU, threads, carriers, pools. */
final class Sampler {
    private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private final OperatingSystemMXBean system =
            (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    private final Carriers carriers;
    private final CarrierTasks carrierTasks = new CarrierTasks();
    private final Pools pools;
    private final Canary canary;

    Sampler(Carriers carriers, Pools pools, Canary canary) {
        this.carriers = carriers;
        this.pools = pools;
        this.canary = canary;
    }

    void writeTo(Output output) {
        long timeNs = System.nanoTime();
        OwnStatus status = OwnStatus.read();
        MemoryUsage heap = ManagementFactory.getMemoryMXBean().getHeapMemoryUsage();
        output.write(JsonLine.of("sample", timeNs)
                .put("heap_used_bytes", heap.getUsed())
                .put("heap_committed_bytes", heap.getCommitted())
                .put("allocated_bytes", threads.getTotalThreadAllocatedBytes() - OwnThreads.allocatedBytes(threads))
                .put("process_cpu_ns", system.getProcessCpuTime())
                .put("rss_bytes", status.residentBytes())
                .put("os_threads", status.threads())
                .put("platform_threads", threads.getThreadCount())
                .put("platform_threads_started", threads.getTotalStartedThreadCount()));
        Carriers.Reading reading = carriers.read();
        if (reading != null) {
            output.write(JsonLine.of("carriers", timeNs)
                    .put("parallelism", reading.parallelism())
                    .put("threads", reading.threads())
                    .put("mounted", reading.mounted())
                    .put("queued", reading.queued())
                    .put("running", reading.mounted() > 0 ? carrierTasks.running(reading.threads()) : 0)
                    .put("source", reading.source()));
            if (reading.threads() > 0) {
                canary.startVirtual();
                carrierTasks.writeRunTimes(output, timeNs, reading.threads());
            }
        }
        canary.writeTo(output, timeNs);
        pools.writeTo(output, timeNs);
    }

    /**
     * The kernel's figures of this process; -1 without /proc.
     *
     * @param residentBytes memory in RAM
     * @param threads threads of any kind, including the JVM's own
     */
    private record OwnStatus(long residentBytes, long threads) {
        static OwnStatus read() {
            try {
                String status = Files.readString(Path.of("/proc/self/status"));
                return new OwnStatus(number(status, "\nVmRSS:") * 1024, number(status, "\nThreads:"));
            } catch (IOException noProc) {
                return new OwnStatus(-1, -1);
            }
        }

        private static long number(String status, String name) {
            int at = status.indexOf(name);
            if (at < 0) {
                return -1;
            }
            at += name.length();
            while (Character.isWhitespace(status.charAt(at))) {
                at++;
            }
            long number = 0;
            for (; Character.isDigit(status.charAt(at)); at++) {
                number = number * 10 + Character.digit(status.charAt(at), 10);
            }
            return number;
        }
    }
}
