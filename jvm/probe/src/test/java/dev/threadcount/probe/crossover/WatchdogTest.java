package dev.threadcount.probe.crossover;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.concurrent.SynchronousQueue;
import org.junit.jupiter.api.Test;

class WatchdogTest {
    private final SynchronousQueue<String> ends = new SynchronousQueue<>();

    @Test
    void silenceEndsTheSession() throws InterruptedException {
        start(new Watchdog(() -> true, () -> null, this::end));
        assertEquals("No command came for 800 ms.", ends.take());
    }

    @Test
    void sessionThatIsOverEnds() throws InterruptedException {
        start(new Watchdog(() -> false, () -> "The server has been stopped.", this::end));
        assertEquals("The server has been stopped.", ends.take());
    }

    @Test
    void exceptionOfOursEndsTheSession() throws InterruptedException {
        start(new Watchdog(() -> false, () -> {
            throw new IllegalStateException("broken");
        }, this::end));
        assertEquals("The watchdog failed: java.lang.IllegalStateException: broken.", ends.take());
    }

    private void end(String why) {
        try {
            ends.put(why);
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
    }

    private static void start(Watchdog watchdog) {
        Thread.ofPlatform().daemon().start(watchdog);
    }
}
