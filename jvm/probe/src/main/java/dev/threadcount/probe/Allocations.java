package dev.threadcount.probe;

import java.lang.management.ManagementFactory;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedFrame;
import jdk.jfr.consumer.RecordedStackTrace;
import jdk.jfr.consumer.RecordedThread;

/**
 * Adds up by second what was allocated where, from the JVM's samples. Allocations of the probe are left out. Used by
 * the event stream's thread only.
 */
final class Allocations {
    private static final long SECOND_NS = 1_000_000_000L;
    /** By this time, busy carriers have had their first sample. */
    private static final long CARRIERS_ARE_SAMPLED_NS = SECOND_NS / 2;
    private static final List<String> JDK = List.of("java.", "javax.", "jdk.", "sun.", "com.sun.");
    private static final Map<Character, String> PRIMITIVES = Map.of('B', "byte", 'C', "char", 'D', "double", 'F', "float",
            'I', "int", 'J', "long", 'S', "short", 'Z', "boolean");

    private record Key(String type, String maker, String application, String cache, long second) {}

    private static final class Sum {
        long count;
        long bytes;
    }

    private final Map<Key, Sum> sums = new LinkedHashMap<>();
    private final AllocationStacks stacks = new AllocationStacks();
    private final Set<Long> neverSampled = new HashSet<>();
    private final long beganNs = System.nanoTime();

    Allocations() {
        for (long id : ManagementFactory.getThreadMXBean().getAllThreadIds()) {
            neverSampled.add(id);
        }
    }

    /** Adds a sample, which stands for everything that its thread has allocated since the previous one. */
    void add(RecordedEvent sample, long timeNs) {
        var thread = sample.getThread("eventThread");
        if (thread == null || OwnThreads.isOwn(thread.getJavaName()) || hasHistory(thread, timeNs)) {
            return;
        }
        var type = sample.getClass("objectClass");
        RecordedStackTrace stack = sample.getStackTrace();
        String name = type == null ? "unknown" : readable(type.getName());
        String cache = thread.isVirtual() ? ThreadCaches.of(stack) : null;
        Key key = new Key(name, maker(stack), Site.application(stack), cache, timeNs / SECOND_NS);
        long bytes = sample.getLong("weight");
        Sum sum = sums.computeIfAbsent(key, absent -> new Sum());
        sum.count++;
        sum.bytes += bytes;
        stacks.add(stack, name, bytes, timeNs);
    }

    /**
     * Whether the sample also stands for allocations before the probe came. That is true for the first sample of an
     * older thread. For a virtual thread it may be the first sample of the carrier, which the sample does not name.
     */
    private boolean hasHistory(RecordedThread thread, long timeNs) {
        return thread.isVirtual() ? timeNs < beganNs + CARRIERS_ARE_SAMPLED_NS : neverSampled.remove(thread.getJavaThreadId());
    }

    void writeTo(Output output) {
        sums.forEach((key, sum) -> output.write(JsonLine.of("allocated", key.second() * SECOND_NS)
                .put("count", sum.count)
                .put("bytes", sum.bytes)
                .put("class", key.type())
                .put("maker", key.maker())
                .put("application", key.application())
                .put("thread_cache", key.cache())));
        sums.clear();
        stacks.writeTo(output);
    }

    /**
     * The code that made the object: the first frame that belongs neither to the JDK nor to a constructor. So the parts
     * of an object count for the code that made the whole object.
     */
    private static String maker(RecordedStackTrace stack) {
        if (stack == null) {
            return null;
        }
        String constructor = null;
        for (RecordedFrame frame : stack.getFrames()) {
            if (!frame.isJavaFrame() || JDK.stream().anyMatch(frame.getMethod().getType().getName()::startsWith)) {
                continue;
            }
            if (!frame.getMethod().getName().startsWith("<")) {
                return Site.name(frame);
            }
            constructor = constructor == null ? Site.name(frame) : constructor;
        }
        return constructor;
    }

    /** Turns {@code [B} into {@code byte[]}. */
    static String readable(String type) {
        int dimensions = type.lastIndexOf('[') + 1;
        if (dimensions == 0) {
            return type;
        }
        String element = type.substring(dimensions);
        String name = element.startsWith("L") && element.endsWith(";")
                ? element.substring(1, element.length() - 1)
                : PRIMITIVES.getOrDefault(element.charAt(0), element);
        return name + "[]".repeat(dimensions);
    }
}
