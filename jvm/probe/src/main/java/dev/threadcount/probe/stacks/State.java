package dev.threadcount.probe.stacks;

import java.util.Locale;

/** The state of a thread at the moment of a sample. */
public enum State {
    /** It runs, or is runnable and waits for a core. */
    RUNNING,
    /** It is a runnable virtual thread without a carrier. */
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
    /** It waits in native code, and the kernel does not know for what. */
    NATIVE,
    /** It waits for a condition, a notification, or something unknown. */
    WAIT;

    /** The name in the lines. */
    public String wireName() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
