package dev.threadcount.probe.inside;

import java.lang.reflect.AccessibleObject;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;

/** The descriptor for which each virtual thread waits, from the JDK's pollers. The caller has seen such a thread, so the pollers exist. */
final class PolledDescriptors {
    private final Field read;
    private final Field write;
    private final Method readers;
    private final Method writers;
    private final Field threads;

    private PolledDescriptors(Class<?> poller) throws ReflectiveOperationException {
        boolean hasArrays = Runtime.version().feature() < 22;
        read = hasArrays ? open(poller.getDeclaredField("READ_POLLERS")) : null;
        write = hasArrays ? open(poller.getDeclaredField("WRITE_POLLERS")) : null;
        readers = hasArrays ? null : open(poller.getDeclaredMethod("readPollers"));
        writers = hasArrays ? null : open(poller.getDeclaredMethod("writePollers"));
        threads = open(poller.getDeclaredField("map"));
    }

    /** Returns null if this JVM has different pollers. It does not create them. */
    static PolledDescriptors find() {
        try {
            return new PolledDescriptors(Class.forName("sun.nio.ch.Poller", false, null));
        } catch (ReflectiveOperationException | RuntimeException another) {
            return null;
        }
    }

    Map<Thread, Integer> now() {
        Map<Thread, Integer> found = new IdentityHashMap<>();
        try {
            add(read == null ? (List<?>) readers.invoke(null) : List.of((Object[]) read.get(null)), found);
            add(write == null ? (List<?>) writers.invoke(null) : List.of((Object[]) write.get(null)), found);
        } catch (ReflectiveOperationException | RuntimeException another) {
            return Map.of();
        }
        return found;
    }

    private void add(List<?> pollers, Map<Thread, Integer> found) throws IllegalAccessException {
        for (Object poller : pollers) {
            ((Map<?, ?>) threads.get(poller)).forEach((descriptor, thread) -> found.put((Thread) thread, (Integer) descriptor));
        }
    }

    private static <T extends AccessibleObject> T open(T member) {
        member.setAccessible(true);
        return member;
    }
}
