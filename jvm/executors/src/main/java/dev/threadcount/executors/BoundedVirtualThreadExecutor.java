package dev.threadcount.executors;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.apache.catalina.LifecycleException;
import org.apache.catalina.Pipeline;

/**
 * Runs each request on a virtual thread, and limits the requests: at most {@code maxConcurrent} run, at most {@code maxQueue} wait in turn,
 * for at most {@code queueTimeoutMs}, and the others get 503 with {@code Retry-After}.
 *
 * <p>Write {@code <Executor name="virtual" className="dev.threadcount.executors.BoundedVirtualThreadExecutor" maxConcurrent="200"
 * maxQueue="1000" queueTimeoutMs="1000"/>} before the Connector, {@code executor="virtual"} in it, and put this jar into {@code lib/} of
 * CATALINA_BASE. An executor cannot answer 503 itself (it can only close the connection), so this one adds a {@link RequestLimitValve} to
 * the Engine of its Service, for all Connectors of that Service.
 */
public final class BoundedVirtualThreadExecutor extends DelegatingExecutor {
    private final RequestLimits limits = new RequestLimits();
    private Pipeline pipeline;
    private RequestLimitValve valve;

    /** Made by Tomcat from server.xml. */
    public BoundedVirtualThreadExecutor() {
        super("virtual-");
    }

    /**
     * Sets the attribute {@code maxConcurrent}.
     *
     * @param requests see {@link RequestLimitValve#setMaxConcurrent}
     */
    public void setMaxConcurrent(int requests) {
        limits.maxConcurrent = requests;
    }

    /**
     * Sets the attribute {@code maxQueue}.
     *
     * @param requests see {@link RequestLimitValve#setMaxQueue}
     */
    public void setMaxQueue(int requests) {
        limits.maxQueue = requests;
    }

    /**
     * Sets the attribute {@code queueTimeoutMs}.
     *
     * @param milliseconds see {@link RequestLimitValve#setQueueTimeoutMs}
     */
    public void setQueueTimeoutMs(long milliseconds) {
        limits.queueTimeoutMs = milliseconds;
    }

    /**
     * Sets the attribute {@code retryAfterSeconds}.
     *
     * @param seconds see {@link RequestLimitValve#setRetryAfterSeconds}
     */
    public void setRetryAfterSeconds(int seconds) {
        limits.retryAfterSeconds = seconds;
    }

    /**
     * Sets the attribute {@code rejectionStatus}.
     *
     * @param status see {@link RequestLimitValve#setRejectionStatus}
     */
    public void setRejectionStatus(int status) {
        limits.rejectionStatus = status;
    }

    @Override
    ExecutorService open(String namePrefix) {
        return Executors.newThreadPerTaskExecutor(Thread.ofVirtual().name(namePrefix, 0).factory());
    }

    /**
     * Checks the limits here, because a pipeline only logs what a valve throws when it starts: there must be no start without the limit.
     */
    @Override
    protected void startInternal() throws LifecycleException {
        limits.check();
        pipeline = OwnService.of(this).getContainer().getPipeline();
        valve = new RequestLimitValve(limits);
        valve.setName(getName());
        pipeline.addValve(valve);
        super.startInternal();
    }

    @Override
    protected void stopInternal() throws LifecycleException {
        super.stopInternal();
        if (valve != null) {
            pipeline.removeValve(valve);
            valve = null;
        }
    }
}
