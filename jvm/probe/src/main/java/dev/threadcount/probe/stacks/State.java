package dev.threadcount.probe.stacks;

import java.util.Locale;

/** What a thread does at the moment of a sample. */
public enum State {
    /** It runs, or could run and waits for a core. */
    RUNNING,
    /** A virtual thread that could run and has no carrier. */
    CARRIER,
    /** It waits to enter a synchronized block or method. */
    MONITOR,
    /** It waits for a lock of java.util.concurrent. */
    LOCK,
    SEMAPHORE,
    /** It waits for a connection of a pool. */
    POOL,
    /** It reads from a socket. */
    SOCKET,
    /** It waits for a connection to be made. */
    CONNECT,
    /** It writes to a socket that takes no more. */
    SOCKET_WRITE,
    /** It looks up the address of a host. */
    NAME_LOOKUP,
    /** It waits for an element of a queue, or for room in one. */
    QUEUE,
    /** It waits for the result of another thread or of an asynchronous call. */
    FUTURE,
    SLEEP,
    FILE,
    CLASS_LOADING,
    /** It waits for many channels at once, or for new connections. */
    SELECT,
    /** It waits in native code, of which the kernel knows no more than that. */
    NATIVE,
    /** It waits for a condition, a notification, or something that is not known. */
    WAIT;

    /** As the lines have it. */
    public String wireName() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
