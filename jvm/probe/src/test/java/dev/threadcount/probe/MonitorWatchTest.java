package dev.threadcount.probe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import jdk.jfr.Recording;
import org.junit.jupiter.api.Test;

class MonitorWatchTest {
    /** How often the event is switched off within four seconds of a busy JVM that has so many recordings. */
    private static int changes(int recordings) throws InterruptedException {
        List<Recording> running = new ArrayList<>();
        AtomicInteger off = new AtomicInteger();
        Thread watching = null;
        try {
            for (int i = 0; i < recordings; i++) {
                running.add(new Recording());
                running.getLast().start();
            }
            watching = OwnThreads.start("-test", new MonitorWatch(() -> { }, off::incrementAndGet, () -> true));
            Thread.sleep(4_000);
            return off.get();
        } finally {
            if (watching != null) {
                watching.interrupt();
                watching.join();
            }
            running.forEach(Recording::close);
        }
    }

    @Test
    void eventIsSwitchedForOurselvesAloneButNeverBesideAnotherRecording() throws InterruptedException {
        assertTrue(changes(1) > 0);
        assertEquals(0, changes(2));
    }
}
