package dev.threadcount.probe;

import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;

/** A histogram of delays, with eight steps per octave. One thread adds while another takes, and neither waits. */
final class Delays {
    /** The number of steps in each octave of microseconds. */
    private static final int STEPS = 8;
    private static final int STEP_BITS = 3;
    /** The number of octaves, enough for about two hours. */
    private static final int OCTAVES = 30;

    private final AtomicLongArray counts = new AtomicLongArray(STEPS * OCTAVES);
    private final AtomicLong longestNs = new AtomicLong();

    /**
     * The delays that were added since the last time.
     *
     * @param count how many
     * @param longestNs the longest
     * @param atMost for each step that occurs, in rising order, its largest microseconds and its count, as {@code 40:3 48:1}
     */
    record Taken(long count, long longestNs, String atMost) {}

    /**
     * Adds a delay for each period between the time at which somebody was due and the time at which it came, because
     * others who were due in between would not have come sooner.
     *
     * @param periods the number of delays for which the first one stands
     */
    void addAll(long dueNs, long cameNs, long periods) {
        add(cameNs - dueNs, periods);
        for (long ns = dueNs + Canary.PERIOD_NS; ns < cameNs; ns += Canary.PERIOD_NS) {
            add(cameNs - ns, 1);
        }
    }

    private void add(long delayNs, long times) {
        counts.addAndGet(step(Math.max(0, delayNs) / 1_000), times);
        longestNs.accumulateAndGet(delayNs, Math::max);
    }

    Taken take() {
        StringBuilder text = new StringBuilder();
        long all = 0;
        for (int step = 0; step < counts.length(); step++) {
            long count = counts.getAndSet(step, 0);
            if (count > 0) {
                text.append(all == 0 ? "" : " ").append(atMostMicros(step)).append(':').append(count);
                all += count;
            }
        }
        return new Taken(all, longestNs.getAndSet(0), text.toString());
    }

    private static int step(long micros) {
        if (micros < STEPS) {
            return (int) micros;
        }
        int octave = Long.SIZE - 1 - Long.numberOfLeadingZeros(micros) - STEP_BITS;
        long step = (octave + 1L) * STEPS + (micros >> octave) - STEPS;
        return (int) Math.min(step, (long) STEPS * OCTAVES - 1);
    }

    /** The first value of the step after this one. */
    private static long atMostMicros(int step) {
        if (step < STEPS) {
            return step + 1L;
        }
        return (long) (STEPS + step % STEPS + 1) << (step / STEPS - 1);
    }
}
