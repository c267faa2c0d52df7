package dev.threadcount.executors;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * A virtual thread for each task (JEP 444), for Tomcat versions that have no {@code StandardVirtualThreadExecutor}.
 *
 * <p>{@code <Executor name="virtual" className="dev.threadcount.executors.VirtualThreadExecutor"/>} before the
 * Connector, {@code executor="virtual"} in it, and this jar in {@code lib/} of CATALINA_BASE.
 */
public final class VirtualThreadExecutor extends DelegatingExecutor {
    /** As Tomcat makes it from server.xml. */
    public VirtualThreadExecutor() {
        super("virtual-");
    }

    @Override
    ExecutorService open(String namePrefix) {
        return Executors.newThreadPerTaskExecutor(Thread.ofVirtual().name(namePrefix, 0).factory());
    }
}
