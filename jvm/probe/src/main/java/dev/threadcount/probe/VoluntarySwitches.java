package dev.threadcount.probe;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * Counts how often threads have begun to wait, from the kernel. The kernel only knows the first 15 characters of a
 * thread's name, so threads with the same name are counted together.
 */
final class VoluntarySwitches {
    private static final long APART_NS = TimeUnit.SECONDS.toNanos(1);
    /** The largest number of threads, because more cost too much to read. */
    private static final int MOST_TASKS = 500;
    private static final String SWITCHES = "\nvoluntary_ctxt_switches:";

    private final Path tasks;
    private final Map<String, Long> byName = new HashMap<>();
    private long readNs;

    /** @param process {@code /proc/self} */
    VoluntarySwitches(Path process) {
        tasks = process.resolve("task");
    }

    /** Reads the counts again, at most once per second. */
    void read() {
        long nowNs = System.nanoTime();
        if (!byName.isEmpty() && nowNs - readNs < APART_NS) {
            return;
        }
        readNs = nowNs;
        byName.clear();
        int count = 0;
        try (DirectoryStream<Path> all = Files.newDirectoryStream(tasks)) {
            for (Path task : all) {
                if (++count > MOST_TASKS) {
                    byName.clear();
                    return;
                }
                add(task);
            }
        } catch (IOException | RuntimeException notHere) {
            byName.clear();
        }
    }

    private void add(Path task) {
        try {
            String status = Files.readString(task.resolve("status"), StandardCharsets.ISO_8859_1);
            int begin = status.indexOf(SWITCHES) + SWITCHES.length();
            int end = status.indexOf('\n', begin);
            String name = Files.readString(task.resolve("comm"), StandardCharsets.ISO_8859_1).strip();
            byName.merge(withoutNumber(name), Long.parseLong(status.substring(begin, end).strip()), Long::sum);
        } catch (IOException | RuntimeException ended) {
            // The thread ended while the folder was read.
        }
    }

    /** The count for all threads with these names, or -1 if unknown. */
    long of(List<Thread> threads) {
        Set<String> names = new HashSet<>();
        threads.forEach(thread -> names.add(nameOf(thread.getName())));
        names.remove(null);
        return names.isEmpty() ? -1 : names.stream().mapToLong(byName::get).sum();
    }

    /** The name by which the kernel's count is known, or null. */
    private String nameOf(String thread) {
        // For a long name, the JVM gives the kernel the first 7 and the last 6 characters; before Java 22 the first 15.
        int length = thread.length();
        String ends = length <= 15 ? thread : thread.substring(0, 7) + ".." + thread.substring(length - 6);
        String begin = withoutNumber(thread.substring(0, Math.min(15, length)).strip());
        return byName.containsKey(withoutNumber(ends)) ? withoutNumber(ends) : byName.containsKey(begin) ? begin : null;
    }

    /** The name with a star in place of its last number. */
    static String withoutNumber(String name) {
        int end = name.length();
        while (end > 0 && !isDigit(name.charAt(end - 1))) {
            end--;
        }
        int begin = end;
        while (begin > 0 && isDigit(name.charAt(begin - 1))) {
            begin--;
        }
        return begin == end ? name : name.substring(0, begin) + "*" + name.substring(end);
    }

    private static boolean isDigit(char character) {
        return character >= '0' && character <= '9';
    }
}
