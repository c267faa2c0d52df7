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
 * Asks the kernel what a platform thread does. For the JVM a thread in native code runs, whether it computes or waits.
 * Java does not know the kernel's number of a thread. It is found by the thread's CPU time ({@code schedstat}), which
 * both sides know to the nanosecond, and which stands still while the thread does not run. Used by one thread.
 */
final class KernelThreads {
    private static final long LEARNED_NS = TimeUnit.SECONDS.toNanos(2);
    /** The largest number of threads, because more cost too much to search. */
    private static final int MOST_TASKS = 2_000;

    /**
     * A thread that does not run.
     *
     * @param waits whether it waits for more than a core
     * @param descriptor the file or socket of its system call; -1 if it is not known
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

    /** The kernel's view of a thread, or null if the thread runs or cannot be found. Then the JVM's view counts. */
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

    /** Learns the numbers of threads. Those that rest are found at once, those that run later. */
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
        // A different CPU time means that the number belongs to another thread, or that the thread has run since.
        if (call == null || cpuTime(task) != cpuNs) {
            return null;
        }
        // For the kernel a thread that waits for a core is running too.
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

    /** Reads four bytes of memory. Both supported machines have the lowest byte first. */
    private int memory(long address) throws IOException {
        try (RandomAccessFile memory = new RandomAccessFile(process.resolve("mem").toFile(), "r")) {
            memory.seek(address);
            return Integer.reverseBytes(memory.readInt());
        }
    }

    /** Reads a short file. This happens so often that it must be cheap even before it is compiled. */
    private String text(String task, String file) {
        try (FileInputStream stream = new FileInputStream(tasksFolder + task + '/' + file)) {
            int length = stream.read(buffer);
            return length <= 0 ? null : new String(buffer, 0, length, StandardCharsets.ISO_8859_1);
        } catch (IOException ended) {
            return null;
        }
    }
}
