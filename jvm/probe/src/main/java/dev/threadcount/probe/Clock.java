package dev.threadcount.probe;

import java.time.Duration;
import java.time.Instant;

/**
 * Turns the wall-clock times of JFR events into {@link System#nanoTime()}, which on Linux is the monotonic clock that
 * every process of the machine shares. The two clocks drift apart by adjustments of the wall clock, so the pair is
 * taken anew each time the sampler runs.
 */
final class Clock {
    private volatile Pair pair = Pair.now();

    private record Pair(Instant wall, long monotonicNs) {
        static Pair now() {
            long before = System.nanoTime();
            Instant wall = Instant.now();
            long after = System.nanoTime();
            return new Pair(wall, before + (after - before) / 2);
        }
    }

    void adjust() {
        pair = Pair.now();
    }

    long monotonicNs(Instant wall) {
        Pair now = pair;
        return now.monotonicNs() + Duration.between(now.wall(), wall).toNanos();
    }
}
