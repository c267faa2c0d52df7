package dev.threadcount.probe.crossover;

import java.time.Instant;
import java.time.temporal.ChronoUnit;

/** Allows one crossover at a time in a JVM. Each session has its own class loader, so a static field would not do. */
final class SessionClaim {
    static final String PROPERTY = "threadcount.crossover";

    private final String value;

    private SessionClaim(String value) {
        this.value = value;
    }

    /** @throws IllegalStateException when another session has the claim; the message is a sentence */
    static SessionClaim take() {
        String value = Instant.now().truncatedTo(ChronoUnit.SECONDS).toString();
        Object other = System.getProperties().putIfAbsent(PROPERTY, value);
        if (other != null) {
            throw new IllegalStateException("Another crossover has been running in this JVM since " + other
                    + ". Only one can run at a time.");
        }
        return new SessionClaim(value);
    }

    void release() {
        System.getProperties().remove(PROPERTY, value);
    }
}
