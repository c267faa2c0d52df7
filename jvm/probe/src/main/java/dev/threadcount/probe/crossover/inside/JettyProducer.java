package dev.threadcount.probe.crossover.inside;

import dev.threadcount.probe.crossover.CountedTask;
import dev.threadcount.probe.crossover.RequestExecutor;
import org.eclipse.jetty.util.thread.ExecutionStrategy;
import org.eclipse.jetty.util.thread.Invocable;

/**
 * Replaces the producer of a selector's tasks. A task that may block, which on a connection of HTTP/1 is a request,
 * becomes one that does not block: it hands the request to the treatment's threads. The strategy runs such a task on
 * the selector's thread, as it runs requests when Jetty is configured with virtual threads.
 */
public final class JettyProducer implements ExecutionStrategy.Producer {
    private final RequestExecutor requests;
    private final ExecutionStrategy.Producer own;

    /** Replaces the producer {@code own}. */
    public JettyProducer(RequestExecutor requests, ExecutionStrategy.Producer own) {
        this.requests = requests;
        this.own = own;
    }

    @Override
    public Runnable produce() {
        Runnable task = own.produce();
        if (task == null || Invocable.getInvocationType(task) != Invocable.InvocationType.BLOCKING) {
            return task;
        }
        if (requests.isDiverted()) {
            return new JettyHandOver(requests, task);
        }
        CountedTask counted = requests.count(task);
        return counted == null ? task : new JettyOwnTask(counted);
    }
}
