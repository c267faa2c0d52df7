package dev.threadcount.executors;

import jakarta.servlet.AsyncEvent;
import jakarta.servlet.AsyncListener;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.catalina.connector.Request;

/** The slot of one request, given back exactly once: when its thread returns, or when the asynchronous request is complete. */
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
     * Called on the request's own thread. Until that has left the container nothing completes the request, so the listener is
     * in time even if the application has called {@code complete} already.
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
            // Before the slot: Tomcat uses the request object again for the next request.
            request.removeNote(note);
            slots.release();
        }
    }

    @Override
    public void onComplete(AsyncEvent event) {
        release();
    }

    /** A dispatched request that became asynchronous once more: Tomcat has forgotten the listeners of the first time. */
    @Override
    public void onStartAsync(AsyncEvent event) {
        event.getAsyncContext().addListener(this);
    }

    /** Tomcat completes the request after this, unless the application does, and then calls {@link #onComplete}. */
    @Override
    public void onTimeout(AsyncEvent event) {
        // The request still runs.
    }

    /**
     * Given back already here: Tomcat (10.0 to 11.0) closes the connection of a servlet that throws after {@code startAsync}, and never
     * completes the request. An application that dispatches it in its own {@code onError} takes a slot anew.
     */
    @Override
    public void onError(AsyncEvent event) {
        release();
    }
}
