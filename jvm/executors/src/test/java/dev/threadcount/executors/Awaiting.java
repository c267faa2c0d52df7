package dev.threadcount.executors;

import static org.junit.jupiter.api.Assertions.fail;

import java.util.concurrent.Callable;

/** Waits for what another thread will do: as long as it takes, and a minute at most. */
final class Awaiting {
    private Awaiting() {}

    static void until(Callable<Boolean> condition) throws Exception {
        long end = System.nanoTime() + 60_000_000_000L;
        while (!condition.call()) {
            if (System.nanoTime() > end) {
                fail("did not happen within a minute");
            }
            Thread.sleep(1);
        }
    }
}
