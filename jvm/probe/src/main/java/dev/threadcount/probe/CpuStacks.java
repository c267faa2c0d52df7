package dev.threadcount.probe;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedFrame;
import jdk.jfr.consumer.RecordedThread;

/**
 * Which code runs, from the JVM's samples, added up by stack and second. A stack is written once, and then only its number. What
 * the probe itself does is left out. Used by the event stream's thread only.
 */
final class CpuStacks {
    private static final long SECOND_NS = 1_000_000_000L;
    /** Those from the top; what a thread pool has below them is the same everywhere. */
    private static final int FRAMES = 96;
    /** Those after them are counted together. */
    private static final int STACKS = 5_000;
    private static final String OTHERS = "(other stacks)";

    private record Key(int stack, long second) {}

    private final String source;
    private final Map<String, Integer> numbers = new HashMap<>();
    private final List<String> unwritten = new ArrayList<>();
    private final Map<Key, Long> counts = new LinkedHashMap<>();

    /** Of samples that the JVM takes in this way: {@code cpu-time} or {@code execution}. */
    CpuStacks(String source) {
        this.source = source;
    }

    void add(RecordedEvent sample, RecordedThread thread, long timeNs) {
        boolean isOwn = thread != null && OwnThreads.isOwn(thread.getJavaName());
        if (isOwn || sample.getStackTrace() == null) {
            return;
        }
        String stack = joined(sample.getStackTrace().getFrames());
        if (stack.isEmpty()) {
            return;
        }
        counts.merge(new Key(number(numbers.size() < STACKS || numbers.containsKey(stack) ? stack : OTHERS),
                timeNs / SECOND_NS), 1L, Long::sum);
    }

    private int number(String stack) {
        Integer known = numbers.get(stack);
        if (known != null) {
            return known;
        }
        numbers.put(stack, numbers.size());
        unwritten.add(stack);
        return numbers.size() - 1;
    }

    void writeTo(Output output) {
        for (int index = 0; index < unwritten.size(); index++) {
            output.write(JsonLine.of("cpu_stack", System.nanoTime())
                    .put("source", source)
                    .put("stack", numbers.size() - unwritten.size() + index)
                    .put("frames", unwritten.get(index)));
        }
        unwritten.clear();
        counts.forEach((key, count) -> output.write(JsonLine.of("cpu_samples", key.second() * SECOND_NS)
                .put("source", source)
                .put("stack", key.stack())
                .put("count", count)));
        counts.clear();
    }

    /** From the bottom to the top, without lines: where in a method a sample falls is chance. */
    private static String joined(List<RecordedFrame> frames) {
        StringBuilder text = new StringBuilder(1_024);
        for (int index = Math.min(frames.size(), FRAMES) - 1; index >= 0; index--) {
            RecordedFrame frame = frames.get(index);
            if (frame.isJavaFrame()) {
                text.append(text.isEmpty() ? "" : ";")
                        .append(withoutNumber(frame.getMethod().getType().getName()))
                        .append('.').append(frame.getMethod().getName());
            }
        }
        return text.toString();
    }

    /** A class that the JVM made has another name in each JVM. */
    static String withoutNumber(String type) {
        int lambda = type.indexOf("$$Lambda");
        if (lambda >= 0) {
            return type.substring(0, lambda) + "$$Lambda";
        }
        int hidden = type.indexOf("/0x");
        return hidden >= 0 ? type.substring(0, hidden) : type;
    }
}
