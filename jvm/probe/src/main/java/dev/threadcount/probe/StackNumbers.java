package dev.threadcount.probe;

import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import jdk.jfr.consumer.RecordedFrame;
import jdk.jfr.consumer.RecordedStackTrace;

/** Stacks of samples by number: a stack is written once, and then only its number. Used by the event stream's thread only. */
final class StackNumbers {
    /** Those from the top; what a thread pool has below them is the same everywhere. */
    private static final int FRAMES = 96;
    /** Those after them are counted together. */
    private static final int STACKS = 5_000;
    private static final String OTHERS = "(other stacks)";
    /** Of stacks that are written at once: in its first second a large server has many, and lines without room are dropped. */
    private static final int CHARACTERS = 256 << 10;

    private final Map<String, Integer> numbers = new HashMap<>();
    private final Queue<String> unwritten = new ArrayDeque<>();
    /** Since the last time they were written: the flight recorder has one object for all samples with the same stack. */
    private final Map<RecordedStackTrace, String> joined = new IdentityHashMap<>();

    /**
     * The number of a stack; -1 where it has no frame of Java.
     *
     * @param top what stands above its frames; null for nothing
     */
    int of(RecordedStackTrace stack, String top) {
        String frames = stack == null ? "" : joined.computeIfAbsent(stack, any -> joined(stack.getFrames()));
        if (frames.isEmpty()) {
            return -1;
        }
        String whole = top == null ? frames : frames + ';' + top;
        return number(numbers.size() < STACKS || numbers.containsKey(whole) ? whole : OTHERS);
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

    /**
     * Writes stacks that are new; where they are many, the rest another time.
     *
     * @param type of the lines
     * @param source how the samples are taken; null where there is one way
     */
    void writeTo(Output output, String type, String source) {
        int written = 0;
        while (!unwritten.isEmpty() && written < CHARACTERS) {
            JsonLine line = JsonLine.of(type, System.nanoTime());
            if (source != null) {
                line.put("source", source);
            }
            int number = numbers.size() - unwritten.size();
            String frames = unwritten.remove();
            written += frames.length();
            output.write(line.put("stack", number).put("frames", frames));
        }
        joined.clear();
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
