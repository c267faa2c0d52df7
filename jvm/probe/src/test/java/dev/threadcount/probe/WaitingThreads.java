package dev.threadcount.probe;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.ReentrantLock;

/** A program with a known number of waiting threads, platform and virtual, for the probe to sample. */
public final class WaitingThreads {
    static final int FOR_THE_LOCK = 3;
    static final int FOR_THE_MONITOR = 2;
    static final int IDLE_WORKERS = 3;

    private static final Semaphore NO_PERMITS = new Semaphore(0);
    private static final ReentrantLock LOCK = new ReentrantLock();
    private static final Object MONITOR = new Object();

    private WaitingThreads() {}

    /**
     * The arguments are the number of threads that wait for a permit, the number of samples to wait for, and where the probe writes its
     * lines. With {@code scope}, the threads belong to a scope instead of the JVM and an executor.
     */
    public static void main(String[] arguments) throws Exception {
        Path lines = Path.of(arguments[2]);
        System.out.println("opened: " + Object.class.getModule().isOpen("java.lang", WaitingThreads.class.getModule()));
        takePermits(Integer.parseInt(arguments[0]), arguments.length > 3);
        Thread.ofVirtual().start(WaitingThreads::holdLock);
        while (!LOCK.isLocked()) {
            Thread.sleep(5);
        }
        for (int i = 0; i < FOR_THE_LOCK; i++) {
            Thread.ofVirtual().start(WaitingThreads::takeLock);
        }
        Thread holder = Thread.ofPlatform().daemon().start(WaitingThreads::holdMonitor);
        while (holder.getState() != Thread.State.TIMED_WAITING) {
            Thread.sleep(5);
        }
        for (int i = 0; i < FOR_THE_MONITOR; i++) {
            Thread.ofPlatform().daemon().start(WaitingThreads::takeMonitor);
        }
        ExecutorService idle = Executors.newFixedThreadPool(IDLE_WORKERS, task -> Thread.ofPlatform().daemon().unstarted(task));
        for (int i = 0; i < IDLE_WORKERS; i++) {
            idle.submit(() -> {});
        }
        waitForSamples(Integer.parseInt(arguments[1]), lines);
        // The threads are daemons, so the program ends here.
        System.exit(0);
    }

    private static void takePermits(int threads, boolean inAScope) throws ReflectiveOperationException {
        ExecutorService perTask = Executors.newVirtualThreadPerTaskExecutor();
        Object scope = inAScope ? scope("open", null, String.class, "permits") : null;
        for (int i = 0; i < threads; i++) {
            if (inAScope) {
                scope("start", scope, Thread.class, Thread.ofVirtual().unstarted(WaitingThreads::takePermit));
            } else if (i % 2 == 0) {
                perTask.submit(WaitingThreads::takePermitInATask);
            } else {
                Thread.ofVirtual().start(WaitingThreads::takePermit);
            }
        }
        // A set of platform threads, which the JVM also lists itself.
        Executors.newThreadPerTaskExecutor(Thread.ofPlatform().daemon().factory()).submit(WaitingThreads::sleep);
    }

    /** Calls what is below a structured scope, whose API is a preview and differs between Java 21 and 25. */
    private static Object scope(String name, Object self, Class<?> type, Object argument) throws ReflectiveOperationException {
        return Class.forName("jdk.internal.misc.ThreadFlock").getMethod(name, type).invoke(self, argument);
    }

    private static void takePermitInATask() {
        NO_PERMITS.acquireUninterruptibly();
    }

    private static void takePermit() {
        NO_PERMITS.acquireUninterruptibly();
    }

    private static void takeLock() {
        LOCK.lock();
    }

    private static void holdLock() {
        LOCK.lock();
        sleep();
    }

    private static void takeMonitor() {
        synchronized (MONITOR) {
            sleep();
        }
    }

    private static void holdMonitor() {
        synchronized (MONITOR) {
            sleep();
        }
    }

    private static void sleep() {
        try {
            Thread.sleep(3_600_000);
        } catch (InterruptedException never) {
            throw new IllegalStateException(never);
        }
    }

    private static void waitForSamples(int number, Path lines) throws IOException, InterruptedException {
        long had = samples(lines);
        while (samples(lines) < had + number) {
            Thread.sleep(50);
        }
    }

    private static long samples(Path lines) throws IOException {
        return Files.readAllLines(lines).stream().filter(line -> line.startsWith("{\"type\":\"stacks\"")).count();
    }
}
