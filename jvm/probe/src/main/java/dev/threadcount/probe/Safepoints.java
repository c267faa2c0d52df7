package dev.threadcount.probe;

import java.util.Map;

/** The stops of all threads. Both ends of each are an event, and the flight recorder may hand over the second one first. */
final class Safepoints {
    /** Of some, the other end is not in the recording. */
    private static final int MOST_OPEN = 100;

    /** What is done with each stop. */
    interface Stop {
        void between(long beginNs, long endNs);
    }

    private final Map<Long, Long> open = new BoundedMap<>(MOST_OPEN);
    private final Stop stop;

    Safepoints(Stop stop) {
        this.stop = stop;
    }

    /** Either end of a stop: the one that is earlier is its beginning. */
    void addEnd(long id, long timeNs) {
        Long otherNs = open.remove(id);
        if (otherNs == null) {
            open.put(id, timeNs);
        } else {
            stop.between(Math.min(timeNs, otherNs), Math.max(timeNs, otherNs));
        }
    }
}
