package dev.threadcount.probe.crossover;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The threads on which requests run.
 *
 * @param kind the kind of thread
 * @param limit the largest number of requests that run at once; 0 for no limit, and for the server's own executor
 */
public record Treatment(Kind kind, int limit) {
    /** The kind of thread. */
    public enum Kind {
        /** The executor with which the server was configured. */
        OWN,
        /** A virtual thread per task. */
        VIRTUAL,
        /** A pool of platform threads with a FIFO queue. */
        PLATFORM
    }

    static final Treatment OWN = new Treatment(Kind.OWN, 0);
    private static final Pattern LIMITED = Pattern.compile("(platform|virtual)-([1-9]\\d{0,5})");
    /** The limit for platform threads, because each has a stack. */
    private static final int MOST_PLATFORM_THREADS = 10_000;

    /**
     * Reads {@code own}, {@code virtual}, {@code virtual-N} or {@code platform-N}.
     *
     * @throws IllegalArgumentException with a sentence
     */
    static Treatment parse(String text) {
        if (text.equals("own")) {
            return OWN;
        }
        if (text.equals("virtual")) {
            return new Treatment(Kind.VIRTUAL, 0);
        }
        Matcher limited = LIMITED.matcher(text);
        if (!limited.matches()) {
            throw new IllegalArgumentException("unknown treatment '" + text + "': own, virtual, virtual-N and platform-N exist");
        }
        int limit = Integer.parseInt(limited.group(2));
        if (limited.group(1).equals("virtual")) {
            return new Treatment(Kind.VIRTUAL, limit);
        }
        if (limit > MOST_PLATFORM_THREADS) {
            throw new IllegalArgumentException(text + " is more than " + MOST_PLATFORM_THREADS + " platform threads");
        }
        return new Treatment(Kind.PLATFORM, limit);
    }

    boolean isOwn() {
        return kind == Kind.OWN;
    }

    @Override
    public String toString() {
        String name = kind.name().toLowerCase(java.util.Locale.ROOT);
        return limit == 0 ? name : name + "-" + limit;
    }
}
