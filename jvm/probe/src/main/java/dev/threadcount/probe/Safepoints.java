package dev.threadcount.probe;

import java.util.Map;

/** Pairs the two events of each stop of all threads. The flight recorder may hand over the second event first. */
final class Safepoints {
    /** The largest number of stops whose other event may be missing, since some are not in the recording. */
    private static final int MOST_OPEN = 100;

    /** Takes in a stop. */
    interface Stop {
        void between(long beginNs, long endNs);
    }

    private final Map<Long, Long> open = new BoundedMap<>(MOST_OPEN);
    private final Stop stop;

    Safepoints(Stop stop) {
        this.stop = stop;
    }

    /** Takes in either end of a stop. The earlier one is its beginning. */
    void addEnd(long id, long timeNs) {
        Long otherNs = open.remove(id);
        if (otherNs == null) {
            open.put(id, timeNs);
        } else {
            stop.between(Math.min(timeNs, otherNs), Math.max(timeNs, otherNs));
        }
    }
}
