package dev.threadcount.probe.crossover;

import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A pool of platform threads with a FIFO queue. Like Tomcat's own pool, it starts a thread when a task finds none free. If all threads
 * existed from the beginning, the tasks of a few clients would go round more threads than they need, each with a cold stack.
 */
final class PlatformThreads implements RequestThreads {
    static final String PREFIX = "threadcount-platform-";
    private static final long IDLE_SECONDS = 60;

    private final AtomicInteger unfinished = new AtomicInteger();
    private final TaskQueue queue = new TaskQueue();
    private final ThreadPoolExecutor pool;

    PlatformThreads(int threads, ClassLoader context) {
        ThreadFactory plain = Thread.ofPlatform().daemon().name(PREFIX, 0).inheritInheritableThreadLocals(false).factory();
        pool = new ThreadPoolExecutor(0, threads, IDLE_SECONDS, TimeUnit.SECONDS, queue, task -> {
            Thread thread = plain.newThread(task);
            thread.setContextClassLoader(context);
            return thread;
        }, (task, full) -> queue.append(task)) {
            @Override
            protected void afterExecute(Runnable task, Throwable failure) {
                unfinished.decrementAndGet();
            }
        };
    }

    @Override
    public void execute(CountedTask task) {
        unfinished.incrementAndGet();
        try {
            pool.execute(task);
        } catch (RuntimeException | Error notTaken) {
            unfinished.decrementAndGet();
            throw notTaken;
        }
    }

    @Override
    public void close() {
        pool.shutdown();
    }

    @Override
    public void stop() {
        pool.shutdownNow();
    }

    /** A queue that takes a task only if a thread is free for it. Otherwise the pool starts another thread, or appends the task. */
    private final class TaskQueue extends LinkedBlockingQueue<Runnable> {
        private static final long serialVersionUID = 1L;

        @Override
        public boolean offer(Runnable task) {
            int threads = pool.getPoolSize();
            return (unfinished.get() <= threads || threads == pool.getMaximumPoolSize()) && super.offer(task);
        }

        /** Appends a task. Until then the pool may have got its last threads, or been closed. */
        void append(Runnable task) {
            if (pool.isShutdown() || !super.offer(task) || pool.isShutdown() && remove(task)) {
                throw new RejectedExecutionException("closed");
            }
        }
    }
}
