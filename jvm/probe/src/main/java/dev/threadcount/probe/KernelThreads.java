package dev.threadcount.probe;

import java.io.FileInputStream;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.charset.StandardCharsets;
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

    private static final String RUNNING = "running";

    private final Path process;
    private final String tasksFolder;
    private final byte[] buffer = new byte[512];
    private final SystemCall calls = SystemCall.ofThisMachine();
    private final ThreadMXBean beans = ManagementFactory.getThreadMXBean();
    private final Map<Long, String> tasks = new HashMap<>();
    private long learnedNs = System.nanoTime() - LEARNED_NS;

    /** @param process {@code /proc/self} */
    KernelThreads(Path process) {
        this.process = process;
        tasksFolder = process + "/task/";
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
        String call = task == null ? null : text(task, "syscall");
        // Whoever has run since is somebody else, or was seen in two different calls.
        if (call == null || cpuTime(task) != cpuNs) {
            return null;
        }
        // The kernel says "running" also of a thread that waits for a core.
        boolean waits = !call.startsWith(RUNNING);
        return new Task(waits, waits ? descriptor(call) : -1);
    }

    private int descriptor(String call) {
        try {
            return calls.descriptor(call, this::memory);
        } catch (IOException | RuntimeException notAllowed) {
            return -1;
        }
    }

    /** Both machines whose calls are known have the lowest byte first. */
    private int memory(long address) throws IOException {
        try (RandomAccessFile memory = new RandomAccessFile(process.resolve("mem").toFile(), "r")) {
            memory.seek(address);
            return Integer.reverseBytes(memory.readInt());
        }
    }

    /** The files are short; and what is read so often has to be cheap before it is compiled. */
    private String text(String task, String file) {
        try (FileInputStream stream = new FileInputStream(tasksFolder + task + '/' + file)) {
            int length = stream.read(buffer);
            return length <= 0 ? null : new String(buffer, 0, length, StandardCharsets.ISO_8859_1);
        } catch (IOException ended) {
            return null;
        }
    }
}
