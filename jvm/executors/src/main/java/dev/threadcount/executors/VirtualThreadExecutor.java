package dev.threadcount.executors;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * Runs each task on a virtual thread (JEP 444), for Tomcat versions without {@code StandardVirtualThreadExecutor}.
 *
 * <p>Write {@code <Executor name="virtual" className="dev.threadcount.executors.VirtualThreadExecutor"/>} before the Connector, {@code
 * executor="virtual"} in it, and put this jar into {@code lib/} of CATALINA_BASE.
 */
public final class VirtualThreadExecutor extends DelegatingExecutor {
    /** Made by Tomcat from server.xml. */
    public VirtualThreadExecutor() {
        super("virtual-");
    }

    @Override
    ExecutorService open(String namePrefix) {
        return Executors.newThreadPerTaskExecutor(Thread.ofVirtual().name(namePrefix, 0).factory());
    }
}
