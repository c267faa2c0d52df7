package dev.threadcount.probe.crossover;

import dev.threadcount.probe.JsonLine;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.LongAdder;

/** Collects the names of the threads on which tasks began, without their numbers. It looks at the first task and then at one in 64. */
final class ThreadNames {
    private static final int ONE_IN = 64;
    private static final int MOST_NAMES = 16;

    private final Map<String, LongAdder> counts = new ConcurrentHashMap<>();

    void sample(Thread thread) {
        if (counts.isEmpty() || ThreadLocalRandom.current().nextInt(ONE_IN) == 0) {
            String name = withoutNumber(thread.getName());
            if (counts.size() < MOST_NAMES || counts.containsKey(name)) {
                counts.computeIfAbsent(name, key -> new LongAdder()).increment();
            }
        }
    }

    private static String withoutNumber(String name) {
        int end = name.length();
        while (end > 0 && Character.isDigit(name.charAt(end - 1))) {
            end--;
        }
        return name.substring(0, end);
    }

    /** The number of samples for each name. */
    JsonLine describe() {
        JsonLine line = JsonLine.nested();
        new TreeMap<>(counts).forEach((name, count) -> line.put(name, count.sum()));
        return line;
    }
}
