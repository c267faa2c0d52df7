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

    private final Map<Long, Long> begins = new BoundedMap<>(MOST_OPEN);
    private final Map<Long, Long> ends = new BoundedMap<>(MOST_OPEN);
    private final Stop stop;

    Safepoints(Stop stop) {
        this.stop = stop;
    }

    void begin(long id, long timeNs) {
        Long endNs = ends.remove(id);
        if (endNs == null) {
            begins.put(id, timeNs);
        } else {
            stop.between(timeNs, endNs);
        }
    }

    void end(long id, long timeNs) {
        Long beginNs = begins.remove(id);
        if (beginNs == null) {
            ends.put(id, timeNs);
        } else {
            stop.between(beginNs, timeNs);
        }
    }
}
