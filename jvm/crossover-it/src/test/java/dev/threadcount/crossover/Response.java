package dev.threadcount.crossover;

/**
 * A request that was answered. Times are {@link System#nanoTime()}, which on Linux is one clock for all processes.
 *
 * @param sentNs before its first byte was sent
 * @param receivedNs after its last byte was received
 * @param thread kind and name of the thread that ran it
 */
record Response(long sentNs, long receivedNs, String thread) {}
