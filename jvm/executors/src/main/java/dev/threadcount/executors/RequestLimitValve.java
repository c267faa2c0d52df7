package dev.threadcount.executors;

import jakarta.servlet.ServletException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import javax.management.JMException;
import javax.management.ObjectName;
import org.apache.catalina.LifecycleException;
import org.apache.catalina.connector.Request;
import org.apache.catalina.connector.Response;
import org.apache.catalina.valves.ValveBase;

/**
 * Limits the requests that run at once. A queue with a time limit holds further requests, and the rest get 503 with {@code Retry-After}.
 *
 * <p>It is made for a Tomcat on virtual threads: each waiting request parks its thread, which is cheap for a virtual thread but would take
 * a platform thread from the pool. Write {@code <Valve className="dev.threadcount.executors.RequestLimitValve" maxConcurrent="200"
 * maxQueue="1000" queueTimeoutMs="1000"/>} into an Engine, a Host or a Context, or use {@code addEngineValves} in a Spring Boot
 * application. {@link BoundedVirtualThreadExecutor} adds it itself.
 */
public final class RequestLimitValve extends ValveBase {
    private final RequestLimits limits;
    /** The note for a slot of this valve. Limits of an Engine and of a Context in it must not take each other's slots. */
    private final String slotNote = RequestLimitValve.class.getName() + "@" + System.identityHashCode(this);

    private String name = "requests";
    private volatile RequestSlots slots;
    private ObjectName registered;

    /** Made by Tomcat from server.xml. */
    public RequestLimitValve() {
        this(new RequestLimits());
    }

    RequestLimitValve(RequestLimits limits) {
        super(true);
        this.limits = limits;
    }

    /**
     * Sets the attribute {@code maxConcurrent}.
     *
     * @param requests requests that run at most at once; 200 if not set
     */
    public void setMaxConcurrent(int requests) {
        limits.maxConcurrent = requests;
    }

    /**
     * Sets the attribute {@code maxQueue}.
     *
     * @param requests requests that wait at most at once; 1,000 if not set, 0 for no queue
     */
    public void setMaxQueue(int requests) {
        limits.maxQueue = requests;
    }

    /**
     * Sets the attribute {@code queueTimeoutMs}.
     *
     * @param milliseconds the longest that a request waits for its slot; 1,000 if not set
     */
    public void setQueueTimeoutMs(long milliseconds) {
        limits.queueTimeoutMs = milliseconds;
    }

    /**
     * Sets the attribute {@code retryAfterSeconds}.
     *
     * @param seconds the {@code Retry-After} of a rejected request; 1 if not set
     */
    public void setRetryAfterSeconds(int seconds) {
        limits.retryAfterSeconds = seconds;
    }

    /**
     * Sets the attribute {@code rejectionStatus}.
     *
     * @param status the status of a rejected request; 503 if not set. Tomcat closes an HTTP/1.1 connection after every
     *     503, and keeps it after a 429
     */
    public void setRejectionStatus(int status) {
        limits.rejectionStatus = status;
    }

    /**
     * Sets the attribute {@code name}.
     *
     * @param name the name in JMX: {@code dev.threadcount:type=RequestLimit,name=NAME}; {@code requests} if not set
     */
    public void setName(String name) {
        this.name = name;
    }

    @Override
    protected void startInternal() throws LifecycleException {
        limits.check();
        slots = new RequestSlots(limits);
        try {
            registered = RequestLimitBean.register(name, limits, slots);
        } catch (JMException cause) {
            throw new LifecycleException("the request limit " + name + " cannot be registered with JMX", cause);
        }
        super.startInternal();
    }

    @Override
    protected void stopInternal() throws LifecycleException {
        super.stopInternal();
        if (registered == null) {
            return;
        }
        try {
            RequestLimitBean.unregister(registered);
        } catch (JMException cause) {
            throw new LifecycleException("the request limit " + name + " is no longer registered with JMX", cause);
        } finally {
            registered = null;
        }
    }

    @Override
    public void invoke(Request request, Response response) throws IOException, ServletException {
        if (request.getNote(slotNote) != null) {
            // A dispatched asynchronous request comes here again, and still has its slot.
            getNext().invoke(request, response);
            return;
        }
        RequestSlots entered = slots;
        if (entered.acquire() != RequestSlots.Admission.ADMITTED) {
            reject(response);
            return;
        }
        var slot = new HeldSlot(entered, request, slotNote);
        request.setNote(slotNote, slot);
        try {
            getNext().invoke(request, response);
        } finally {
            slot.releaseNowOrWhenComplete();
        }
    }

    /**
     * Rejects a request without an error page. That page is made in the Host, which a rejected request does not reach, and would cost more
     * than the request.
     */
    private void reject(Response response) throws IOException {
        byte[] text = "The server is busy. Try again later.\n".getBytes(StandardCharsets.US_ASCII);
        response.setStatus(limits.rejectionStatus);
        response.setHeader("Retry-After", Integer.toString(limits.retryAfterSeconds));
        response.setContentType("text/plain;charset=US-ASCII");
        response.setContentLength(text.length);
        response.getOutputStream().write(text);
    }
}
