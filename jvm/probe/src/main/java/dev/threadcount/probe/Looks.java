package dev.threadcount.probe;

import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;

/**
 * When something was looked at, and how many events one that was seen stands for. The JVM tells of an event only if it is
 * asked to at its beginning and at its end, so a look sees events that lie within it: of those that last {@code d}, at
 * random, the share {@code (look - d) / round}, the inverse of which is the weight (Horvitz and Thompson, 1952). Events
 * that are longer than a look are not seen by it.
 *
 * <p>Written by the thread that looks, read by the event stream's thread.
 */
final class Looks {
    /** So many are remembered, an hour or more of them: an event is told when it ends. */
    private static final int REMEMBERED = 3_600;

    /** @param roundNs the time that it stands for; 0 for a look that goes on without a break */
    private record Look(long lengthNs, long roundNs) {}

    private final ConcurrentSkipListMap<Long, Look> byBegin = new ConcurrentSkipListMap<>();

    /** A look without a break begins or, with its length, has ended: each event in it stands for itself. */
    void throughout(long fromNs, long lengthNs) {
        remember(fromNs, new Look(lengthNs, 0));
    }

    /** A look at a part of a round begins or has ended; before it ends, both lengths are those that are planned. */
    void partOf(long roundNs, long fromNs, long lengthNs) {
        remember(fromNs, new Look(lengthNs, roundNs));
    }

    private void remember(long fromNs, Look look) {
        byBegin.put(fromNs, look);
        if (byBegin.size() > REMEMBERED) {
            byBegin.pollFirstEntry();
        }
    }

    /** How many events this one stands for; 0 for one that nobody looked for. */
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
