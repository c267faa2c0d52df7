package dev.threadcount.probe;

import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import jdk.jfr.consumer.RecordedFrame;
import jdk.jfr.consumer.RecordedStackTrace;

/** Numbers the stacks of samples: a stack is written once, and from then on only its number. Used by the event stream's thread only. */
final class StackNumbers {
    /** The number of frames from the top. Those of a thread pool below are the same everywhere. */
    private static final int FRAMES = 96;
    /** The number of different stacks. All further ones are counted together. */
    private static final int STACKS = 5_000;
    private static final String OTHERS = "(other stacks)";
    /** The size of stacks that are written at once. In its first second a large server has many, and lines without room are dropped. */
    private static final int CHARACTERS = 256 << 10;

    private final Map<String, Integer> numbers = new HashMap<>();
    private final Queue<String> unwritten = new ArrayDeque<>();
    /** The stacks as text since the last writing. The flight recorder has one object for all samples with the same stack. */
    private final Map<RecordedStackTrace, String> joined = new IdentityHashMap<>();

    /**
     * The number of a stack, or -1 if it has no frame of Java.
     *
     * @param top a text above its frames; null for none
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
     * Writes the new stacks. If there are many, the rest follows later.
     *
     * @param type the type of the lines
     * @param source how the samples are taken; null if there is only one way
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

    /** Joins the frames from bottom to top, without line numbers, because the line of a sample is chance. */
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

    /** A class that the JVM generated has another name in each JVM. */
    static String withoutNumber(String type) {
        int lambda = type.indexOf("$$Lambda");
        if (lambda >= 0) {
            return type.substring(0, lambda) + "$$Lambda";
        }
        int hidden = type.indexOf("/0x");
        return hidden >= 0 ? type.substring(0, hidden) : type;
    }
}
