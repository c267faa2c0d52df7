package dev.threadcount.crossover;

/**
 * An answered request. Times are {@link System#nanoTime()}, which on Linux is one clock for all processes.
 *
 * @param sentNs the time before its first byte was sent
 * @param receivedNs the time after its last byte was received
 * @param thread kind and name of the thread that ran it
 */
record Response(long sentNs, long receivedNs, String thread) {}
