package dev.threadcount.executors;

import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;

/**
 * The slots in which requests run, and the queue before them: first in, first out.
 *
 * <p>A fair semaphore parks a waiting virtual thread without its carrier. Its queue has no bound, so threads are counted before they join
 * it.
 */
final class RequestSlots {
    enum Admission {
        ADMITTED,
        QUEUE_FULL,
        TIMED_OUT
    }

    private final RequestLimits limits;
    private final Semaphore slots;
    private final AtomicInteger queued = new AtomicInteger();
    private final LongAdder admitted = new LongAdder();
    private final LongAdder rejected = new LongAdder();
    private final LongAdder timedOut = new LongAdder();

    RequestSlots(RequestLimits limits) {
        this.limits = limits;
        this.slots = new Semaphore(limits.maxConcurrent, true);
    }

    /** Waits for a slot. An interrupt, when the server stops, counts as a rejection because the request never ran. */
    Admission acquire() {
        Admission admission;
        try {
            admission = takeSlotOrWait();
        } catch (InterruptedException stopping) {
            Thread.currentThread().interrupt();
            admission = Admission.QUEUE_FULL;
        }
        switch (admission) {
            case ADMITTED -> admitted.increment();
            case QUEUE_FULL -> rejected.increment();
            case TIMED_OUT -> timedOut.increment();
        }
        return admission;
    }

    void release() {
        slots.release();
    }

    private Admission takeSlotOrWait() throws InterruptedException {
        // The plain tryAcquire() would overtake waiting threads; the timed one does not.
        if (slots.tryAcquire(0, TimeUnit.NANOSECONDS)) {
            return Admission.ADMITTED;
        }
        if (!joinQueue()) {
            return Admission.QUEUE_FULL;
        }
        try {
            boolean hasSlot = slots.tryAcquire(limits.queueTimeoutMs, TimeUnit.MILLISECONDS);
            return hasSlot ? Admission.ADMITTED : Admission.TIMED_OUT;
        } finally {
            queued.decrementAndGet();
        }
    }

    private boolean joinQueue() {
        int most = limits.maxQueue;
        return queued.getAndUpdate(waiting -> waiting < most ? waiting + 1 : waiting) < most;
    }

    int running() {
        return limits.maxConcurrent - slots.availablePermits();
    }

    int queued() {
        return queued.get();
    }

    /** The number of threads in the semaphore's queue, whose turns are fixed. Only for tests, because it walks through the queue. */
    int waiting() {
        return slots.getQueueLength();
    }

    long admitted() {
        return admitted.sum();
    }

    long rejected() {
        return rejected.sum();
    }

    long timedOut() {
        return timedOut.sum();
    }
}
