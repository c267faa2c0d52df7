package dev.threadcount.probe.crossover;

import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;

/** Runs each task on a new virtual thread, with a limit on tasks at once. The other tasks wait without a thread, first in, first out. */
final class LimitedVirtualThreads implements RequestThreads {
    private final VirtualThreads threads;
    private final FallBack own;
    private final ConcurrentLinkedQueue<CountedTask> waiting = new ConcurrentLinkedQueue<>();
    private final AtomicInteger free;
    private volatile boolean closed;

    LimitedVirtualThreads(VirtualThreads threads, int limit, FallBack own) {
        this.threads = threads;
        this.own = own;
        free = new AtomicInteger(limit);
    }

    @Override
    public void execute(CountedTask task) {
        if (closed) {
            throw new RejectedExecutionException("closed");
        }
        waiting.add(task);
        startWaiting();
    }

    private void startWaiting() {
        while (!waiting.isEmpty() && takeSlot()) {
            CountedTask next = waiting.poll();
            if (next == null) {
                free.incrementAndGet();
            } else {
                start(next);
            }
        }
    }

    private boolean takeSlot() {
        int slots = free.get();
        while (slots > 0 && !free.compareAndSet(slots, slots - 1)) {
            slots = free.get();
        }
        return slots > 0;
    }

    private void start(CountedTask task) {
        try {
            threads.start(() -> runAndGoOn(task));
        } catch (RuntimeException | Error noThread) {
            free.incrementAndGet();
            own.run(task, noThread);
        }
    }

    private void runAndGoOn(CountedTask task) {
        try {
            task.run();
        } finally {
            free.incrementAndGet();
            startWaiting();
        }
    }

    @Override
    public void close() {
        closed = true;
    }

    @Override
    public void stop() {
        closed = true;
        waiting.clear();
    }
}
