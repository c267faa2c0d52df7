package dev.threadcount.executors;

import static org.junit.jupiter.api.Assertions.fail;

import java.util.concurrent.Callable;

/** Waits up to a minute until another thread has done something. */
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
