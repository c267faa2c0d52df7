package dev.threadcount.executors;

import java.util.Collection;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.catalina.Executor;
import org.apache.catalina.LifecycleException;
import org.apache.catalina.LifecycleState;
import org.apache.catalina.util.LifecycleMBeanBase;

/**
 * A Tomcat {@code <Executor>} that hands its tasks to an executor of the JDK.
 *
 * <p>Tomcat 10's {@code Executor} is a {@link java.util.concurrent.Executor}, Tomcat 11's an {@link ExecutorService}. This class is both,
 * so that one class file serves 10.0, 10.1 and 11.0. It is public because Tomcat sets the attributes of server.xml by reflection, which is
 * refused for a class that is not visible.
 */
public abstract class DelegatingExecutor extends LifecycleMBeanBase implements Executor, ExecutorService {
    private static final long STOP_SECONDS = 5;

    private String name;
    private String namePrefix;
    private volatile ExecutorService delegate;

    DelegatingExecutor(String namePrefix) {
        this.namePrefix = namePrefix;
    }

    /** Makes the JDK's executor, anew at each start. */
    abstract ExecutorService open(String namePrefix);

    @Override
    public final String getName() {
        return name;
    }

    /**
     * The attribute {@code name} in server.xml, which the Connector refers to.
     *
     * @param name the name
     */
    public final void setName(String name) {
        this.name = name;
    }

    /**
     * The attribute {@code namePrefix} in server.xml.
     *
     * @return the prefix of its threads' names
     */
    public final String getNamePrefix() {
        return namePrefix;
    }

    /**
     * Sets the attribute {@code namePrefix}.
     *
     * @param namePrefix the prefix of its threads' names
     */
    public final void setNamePrefix(String namePrefix) {
        this.namePrefix = namePrefix;
    }

    @Override
    protected void startInternal() throws LifecycleException {
        delegate = open(namePrefix);
        setState(LifecycleState.STARTING);
    }

    @Override
    protected void stopInternal() throws LifecycleException {
        setState(LifecycleState.STOPPING);
        delegate.shutdownNow();
        try {
            delegate.awaitTermination(STOP_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException stopFaster) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    protected final String getDomainInternal() {
        return null;
    }

    @Override
    protected final String getObjectNameKeyProperties() {
        return "type=Executor,name=" + name;
    }

    @Override
    public final void execute(Runnable task) {
        started().execute(task);
    }

    /**
     * Runs the task. Tomcat 10 calls this to wait for a place in a full queue, but here no queue can be full.
     *
     * @param task the task
     * @param timeout not used
     * @param unit not used
     */
    @Override
    @Deprecated
    public final void execute(Runnable task, long timeout, TimeUnit unit) {
        execute(task);
    }

    private ExecutorService started() {
        ExecutorService running = delegate;
        if (running == null) {
            throw new IllegalStateException("the executor " + name + " has not been started");
        }
        return running;
    }

    /** Shuts the executor down. Tomcat uses the lifecycle instead; {@link ExecutorService#close} needs this method. */
    @Override
    public final void shutdown() {
        ExecutorService running = delegate;
        if (running != null) {
            running.shutdown();
        }
    }

    @Override
    public final List<Runnable> shutdownNow() {
        ExecutorService running = delegate;
        return running == null ? List.of() : running.shutdownNow();
    }

    @Override
    public final boolean isShutdown() {
        return delegate == null || delegate.isShutdown();
    }

    @Override
    public final boolean isTerminated() {
        return delegate == null || delegate.isTerminated();
    }

    @Override
    public final boolean awaitTermination(long timeout, TimeUnit unit) throws InterruptedException {
        ExecutorService running = delegate;
        return running == null || running.awaitTermination(timeout, unit);
    }

    @Override
    public final <T> Future<T> submit(Callable<T> task) {
        return started().submit(task);
    }

    @Override
    public final <T> Future<T> submit(Runnable task, T result) {
        return started().submit(task, result);
    }

    @Override
    public final Future<?> submit(Runnable task) {
        return started().submit(task);
    }

    @Override
    public final <T> List<Future<T>> invokeAll(Collection<? extends Callable<T>> tasks) throws InterruptedException {
        return started().invokeAll(tasks);
    }

    @Override
    public final <T> List<Future<T>> invokeAll(Collection<? extends Callable<T>> tasks, long timeout, TimeUnit unit)
            throws InterruptedException {
        return started().invokeAll(tasks, timeout, unit);
    }

    @Override
    public final <T> T invokeAny(Collection<? extends Callable<T>> tasks)
            throws InterruptedException, ExecutionException {
        return started().invokeAny(tasks);
    }

    @Override
    public final <T> T invokeAny(Collection<? extends Callable<T>> tasks, long timeout, TimeUnit unit)
            throws InterruptedException, ExecutionException, TimeoutException {
        return started().invokeAny(tasks, timeout, unit);
    }
}
