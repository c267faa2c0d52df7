package dev.threadcount.executors;

import jakarta.servlet.AsyncEvent;
import jakarta.servlet.AsyncListener;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.catalina.connector.Request;

/**
 * The slot of one request. It is released exactly once: when the request's thread returns, or when the asynchronous request is complete.
 */
final class HeldSlot implements AsyncListener {
    private final RequestSlots slots;
    private final Request request;
    private final String note;
    private final AtomicBoolean isReleased = new AtomicBoolean();

    HeldSlot(RequestSlots slots, Request request, String note) {
        this.slots = slots;
        this.request = request;
        this.note = note;
    }

    /**
     * Releases the slot, now or when the request is complete. Called on the request's own thread. Nothing completes the request before this
     * thread has left the container, so the listener is in time even if the application has called {@code complete} already.
     */
    void releaseNowOrWhenComplete() {
        if (request.isAsync()) {
            request.getAsyncContextInternal().addListener(this);
        } else {
            release();
        }
    }

    private void release() {
        if (isReleased.compareAndSet(false, true)) {
            // This comes before the slot, because Tomcat reuses the request object for the next request.
            request.removeNote(note);
            slots.release();
        }
    }

    @Override
    public void onComplete(AsyncEvent event) {
        release();
    }

    /** Listens again if a dispatched request becomes asynchronous once more, because Tomcat has forgotten its listeners. */
    @Override
    public void onStartAsync(AsyncEvent event) {
        event.getAsyncContext().addListener(this);
    }

    /** Does nothing: afterwards Tomcat completes the request, unless the application does, and calls {@link #onComplete}. */
    @Override
    public void onTimeout(AsyncEvent event) {
        // The request still runs.
    }

    /**
     * Releases the slot already here. If a servlet throws after {@code startAsync}, Tomcat (10.0 to 11.0) closes the connection and never
     * completes the request. If an application dispatches the request in its own {@code onError}, it takes another slot.
     */
    @Override
    public void onError(AsyncEvent event) {
        release();
    }
}
