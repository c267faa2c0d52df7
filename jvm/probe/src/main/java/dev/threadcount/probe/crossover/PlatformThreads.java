package dev.threadcount.probe.crossover;

import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** A fixed pool of platform threads with a FIFO queue, all of them started at once. */
final class PlatformThreads implements RequestThreads {
    static final String PREFIX = "threadcount-platform-";

    private final ThreadPoolExecutor pool;

    /** @throws OutOfMemoryError when the system has no more threads; none of ours is left then */
    PlatformThreads(int threads, ClassLoader context) {
        ThreadFactory plain = Thread.ofPlatform().daemon().name(PREFIX, 0).inheritInheritableThreadLocals(false).factory();
        pool = new ThreadPoolExecutor(threads, threads, 0, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), task -> {
            Thread thread = plain.newThread(task);
            thread.setContextClassLoader(context);
            return thread;
        });
        try {
            pool.prestartAllCoreThreads();
        } catch (RuntimeException | Error noThread) {
            pool.shutdownNow();
            throw noThread;
        }
    }

    @Override
    public void execute(CountedTask task) {
        pool.execute(task);
    }

    @Override
    public void close() {
        pool.shutdown();
    }

    @Override
    public void stop() {
        pool.shutdownNow();
    }
}
