package dev.threadcount.probe.stacks;

import java.util.function.Consumer;

/** The threads of a JVM as they come and go: every platform thread but the JVM's hidden ones, and every virtual one. */
public interface ThreadList {
    /** Of {@link #virtualThreads}. */
    int UNKNOWN = -1;

    /** How many virtual threads there are, about; {@link #UNKNOWN} where a part of them cannot be listed, or would tell little. */
    int virtualThreads();

    /**
     * Passes every platform thread, and of the virtual ones one in so many, each with the same chance. How many these are is chance.
     *
     * @param oneIn a power of two; 1 where the number of virtual threads is unknown
     */
    void forEach(int oneIn, Consumer<Thread> consumer);
}
