package dev.threadcount.probe;

import java.util.LinkedHashMap;
import java.util.Map;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedThread;

/**
 * Adds up by stack and second which code runs, from the JVM's samples. The probe itself is left out. Used by the event
 * stream's thread only.
 */
final class CpuStacks {
    private static final long SECOND_NS = 1_000_000_000L;

    private record Key(int stack, long second) {}

    private final String source;
    private final StackNumbers numbers = new StackNumbers();
    private final Map<Key, Long> counts = new LinkedHashMap<>();

    /** @param source how the JVM takes the samples: {@code cpu-time} or {@code execution} */
    CpuStacks(String source) {
        this.source = source;
    }

    void add(RecordedEvent sample, RecordedThread thread, long timeNs) {
        boolean isOwn = thread != null && OwnThreads.isOwn(thread.getJavaName());
        int stack = isOwn ? -1 : numbers.of(sample.getStackTrace(), null);
        if (stack >= 0) {
            counts.merge(new Key(stack, timeNs / SECOND_NS), 1L, Long::sum);
        }
    }

    void writeTo(Output output) {
        numbers.writeTo(output, "cpu_stack", source);
        counts.forEach((key, count) -> output.write(JsonLine.of("cpu_samples", key.second() * SECOND_NS)
                .put("source", source)
                .put("stack", key.stack())
                .put("count", count)));
        counts.clear();
    }
}
