package dev.threadcount.probe.stacks;

import java.util.Locale;

/** The purpose of a thread's work. */
public enum Role {
    /** It handles a request of a server. */
    REQUEST,
    /** It runs code of the application below no known server: a background job, or a request of an unknown server. */
    APPLICATION,
    /** It runs code of the application for the event loop of a client. That is a request if a server is known. */
    CLIENT,
    /** It has no frames yet or any more. That is a request if a known server runs its requests on such threads. */
    UNKNOWN,
    /** A thread of a pool that has no work. */
    WORKER,
    /** It has another purpose, such as acceptors, pollers, timers and the JVM's own threads. */
    OTHER;

    /** The name in the lines. */
    public String wireName() {
        return name().toLowerCase(Locale.ROOT);
    }
}
