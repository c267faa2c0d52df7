package dev.threadcount.probe;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Programs that do a known number of things for the probe to count. */
public final class KnownAnswers {
    /** The length of a pin, which is long so that a busy machine takes little of its beginning away. */
    static final long PINNED_MS = 300;

    /** The time that a reader waits for each byte. */
    static final long HELD_MS = 60;

    private static final ThreadLocal<byte[]> BUFFER = ThreadLocal.withInitial(() -> new byte[1 << 20]);
    private static final Object MONITOR = new Object();
    private static volatile Object kept;

    private KnownAnswers() {}

    /** The arguments are what to do, how often or how much, and where the probe writes its lines. */
    public static void main(String[] arguments) throws Exception {
        Path lines = Path.of(arguments[2]);
        // The event stream begins a moment after the JVM, and does not contain earlier events.
        waitForEventsUntil(lines, System.nanoTime());
        int number = Integer.parseInt(arguments[1]);
        switch (arguments[0]) {
            case "pins" -> pins(number, KnownAnswers::sleepInSynchronizedBlock);
            case "pins-in-method" -> pins(number, KnownAnswers::sleepInSynchronizedMethod);
            case "pins-in-initializer" -> pins(1, KnownAnswers::sleepInInitializer);
            case "pins-deep-down" -> pins(1, () -> sleepInSynchronizedBlockUnder(number));
            case "collections" -> collections(number);
            case "allocates" -> allocates(number);
            case "mounts" -> mounts(number, lines);
            case "spins" -> Thread.ofVirtual().start(() -> spin(number)).join();
            case "burns" -> burns(number);
            case "yields" -> yields(number);
            case "reads-slowly" -> readsSlowly(number, lines);
            case "thread-locals" -> threadLocals(number);
            default -> throw new IllegalArgumentException(arguments[0]);
        }
        waitForEventsUntil(lines, System.nanoTime());
        System.out.println("threads of the scheduler: " + allThreads().map(Thread::getName)
                .filter(name -> name.startsWith("VirtualThread-")).toList());
    }

    /** All threads, including those of the JDK. */
    private static Stream<Thread> allThreads() {
        ThreadGroup root = Thread.currentThread().getThreadGroup();
        while (root.getParent() != null) {
            root = root.getParent();
        }
        Thread[] threads = new Thread[root.activeCount() + 64];
        return Stream.of(threads).limit(root.enumerate(threads, true));
    }

    /** Waits until the probe has written every event up to this moment, and has taken a sample since. */
    private static void waitForEventsUntil(Path lines, long timeNs) throws IOException {
        for (String time : new String[] {"\"events_until_ns\":(\\d+)", "\"type\":\"sample\",\"t_ns\":(\\d+)"}) {
            Pattern told = Pattern.compile(time);
            while (told.matcher(Files.readString(lines)).results()
                    .noneMatch(found -> Long.parseLong(found.group(1)) > timeNs)) {
                sleep(50);
            }
        }
    }

    private static void pins(int number, Runnable sleep) throws InterruptedException {
        for (int i = 0; i < number; i++) {
            Thread.ofVirtual().start(sleep).join();
        }
    }

    static void sleepInSynchronizedBlock() {
        synchronized (MONITOR) {
            sleep(PINNED_MS);
        }
    }

    /** Sleeps with this many frames above the frame that holds the monitor. */
    static void sleepInSynchronizedBlockUnder(int frames) {
        synchronized (MONITOR) {
            sleepUnder(frames);
        }
    }

    private static void sleepUnder(int frames) {
        if (frames == 0) {
            sleep(PINNED_MS);
        } else {
            sleepUnder(frames - 1);
        }
    }

    static synchronized void sleepInSynchronizedMethod() {
        sleep(PINNED_MS);
    }

    static void sleepInInitializer() {
        Lazy.touch();
    }

    private static final class Lazy {
        static {
            sleep(PINNED_MS);
        }

        static void touch() {}
    }

    /**
     * Keeps one carrier busy until a reading shows it, or for at most this many seconds. The program has made a pool before, because the
     * carriers' names count pools.
     */
    private static void mounts(int mostSeconds, Path lines) throws IOException, InterruptedException {
        Pattern mounted = Pattern.compile("\"mounted\":1,\"queued\":\\d+,\"running\":1,");
        long giveUpNs = System.nanoTime() + mostSeconds * 1_000_000_000L;
        var seen = new AtomicBoolean();
        try (var pool = new ForkJoinPool(1)) {
            pool.submit(() -> {}).join();
            Thread spinning = Thread.ofVirtual().start(() -> {
                while (!seen.get()) {
                    Thread.onSpinWait();
                }
            });
            // This is a platform thread, which can look without a carrier.
            while (System.nanoTime() - giveUpNs < 0 && !mounted.matcher(Files.readString(lines)).find()) {
                sleep(50);
            }
            seen.set(true);
            spinning.join();
        }
    }

