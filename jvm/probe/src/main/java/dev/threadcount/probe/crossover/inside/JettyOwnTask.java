package dev.threadcount.probe.crossover.inside;

import dev.threadcount.probe.crossover.CountedTask;
import java.io.Closeable;
import java.io.IOException;
import org.eclipse.jetty.util.thread.Invocable;

/** A request that Jetty runs as it would without us, counted. */
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

    /** Jetty closes what its pool has rejected. */
    @Override
    public void close() throws IOException {
        counted.abandon();
        if (counted.task() instanceof Closeable closeable) {
            closeable.close();
        }
    }
}
