package dev.threadcount.executors;

import static dev.threadcount.executors.RequestSlots.Admission.ADMITTED;
import static dev.threadcount.executors.RequestSlots.Admission.QUEUE_FULL;
import static dev.threadcount.executors.RequestSlots.Admission.TIMED_OUT;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

class RequestSlotsTest {
    @Test
    void slotIsTakenAndGivenBack() {
        var slots = slots(2, 0, 0);
        assertEquals(ADMITTED, slots.acquire());
        assertEquals(ADMITTED, slots.acquire());
        assertEquals(2, slots.running());
        assertEquals(QUEUE_FULL, slots.acquire());
        slots.release();
        assertEquals(1, slots.running());
        assertEquals(ADMITTED, slots.acquire());
        assertEquals(List.of(3L, 1L, 0L), List.of(slots.admitted(), slots.rejected(), slots.timedOut()));
    }

    @Test
    void waitEndsAfterItsTime() {
        var slots = slots(1, 1, 20);
        slots.acquire();
        long start = System.nanoTime();
        assertEquals(TIMED_OUT, slots.acquire());
        assertTrue(System.nanoTime() - start >= 20_000_000);
        assertEquals(0, slots.queued());
        assertEquals(1, slots.timedOut());
    }

    @Test
    void queueHoldsAsManyAsItMayAndServesThemInTurn() throws Exception {
        var slots = slots(1, 50, 60_000);
        slots.acquire();
        var served = new CopyOnWriteArrayList<Integer>();
        try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            var waiting = new ArrayList<Future<?>>();
            for (int number = 0; number < 50; number++) {
                int mine = number;
                waiting.add(threads.submit(() -> {
                    assertEquals(ADMITTED, slots.acquire());
                    served.add(mine);
                    slots.release();
                }));
                Awaiting.until(() -> slots.waiting() == mine + 1);
            }
            assertEquals(50, slots.queued());
            assertEquals(QUEUE_FULL, slots.acquire());
            slots.release();
            for (Future<?> request : waiting) {
                request.get();
            }
        }
        var inTurn = new ArrayList<Integer>();
        for (int number = 0; number < 50; number++) {
            inTurn.add(number);
        }
        assertEquals(inTurn, served);
        assertEquals(0, slots.running());
    }

    @Test
    void interruptedWaitIsARejectionAndLeavesNothingBehind() throws Exception {
        var slots = slots(1, 5, 60_000);
        slots.acquire();
        var admission = new ArrayList<RequestSlots.Admission>();
        Thread waiting = Thread.ofVirtual().start(() -> admission.add(slots.acquire()));
        Awaiting.until(() -> slots.waiting() == 1);
        waiting.interrupt();
        waiting.join();
        assertEquals(List.of(QUEUE_FULL), admission);
        assertEquals(0, slots.queued());
        slots.release();
        assertEquals(0, slots.running());
    }

    private static RequestSlots slots(int maxConcurrent, int maxQueue, long queueTimeoutMs) {
        var limits = new RequestLimits();
        limits.maxConcurrent = maxConcurrent;
        limits.maxQueue = maxQueue;
        limits.queueTimeoutMs = queueTimeoutMs;
        return new RequestSlots(limits);
    }
}