    private static void collections(int number) {
        for (int i = 0; i < number; i++) {
            System.gc();
        }
    }

    private static void allocates(int megabytes) {
        List<byte[]> blocks = new ArrayList<>();
        for (int i = 0; i < megabytes; i++) {
            byte[] block = new byte[1 << 20];
            java.util.Arrays.fill(block, (byte) 1);
            blocks.add(block);
        }
        kept = blocks;
    }

    /** Keeps one thread busy until it has used this many milliseconds of CPU. Prints the beginning, the end, and the CPU of all threads. */
    private static void burns(int milliseconds) {
        var system = (com.sun.management.OperatingSystemMXBean)
                java.lang.management.ManagementFactory.getOperatingSystemMXBean();
        long beganNs = System.nanoTime();
        long usedBefore = system.getProcessCpuTime();
        var threads = java.lang.management.ManagementFactory.getThreadMXBean();
        long end = threads.getCurrentThreadCpuTime() + milliseconds * 1_000_000L;
        while (threads.getCurrentThreadCpuTime() < end) {
            Thread.onSpinWait();
        }
        long usedNs = system.getProcessCpuTime() - usedBefore;
        System.out.printf("burnt: %d %d %d%n", beganNs, System.nanoTime(), usedNs);
    }

    /**
     * Ten virtual threads yield until the process has used this many milliseconds of CPU. Time by the clock would not do, because a loaded
     * machine may let the process run for a small part of it.
     */
    private static void yields(int milliseconds) throws InterruptedException {
        var system = (com.sun.management.OperatingSystemMXBean)
                java.lang.management.ManagementFactory.getOperatingSystemMXBean();
        long endNs = system.getProcessCpuTime() + milliseconds * 1_000_000L;
        var done = new AtomicBoolean();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            threads.add(Thread.ofVirtual().start(() -> giveWay(done)));
        }
        while (system.getProcessCpuTime() < endNs) {
            sleep(20);
        }
        done.set(true);
        for (Thread thread : threads) {
            thread.join();
        }
    }

    static void giveWay(AtomicBoolean done) {
        while (!done.get()) {
            Thread.yield();
        }
    }

    /** A virtual thread reads this many bytes of a pipe, each of which comes after a while. Then a platform thread does the same. */
    private static void readsSlowly(int number, Path lines) throws IOException, InterruptedException {
        Path pipe = lines.resolveSibling("pipe-" + ProcessHandle.current().pid());
        new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor();
        try (var file = new RandomAccessFile(pipe.toFile(), "rw")) {
            readBytes(Thread.ofVirtual().unstarted(() -> readVirtually(file, number)), file, number);
            readBytes(Thread.ofPlatform().unstarted(() -> readOnPlatform(file, number)), file, number);
        }
    }

    private static void readBytes(Thread reader, RandomAccessFile file, int number) throws IOException, InterruptedException {
        reader.start();
        for (int i = 0; i < number; i++) {
            sleep(HELD_MS);
            file.write(1);
        }
        reader.join();
    }

    static void readVirtually(RandomAccessFile file, int number) {
        read(file, number);
    }

    static void readOnPlatform(RandomAccessFile file, int number) {
        read(file, number);
    }

    private static void read(RandomAccessFile file, int number) {
        try {
            for (int i = 0; i < number; i++) {
                file.read();
            }
        } catch (IOException impossible) {
            throw new UncheckedIOException(impossible);
        }
    }

    /** This many virtual threads, and then as many platform threads, make one buffer of a MiB that they keep, and one that they do not. */
    private static void threadLocals(int number) throws InterruptedException {
        for (int i = 0; i < number; i++) {
            Thread.ofVirtual().start(KnownAnswers::useBufferOfVirtualThread).join();
            Thread.ofPlatform().start(KnownAnswers::useBufferOfPlatformThread).join();
        }
    }

    static void useBufferOfVirtualThread() {
        kept = BUFFER.get();
        kept = new byte[1 << 20];
    }

    static void useBufferOfPlatformThread() {
        kept = BUFFER.get();
    }

    private static void spin(int milliseconds) {
        long end = System.nanoTime() + milliseconds * 1_000_000L;
        while (System.nanoTime() < end) {
            Thread.onSpinWait();
        }
    }

    private static void sleep(long milliseconds) {
        try {
            Thread.sleep(milliseconds);
        } catch (InterruptedException never) {
            throw new IllegalStateException(never);
        }
    }
}
