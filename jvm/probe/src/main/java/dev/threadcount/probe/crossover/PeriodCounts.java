package dev.threadcount.probe.crossover;

import dev.threadcount.probe.JsonLine;

/**
 * Counts of the tasks of a period, or of all periods of a treatment.
 *
 * @param handedOver the server gave them to the executor
 * @param virtual they began on a virtual thread
 * @param platform they began on a platform thread
 * @param ended they ran to their end
 * @param rejected the server's own executor rejected them, and they never run
 * @param fellBack they ran on the server's own executor instead of the threads that were asked for
 */
record PeriodCounts(long handedOver, long virtual, long platform, long ended, long rejected, long fellBack) {
    static final PeriodCounts NONE = new PeriodCounts(0, 0, 0, 0, 0, 0);

    long began() {
        return virtual + platform;
    }

    long remaining() {
        return handedOver - ended - rejected;
    }

    PeriodCounts plus(PeriodCounts other) {
        return new PeriodCounts(handedOver + other.handedOver, virtual + other.virtual, platform + other.platform,
                ended + other.ended, rejected + other.rejected, fellBack + other.fellBack);
    }

    boolean isAsAsked(Treatment treatment) {
        return fellBack == 0 && switch (treatment.kind()) {
            case OWN -> true;
            case VIRTUAL -> platform == 0;
            case PLATFORM -> virtual == 0;
        };
    }

    JsonLine put(JsonLine line) {
        // The sums are read one after the other, so tasks that come and go meanwhile may make a difference negative.
        return line.put("handed_over", handedOver).put("began", began()).put("ended", ended)
                .put("running", Math.max(0, began() - ended)).put("queued", Math.max(0, handedOver - rejected - began()))
                .put("virtual", virtual).put("platform", platform)
                .put("rejected", rejected).put("fell_back", fellBack);
    }
}
