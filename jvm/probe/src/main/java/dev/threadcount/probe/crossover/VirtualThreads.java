package dev.threadcount.probe.crossover;

import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;

/** Runs each task on a new virtual thread. */
final class VirtualThreads implements RequestThreads {
    static final String PREFIX = "threadcount-virtual-";

    /**
     * Without inheritance: a thread may be started by one that runs a request, whose inheritable thread-locals do not
     * belong to the next request.
     */
    private final ThreadFactory factory = Thread.ofVirtual().name(PREFIX, 0).inheritInheritableThreadLocals(false).factory();
    private final ClassLoader context;
    private volatile boolean closed;

    VirtualThreads(ClassLoader context) {
        this.context = context;
    }

    @Override
    public void execute(CountedTask task) {
        if (closed) {
            throw new RejectedExecutionException("closed");
        }
        start(task);
    }

    /** Starts a thread even after this is closed. */
    void start(Runnable task) {
        Thread thread = factory.newThread(task);
        thread.setContextClassLoader(context);
        thread.start();
    }

    @Override
    public void close() {
        closed = true;
    }

    /** Interrupts nothing, because servers do not interrupt their virtual threads either. */
    @Override
    public void stop() {
        closed = true;
    }
}
