package dev.threadcount.probe;

import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;

/** Delays as a histogram with steps of an eighth. One thread adds while another takes; neither waits. */
final class Delays {
    /** In each octave of microseconds. */
    private static final int STEPS = 8;
    private static final int STEP_BITS = 3;
    /** Up to some two hours. */
    private static final int OCTAVES = 30;

    private final AtomicLongArray counts = new AtomicLongArray(STEPS * OCTAVES);
    private final AtomicLong longestNs = new AtomicLong();

    /**
     * What was added since the last time.
     *
     * @param count how many
     * @param longestNs the longest
     * @param atMost for each step that occurs, in rising order: the most microseconds in it, and how many, as {@code 40:3 48:1}
     */
    record Taken(long count, long longestNs, String atMost) {}

    /**
     * Somebody who was due at one time and came at another: a delay for each period between them, because whoever had been due
     * then would have come no sooner.
     *
     * @param periods for how many the first of them stands
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

    /** The first value of the next step. */
    private static long atMostMicros(int step) {
        if (step < STEPS) {
            return step + 1L;
        }
        return (long) (STEPS + step % STEPS + 1) << (step / STEPS - 1);
    }
}
