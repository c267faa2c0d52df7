package dev.threadcount.probe.stacks;

import java.util.function.Consumer;

/** The threads of a JVM as they come and go: every virtual thread, and every platform thread except the JVM's hidden ones. */
public interface ThreadList {
    /** The value of {@link #virtualThreads} if it is unknown. */
    int UNKNOWN = -1;

    /** The approximate number of virtual threads. {@link #UNKNOWN} if a part of them cannot be listed, or would say little. */
    int virtualThreads();

    /**
     * Passes every platform thread, and each virtual thread with the same chance.
     *
     * @param oneIn a power of two: one in this number of virtual threads is passed on average; 1 if their number is unknown
     */
    void forEach(int oneIn, Consumer<Thread> consumer);
}
