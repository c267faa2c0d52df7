package dev.threadcount.probe;

import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryType;
import java.lang.management.MemoryUsage;
import java.util.List;

/**
 * Watches the heap and the space for classes while the probe is in the JVM. If the application takes nearly all of them, the thread that gets no
 * more memory may be one of ours, and with {@code -XX:+ExitOnOutOfMemoryError} that ends the JVM.
 */
final class MemoryRoom {
    private static final long HEAP_BYTES = 4L << 20;
    private static final long CLASSES_BYTES = 1L << 20;
    /** The beginning of the names of code caches. A full code cache ends the compiler, but not the JVM. */
    private static final String CODE = "Code";

    private final List<MemoryPoolMXBean> pools = ManagementFactory.getMemoryPoolMXBeans();

    /** The reason why the probe has to leave; null if it may stay. */
    String lack() {
        long livingBytes = 0;
        for (MemoryPoolMXBean pool : pools) {
            if (pool.getType() == MemoryType.HEAP) {
                // The collection usage is null for a pool that no collection empties.
                MemoryUsage living = pool.getCollectionUsage();
                livingBytes += living == null ? 0 : living.getUsed();
            } else if (!pool.getName().startsWith(CODE)) {
                MemoryUsage classes = pool.getUsage();
                String lack = lack(pool.getName(), classes.getCommitted(), classes.getMax(), CLASSES_BYTES);
                if (lack != null) {
                    return lack;
                }
            }
        }
        return lack("heap", livingBytes, Runtime.getRuntime().maxMemory(), HEAP_BYTES);
    }

    /** @param mostBytes -1 for no limit */
    static String lack(String name, long usedBytes, long mostBytes, long neededBytes) {
        return mostBytes < 0 || mostBytes - usedBytes >= neededBytes ? null
                : "the application has taken nearly all of its " + name + ": " + (usedBytes >> 20) + " MiB of " + (mostBytes >> 20) + " MiB";
    }
}
