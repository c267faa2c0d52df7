package dev.threadcount.probe.crossover.inside;

import dev.threadcount.probe.crossover.RequestExecutor;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.TimeUnit;
import org.apache.tomcat.util.threads.ThreadPoolExecutor;

/**
 * Replaces the pool that an endpoint of Tomcat made for itself. Tomcat only stops pools of this type, so this class
 * extends it. Everything that Tomcat does with its pool is passed on to the original pool, except for tasks.
 */
public final class TomcatPool extends ThreadPoolExecutor {
    private final RequestExecutor requests;
    private final ThreadPoolExecutor own;

    /** Makes a pool without threads, which passes everything on. */
    public TomcatPool(RequestExecutor requests) {
        super(0, 1, 0, TimeUnit.SECONDS, new SynchronousQueue<>());
        this.requests = requests;
        own = (ThreadPoolExecutor) requests.own();
    }

    @Override
    public void execute(Runnable task) {
        requests.execute(task);
    }

    @Override
    public void shutdown() {
        own.shutdown();
    }

    @Override
    public List<Runnable> shutdownNow() {
        requests.stop();
        return own.shutdownNow();
    }

    @Override
    public boolean isShutdown() {
        return own.isShutdown();
    }

    @Override
    public boolean isTerminating() {
        return own.isTerminating();
    }

    @Override
    public boolean isTerminated() {
        return own.isTerminated();
    }

    @Override
    public boolean awaitTermination(long timeout, TimeUnit unit) throws InterruptedException {
        return own.awaitTermination(timeout, unit);
    }

    @Override
    public BlockingQueue<Runnable> getQueue() {
        return own.getQueue();
    }

    @Override
    public void setCorePoolSize(int threads) {
        own.setCorePoolSize(threads);
    }

    @Override
    public int getCorePoolSize() {
        return own.getCorePoolSize();
    }

    @Override
    public void setMaximumPoolSize(int threads) {
        own.setMaximumPoolSize(threads);
    }

    @Override
    public int getMaximumPoolSize() {
        return own.getMaximumPoolSize();
    }

    @Override
    public void setKeepAliveTime(long time, TimeUnit unit) {
        own.setKeepAliveTime(time, unit);
    }

    @Override
    public long getKeepAliveTime(TimeUnit unit) {
        return own.getKeepAliveTime(unit);
    }

    @Override
    public void contextStopping() {
        own.contextStopping();
    }

    @Override
    public int getPoolSize() {
        return own.getPoolSize();
    }

    @Override
    public int getActiveCount() {
        return own.getActiveCount();
    }

    @Override
    public int getLargestPoolSize() {
        return own.getLargestPoolSize();
    }

    @Override
    public long getTaskCount() {
        return own.getTaskCount();
    }

    @Override
    public long getCompletedTaskCount() {
        return own.getCompletedTaskCount();
    }

    @Override
    public int getSubmittedCount() {
        return own.getSubmittedCount();
    }
}
