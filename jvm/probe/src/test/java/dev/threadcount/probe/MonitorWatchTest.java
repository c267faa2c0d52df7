package dev.threadcount.probe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import jdk.jfr.Recording;
import org.junit.jupiter.api.Test;

class MonitorWatchTest {
    /** How often the event is switched off within four seconds of a busy JVM that has so many recordings. */
    private static int changes(int recordings) throws InterruptedException {
        List<Recording> running = new ArrayList<>();
        AtomicInteger off = new AtomicInteger();
        AtomicBoolean done = new AtomicBoolean();
        List<Thread> threads = new ArrayList<>();
        try {
            for (int i = 0; i < recordings; i++) {
                running.add(new Recording());
                running.getLast().start();
            }
            threads.add(OwnThreads.start("-test", new MonitorWatch(() -> { }, off::incrementAndGet)));
            for (int i = 0; i < Runtime.getRuntime().availableProcessors(); i++) {
                threads.add(OwnThreads.start("-busy", () -> {
                    while (!done.get()) {
                        Thread.onSpinWait();
                    }
                }));
            }
            Thread.sleep(4_000);
            return off.get();
        } finally {
            done.set(true);
            threads.getFirst().interrupt();
            for (Thread thread : threads) {
                thread.join();
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
