package dev.threadcount.probe.stacks;

import java.util.Locale;

/** Whose work a thread does. */
public enum Role {
    /** A server handles a request on it. */
    REQUEST,
    /** It runs code of the application, under no server that is known: a job of its own, or a request of an unknown server. */
    APPLICATION,
    /** It runs code of the application for the event loop of a client: a request, if a server is known. */
    CLIENT,
    /** It has no frames yet or no longer: a request, if a server is known to run them on such threads. */
    UNKNOWN,
    /** A thread of a pool that has no work. */
    WORKER,
    /** None of these: acceptors, pollers, timers, the JVM's own threads. */
    OTHER;

    /** As the lines have it. */
    public String wireName() {
        return name().toLowerCase(Locale.ROOT);
    }
}
