package dev.threadcount.probe;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * The operating system's view of the carriers. One that is mounted and not running waits inside a virtual thread that
 * could not leave it. Used by the sampler's thread only.
 */
final class CarrierTasks {
    /** The kernel keeps so much of a thread's name. */
    private static final int NAME_LENGTH = 15;

    private static final String LEFT_OUT = "..";

    private List<Path> tasks = List.of();

    /**
     * How many carriers are on a core or in its run queue; -1 where that cannot be read.
     *
     * @param carriers how many there are
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
     * Writes of each how long it has run since it began, and how long it could have and waited for a core.
     *
     * @param carriers how many there are
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

    /** Listing all threads reads one file each; carriers seldom change. */
    private void findAgainIfChanged(int carriers) {
        if (tasks.size() != carriers) {
            tasks = find();
        }
    }

    /** The state follows the name, which stands in brackets and may hold any character (proc(5)). */
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
        // Workers of other pools may have the same name once its middle is left out: then the carriers among them are unknown.
        return found.size() > names.size() ? List.of() : found;
    }

    /** Java up to 25 leaves the kernel the beginning of a long name, Java 26 leaves out its middle. */
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

    /** All carriers are in one thread group; the number in their names depends on which pool the program made first. */
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
