package dev.threadcount.probe.crossover.inside;

import dev.threadcount.probe.crossover.CountedTask;
import java.io.Closeable;
import java.io.IOException;
import org.eclipse.jetty.util.thread.Invocable;

/** A counted request that Jetty runs as it would without us. */
final class JettyOwnTask implements Runnable, Invocable, Closeable {
    private final CountedTask counted;

    JettyOwnTask(CountedTask counted) {
        this.counted = counted;
    }

    @Override
    public InvocationType getInvocationType() {
        return InvocationType.BLOCKING;
    }

    @Override
    public void run() {
        counted.run();
    }

    /** Closes the task, as Jetty does after its pool has rejected it. */
    @Override
    public void close() throws IOException {
        counted.abandon();
        if (counted.task() instanceof Closeable closeable) {
            closeable.close();
        }
    }
}
