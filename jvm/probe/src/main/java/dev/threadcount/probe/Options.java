package dev.threadcount.probe;

import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;

/**
 * The options of the probe, as {@code key=value} pairs joined by commas in the agent's argument. A path may be percent-encoded, so that it
 * may contain commas.
 *
 * @param out where the lines go: {@code file:PATH} or {@code unix:PATH} (a listening Unix socket)
 * @param level the readings that the probe takes
 * @param period time between two readings
 * @param pinnedThreshold the shortest pin that is counted
 * @param recording where the JFR file goes when the probe ends; null for none
 * @param eventsOptional whether the probe continues without the flight recorder's events if the JVM cannot bear a recording
 * @param limit how long the locks may take
 */
record Options(Out out, Level level, Duration period, Duration pinnedThreshold, Path recording, boolean eventsOptional, Duration limit) {
    /** The readings that the probe takes. */
    enum Level {
        /** Readings, GC, pins, samples of threads: cheap enough to leave on while measuring. */
        LIGHT,
        /** No readings: the locks that threads wait for are written once. */
        LOCKS,
        /** No readings: the other end of the socket sends commands that switch the threads of requests. */
        CROSSOVER
    }

    /**
     * Where the lines go.
     *
     * @param path the file or socket
     * @param socket true for a Unix socket
     */
    record Out(Path path, boolean socket) {}

    /**
     * Reads the agent's argument.
     *
     * @throws IllegalArgumentException when a key is unknown or a value does not fit; the message names it
     */
    static Options parse(String argument) {
        Out out = null;
        Level level = Level.LIGHT;
        Duration period = Duration.ofMillis(500);
        Duration pinnedThreshold = Duration.ZERO;
        Path recording = null;
        boolean eventsOptional = false;
        Duration limit = Duration.ofSeconds(5);
        for (String pair : argument == null || argument.isBlank() ? new String[0] : argument.split(",")) {
            int equals = pair.indexOf('=');
            String key = equals < 0 ? pair : pair.substring(0, equals);
            String value = equals < 0 ? "" : pair.substring(equals + 1);
            switch (key) {
                case "out" -> out = parseOut(value);
                case "level" -> level = parseLevel(value);
                case "period_ms" -> period = millis(key, value);
                case "pinned_ms" -> pinnedThreshold = millis(key, value);
                case "limit_ms" -> limit = millis(key, value);
                case "jar" -> { }
                case "jfr" -> recording = path(value);
                case "events" -> eventsOptional = value.equals("optional");
                default -> throw new IllegalArgumentException(
                        "unknown key '" + key + "': there are out, level, period_ms, pinned_ms, limit_ms, jfr, events and jar");
            }
        }
        if (out == null) {
            throw new IllegalArgumentException("out=file:PATH or out=unix:PATH is missing");
        }
        if (level == Level.CROSSOVER && !out.socket()) {
            throw new IllegalArgumentException("level=crossover needs out=unix:PATH");
        }
        return new Options(out, level, period, pinnedThreshold, recording, eventsOptional, limit);
    }

    private static Out parseOut(String value) {
        if (value.startsWith("file:")) {
            return new Out(path(value.substring(5)), false);
        }
        if (value.startsWith("unix:")) {
            return new Out(path(value.substring(5)), true);
        }
        throw new IllegalArgumentException("out must be file:PATH or unix:PATH, not '" + value + "'");
    }

    private static Path path(String encoded) {
        // A plus sign means a space in a query, but a plus sign in a path.
        return Path.of(URLDecoder.decode(encoded.replace("+", "%2B"), StandardCharsets.UTF_8));
    }

    private static Level parseLevel(String value) {
        return switch (value) {
            case "light" -> Level.LIGHT;
            case "locks" -> Level.LOCKS;
            case "crossover" -> Level.CROSSOVER;
            default -> throw new IllegalArgumentException("level must be light, locks or crossover, not '" + value + "'");
        };
    }

    private static Duration millis(String key, String value) {
        if (!value.matches("\\d{1,7}")) {
            throw new IllegalArgumentException(key + " must be a whole number of milliseconds, not '" + value + "'");
        }
        return Duration.ofMillis(Long.parseLong(value));
    }
}
