package dev.threadcount.executors;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * Runs tasks on platform threads without a limit, kept for a minute after their last task: the JDK's cached thread pool.
 *
 * <p>Write {@code <Executor name="cached" className="dev.threadcount.executors.CachedThreadExecutor"/>} before the Connector, {@code
 * executor="cached"} in it, and put this jar into {@code lib/} of CATALINA_BASE.
 */
public final class CachedThreadExecutor extends DelegatingExecutor {
    /** Made by Tomcat from server.xml. */
    public CachedThreadExecutor() {
        super("cached-");
    }

    @Override
    ExecutorService open(String namePrefix) {
        return Executors.newCachedThreadPool(Thread.ofPlatform().daemon().name(namePrefix, 0).factory());
    }
}
