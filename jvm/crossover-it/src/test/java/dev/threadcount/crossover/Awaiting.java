package dev.threadcount.crossover;

import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;

/** Waits for a state. How long it takes is not tested. */
final class Awaiting {
    private static final long LIMIT_NS = TimeUnit.SECONDS.toNanos(30);

    private Awaiting() {}

    static void until(String what, Callable<Boolean> isReached) throws Exception {
        long until = System.nanoTime() + LIMIT_NS;
        while (!isReached.call()) {
            if (System.nanoTime() > until) {
                throw new AssertionError("not within 30 s: " + what);
            }
            TimeUnit.MILLISECONDS.sleep(20);
        }
    }
}
