package dev.threadcount.probe;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Counts events by kind, site and second, so that ten thousand pins per second cost one line per second. The lines add
 * up: there may be several for one second. Used by the event stream's thread only.
 */
final class Tally {
    private static final long SECOND_NS = 1_000_000_000L;

    private record Key(String kind, Site site, String reason, long second) {}

    private static final class Sum {
        long count;
        long totalNs;
        long longestNs;
    }

    private final Map<Key, Sum> sums = new LinkedHashMap<>();

    /** Adds an event. Its count belongs to the second in which it ended, its time to all seconds in which it lasted. */
    void add(String kind, Site site, String reason, long startNs, long endNs) {
        long from = startNs;
        for (long second = startNs / SECOND_NS; second < endNs / SECOND_NS; second++) {
            long boundary = (second + 1) * SECOND_NS;
            sum(new Key(kind, site, reason, second)).totalNs += boundary - from;
            from = boundary;
        }
        Sum last = sum(new Key(kind, site, reason, endNs / SECOND_NS));
        last.totalNs += endNs - from;
        last.count++;
        last.longestNs = Math.max(last.longestNs, endNs - startNs);
    }

    private Sum sum(Key key) {
        return sums.computeIfAbsent(key, absent -> new Sum());
    }

    void writeTo(Output output) {
        sums.forEach((key, sum) -> output.write(JsonLine.of(key.kind(), key.second() * SECOND_NS)
                .put("count", sum.count)
                .put("total_ns", sum.totalNs)
                .put("longest_ns", sum.longestNs)
                .put("holder", key.site().holder())
                .put("application", key.site().application())
                .put("top", key.site().top())
                .put("reason", key.reason())));
        sums.clear();
    }
}
