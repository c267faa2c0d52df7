package dev.threadcount.probe;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * What the kernel says of platform threads. To the JVM a thread in native code runs, be it that it computes or waits. Java does
 * not have the kernel's number of a thread; but the CPU time of a thread that does not run stands still, to the nanosecond,
 * and both sides have it ({@code schedstat}). Used by one thread.
 */
final class KernelThreads {
    private static final long LEARNED_NS = TimeUnit.SECONDS.toNanos(2);
    /** More of them cost too much to look through. */
    private static final int MOST_TASKS = 2_000;

    /**
     * A thread that does not run.
     *
     * @param waits not merely for a core
     * @param descriptor of the file or socket that its system call is about; -1 where it is not known
     */
    record Task(boolean waits, int descriptor) {}

    private final Path process;
    private final SystemCall calls = SystemCall.ofThisMachine();
    private final ThreadMXBean beans = ManagementFactory.getThreadMXBean();
    private final Map<Long, String> tasks = new HashMap<>();
    private long learnedNs = System.nanoTime() - LEARNED_NS;

    /** @param process {@code /proc/self} */
    KernelThreads(Path process) {
        this.process = process;
    }

    /** Null where the thread runs, or cannot be found: then the JVM's word holds. */
    Task of(Thread thread) {
        long cpuNs = beans.getThreadCpuTime(thread.threadId());
        if (cpuNs < 0) {
            return null;
        }
        Task known = read(tasks.get(thread.threadId()), cpuNs);
        if (known != null || tasks.containsKey(thread.threadId()) || System.nanoTime() - learnedNs < LEARNED_NS) {
            return known;
        }
        learn();
        return read(tasks.get(thread.threadId()), cpuNs);
    }

    /** Threads that rest are found at once; those that run, another time. */
    private void learn() {
        Map<Long, String> byCpuTime = new HashMap<>();
        Set<Long> twice = new HashSet<>();
        try (DirectoryStream<Path> all = Files.newDirectoryStream(process.resolve("task"))) {
            int count = 0;
            for (Path task : all) {
                String name = task.getFileName().toString();
                long cpuNs = cpuTime(name);
                if (++count > MOST_TASKS) {
                    break;
                }
                if (byCpuTime.put(cpuNs, name) != null) {
                    twice.add(cpuNs);
                }
            }
        } catch (IOException | RuntimeException notHere) {
            byCpuTime.clear();
        }
        byCpuTime.keySet().removeAll(twice);
        Map<Long, String> found = new HashMap<>();
        for (long id : beans.getAllThreadIds()) {
            String task = byCpuTime.get(beans.getThreadCpuTime(id));
            String before = tasks.get(id);
            if (task != null || before != null) {
                found.put(id, task == null ? before : task);
            }
        }
        tasks.clear();
        tasks.putAll(found);
        learnedNs = System.nanoTime();
    }

    private long cpuTime(String task) {
        String text = text(task, "schedstat");
        int end = text == null ? -1 : text.indexOf(' ');
        return end <= 0 ? -1 : Long.parseLong(text.substring(0, end));
    }

    private Task read(String task, long cpuNs) {
        if (task == null || cpuTime(task) != cpuNs) {
            return null;
        }
        String stat = text(task, "stat");
        // The state follows the name, which stands in brackets and may hold any character (proc(5)).
        int name = stat == null ? -1 : stat.lastIndexOf(')');
        if (name < 0) {
            return null;
        }
        char state = stat.charAt(name + 2);
        boolean waits = state == 'S' || state == 'D';
        int descriptor = waits ? descriptor(text(task, "syscall")) : -1;
        // Whoever has run meanwhile was seen in two different calls.
        return cpuTime(task) == cpuNs ? new Task(waits, descriptor) : null;
    }

    private int descriptor(String call) {
        try (RandomAccessFile memory = new RandomAccessFile(process.resolve("mem").toFile(), "r")) {
            return calls.descriptor(call, address -> {
                memory.seek(address);
                return Integer.reverseBytes(memory.readInt());
            });
        } catch (IOException | RuntimeException notAllowed) {
            return -1;
        }
    }

    private String text(String task, String file) {
        try {
            return Files.readString(process.resolve("task").resolve(task).resolve(file));
        } catch (IOException | RuntimeException ended) {
            return null;
        }
    }
}
