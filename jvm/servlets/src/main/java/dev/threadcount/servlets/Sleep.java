package dev.threadcount.servlets;

import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The time for which a request blocks its thread, as written in a URL: {@code 50}, {@code 50ms} or {@code 1s}.
 *
 * @param duration how long; zero for not at all
 */
record Sleep(Duration duration) {
    private static final Pattern WRITTEN = Pattern.compile("(\\d{1,6})(ms|s)?");

    /**
     * Reads a query parameter.
     *
     * @param written the parameter, or null where it is absent
     * @throws IllegalArgumentException when it is not a duration; the message has the correct form
     */
    static Sleep parse(String written) {
        if (written == null) {
            return new Sleep(Duration.ZERO);
        }
        Matcher parts = WRITTEN.matcher(written);
        if (!parts.matches()) {
            throw new IllegalArgumentException("sleep must be like 50, 50ms or 1s");
        }
        long number = Long.parseLong(parts.group(1));
        return new Sleep("s".equals(parts.group(2)) ? Duration.ofSeconds(number) : Duration.ofMillis(number));
    }

    void blockThisThread() throws InterruptedException {
        if (!duration.isZero()) {
            Thread.sleep(duration);
        }
    }
}
