package dev.threadcount.probe.crossover.inside;

import dev.threadcount.probe.crossover.RequestExecutor;
import java.io.Closeable;
import java.io.IOException;
import java.util.concurrent.RejectedExecutionException;
import org.eclipse.jetty.util.thread.Invocable;

/** A task that hands a request to the treatment's threads. */
final class JettyHandOver implements Runnable, Invocable, Closeable {
    private final RequestExecutor requests;
    private final Runnable task;

    JettyHandOver(RequestExecutor requests, Runnable task) {
        this.requests = requests;
        this.task = task;
    }

    @Override
    public InvocationType getInvocationType() {
        return InvocationType.NON_BLOCKING;
    }

    @Override
    public void run() {
        try {
            requests.execute(task);
        } catch (RejectedExecutionException full) {
            closeQuietly();
            throw full;
        }
    }

    private void closeQuietly() {
        try {
            close();
        } catch (IOException gone) {
            // Jetty does the same with a task that its own pool rejects.
        }
    }

    @Override
    public void close() throws IOException {
        if (task instanceof Closeable closeable) {
            closeable.close();
        }
    }
}
