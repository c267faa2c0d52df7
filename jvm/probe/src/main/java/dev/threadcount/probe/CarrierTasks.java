package dev.threadcount.probe;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * The kernel's view of the carriers. A carrier that has a virtual thread mounted but does not run waits inside that
 * thread, which could not leave it. Used by the sampler's thread only.
 */
final class CarrierTasks {
    /** The number of characters of a thread's name that the kernel keeps. */
    private static final int NAME_LENGTH = 15;

    private static final String LEFT_OUT = "..";

    private List<Path> tasks = List.of();

    /**
     * The number of carriers that are on a core or in its run queue, or -1 if that cannot be read.
     *
     * @param carriers the number of carriers
     */
    int running(int carriers) {
        findAgainIfChanged(carriers);
        if (tasks.isEmpty()) {
            return -1;
        }
        int running = 0;
        for (Path task : tasks) {
            try {
                running += isRunning(Files.readString(task.resolve("stat"))) ? 1 : 0;
            } catch (IOException ended) {
                tasks = List.of();
                return -1;
            }
        }
        return running;
    }

    /**
     * Writes for each carrier how long it has run since it began, and how long it was runnable but waited for a core.
     *
     * @param carriers the number of carriers
     */
    void writeRunTimes(Output output, long timeNs, int carriers) {
        findAgainIfChanged(carriers);
        for (Path task : tasks) {
            try {
                String[] times = Files.readString(task.resolve("schedstat")).split(" ");
                output.write(JsonLine.of("carrier_run_time", timeNs)
                        .put("thread", Long.parseLong(task.getFileName().toString()))
                        .put("ran_ns", Long.parseLong(times[0]))
                        .put("waited_ns", Long.parseLong(times[1])));
            } catch (IOException endedOrNotCounted) {
                tasks = List.of();
                return;
            }
        }
    }

    /** Searches the carriers again only if their number has changed, because listing all threads reads one file for each. */
    private void findAgainIfChanged(int carriers) {
        if (tasks.size() != carriers) {
            tasks = find();
        }
    }

    /**
     * Whether a line of {@code stat} shows a running thread. The state comes after the name, which is in brackets and
     * may contain any character (proc(5)).
     */
    private static boolean isRunning(String stat) {
        return stat.charAt(stat.lastIndexOf(')') + 2) == 'R';
    }

    private static List<Path> find() {
        List<String> names = carrierThreads().map(Thread::getName).toList();
        List<Path> found = new ArrayList<>();
        try (DirectoryStream<Path> all = Files.newDirectoryStream(Path.of("/proc/self/task"))) {
            for (Path task : all) {
                String comm = Files.readString(task.resolve("comm")).strip();
                if (names.stream().anyMatch(name -> isKernelName(comm, name))) {
                    found.add(task);
                }
            }
        } catch (IOException noProcOrEnded) {
            return List.of();
        }
        // Names without their middle may also fit workers of other pools. Then it is unknown which of them are carriers.
        return found.size() > names.size() ? List.of() : found;
    }

    /**
     * Whether the kernel's name belongs to this thread. Java up to 25 gives the kernel the beginning of a long name,
     * Java 26 leaves out its middle.
     */
    static boolean isKernelName(String comm, String name) {
        if (name.length() <= NAME_LENGTH) {
            return comm.equals(name);
        }
        int left = comm.indexOf(LEFT_OUT);
        return comm.equals(name.substring(0, NAME_LENGTH))
                || left > 0
                        && name.startsWith(comm.substring(0, left))
                        && name.endsWith(comm.substring(left + LEFT_OUT.length()));
    }

    /** All carriers are in one thread group. The number in their names depends on which pool the program made first. */
    private static Stream<Thread> carrierThreads() {
        ThreadGroup root = Thread.currentThread().getThreadGroup();
        while (root.getParent() != null) {
            root = root.getParent();
        }
        Thread[] threads = new Thread[root.activeCount() + 64];
        int count = root.enumerate(threads, true);
        return Stream.of(threads).limit(count).filter(thread -> {
            ThreadGroup group = thread.getThreadGroup();
            return group != null && group.getName().equals("CarrierThreads");
        });
    }
}
