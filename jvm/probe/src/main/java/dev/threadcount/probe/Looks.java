package dev.threadcount.probe;

import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;

/**
 * Sampling windows of an event, and the weight of an event in them. The JVM records an event only if it is
 * enabled at its beginning and at its end, so a window has the events that lie within it: of those that last {@code d}, at
 * random, the share {@code (window - d) / round}, the inverse of which is the weight (Horvitz and Thompson, 1952). Events
 * that are longer than a window are missed.
 *
 * <p>Written by the sampling thread, read by the event stream's thread.
 */
final class Looks {
    /** Number of windows that are kept, an hour or more of them: an event arrives when it ends. */
    private static final int REMEMBERED = 3_600;

    /** @param roundNs the time that the window stands for; 0 for a continuous one */
    private record Look(long lengthNs, long roundNs) {}

    private final ConcurrentSkipListMap<Long, Look> byBegin = new ConcurrentSkipListMap<>();

    /** A continuous window begins or, with its length, has ended: each event in it has the weight 1. */
    void throughout(long fromNs, long lengthNs) {
        remember(fromNs, new Look(lengthNs, 0));
    }

    /** A window in a round begins or has ended; before it ends, both lengths are the planned ones. */
    void partOf(long roundNs, long fromNs, long lengthNs) {
        remember(fromNs, new Look(lengthNs, roundNs));
    }

    private void remember(long fromNs, Look look) {
        byBegin.put(fromNs, look);
        if (byBegin.size() > REMEMBERED) {
            byBegin.pollFirstEntry();
        }
    }

    /** The weight of an event; 0 outside of all windows. */
    double weight(long beganNs, long endedNs) {
        Map.Entry<Long, Look> before = byBegin.floorEntry(beganNs);
        if (before == null) {
            return 0;
        }
        Look look = before.getValue();
        if (endedNs - before.getKey() >= look.lengthNs()) {
            return 0;
        }
        return look.roundNs() == 0 ? 1 : (double) look.roundNs() / (look.lengthNs() - (endedNs - beganNs));
    }
}
