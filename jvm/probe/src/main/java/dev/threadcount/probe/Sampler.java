package dev.threadcount.probe;

import com.sun.management.OperatingSystemMXBean;
import com.sun.management.ThreadMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryUsage;
import java.nio.file.Files;
import java.nio.file.Path;

/** The readings that are taken at regular times: heap, allocation, CPU, threads, carriers, pools. */
final class Sampler {
    private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private final OperatingSystemMXBean system =
            (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    private final Carriers carriers;
    private final Pools pools = new Pools();

    Sampler(Carriers carriers) {
        this.carriers = carriers;
    }

    void writeTo(Output output) {
        long timeNs = System.nanoTime();
        MemoryUsage heap = ManagementFactory.getMemoryMXBean().getHeapMemoryUsage();
        output.write(JsonLine.of("sample", timeNs)
                .put("heap_used_bytes", heap.getUsed())
                .put("heap_committed_bytes", heap.getCommitted())
                .put("allocated_bytes", threads.getTotalThreadAllocatedBytes())
                .put("process_cpu_ns", system.getProcessCpuTime())
                .put("machine_cpu_share", system.getCpuLoad())
                .put("rss_bytes", residentBytes())
                .put("platform_threads", threads.getThreadCount())
                .put("platform_threads_started", threads.getTotalStartedThreadCount()));
        Carriers.Reading reading = carriers.read();
        if (reading != null) {
            output.write(JsonLine.of("carriers", timeNs)
                    .put("parallelism", reading.parallelism())
                    .put("threads", reading.threads())
                    .put("mounted", reading.mounted())
                    .put("queued", reading.queued())
                    .put("running", reading.mounted() > 0 ? Carriers.running() : 0)
                    .put("source", reading.source()));
        }
        pools.writeTo(output, timeNs);
    }

    private static long residentBytes() {
        try {
            for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
                if (line.startsWith("VmRSS:")) {
                    return Long.parseLong(line.replaceAll("\\D", "")) * 1024;
                }
            }
        } catch (IOException noProc) {
            return -1;
        }
        return -1;
    }
}
