package dev.threadcount.probe;

import java.util.LinkedHashMap;
import java.util.Map;
import jdk.jfr.consumer.RecordedStackTrace;

/** Adds up allocations by stack and second. Used by the event stream's thread only. */
final class AllocationStacks {
    private static final long SECOND_NS = 1_000_000_000L;

    private record Key(int stack, long second) {}

    private static final class Sum {
        long count;
        long bytes;
        /** The sum of squares, which says how much chance moves the bytes: with few samples that stand for many bytes, much. */
        double bytesSquared;
    }

    private final StackNumbers numbers = new StackNumbers();
    private final Map<Key, Sum> sums = new LinkedHashMap<>();

    /**
     * Adds a sample.
     *
     * @param type the class of the object, which is shown above the frames
     * @param bytes the bytes for which the sample stands
     */
    void add(RecordedStackTrace stack, String type, long bytes, long timeNs) {
        int number = numbers.of(stack, "new " + StackNumbers.withoutNumber(type));
        if (number >= 0) {
            Sum sum = sums.computeIfAbsent(new Key(number, timeNs / SECOND_NS), absent -> new Sum());
            sum.count++;
            sum.bytes += bytes;
            sum.bytesSquared += (double) bytes * bytes;
        }
    }

    void writeTo(Output output) {
        numbers.writeTo(output, "allocation_stack", null);
        sums.forEach((key, sum) -> output.write(JsonLine.of("allocation_samples", key.second() * SECOND_NS)
                .put("stack", key.stack())
                .put("count", sum.count)
                .put("bytes", sum.bytes)
                .put("bytes_squared", sum.bytesSquared)));
        sums.clear();
    }
}
