package dev.threadcount.probe.crossover;

import dev.threadcount.probe.JsonLine;

/**
 * Tasks of a period, or of all periods of a treatment.
 *
 * @param handedOver by the server to the executor
 * @param virtual began on a virtual thread
 * @param platform began on a platform thread
 * @param ended ran to their end
 * @param rejected by the server's own executor: they never run
 * @param fellBack ran on the server's own executor instead of the threads that were asked for
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
        // Read one after the other, the sums of tasks that come and go may differ by those that came between.
        return line.put("handed_over", handedOver).put("began", began()).put("ended", ended)
                .put("running", Math.max(0, began() - ended)).put("queued", Math.max(0, handedOver - rejected - began()))
                .put("virtual", virtual).put("platform", platform)
                .put("rejected", rejected).put("fell_back", fellBack);
    }
}
