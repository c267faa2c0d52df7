package dev.threadcount.probe;

import dev.threadcount.probe.stacks.JvmAccess;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Finds the queues, locks and latches to which the own work of each platform thread refers. The thread may take from them or give to them.
 */
final class References {
    private static final String CONCURRENT = "java.util.concurrent.";
    private static final int STEPS = 3;
    private static final int MOST_THREADS = 2_000;
    private static final int MOST_OBJECTS = 500;
    /** The fields of JDK classes that lead to the object for which a thread is parked. */
    private static final String[] PARTS = {"sync", "lock", "putLock", "takeLock"};

    private final JvmAccess jvm;
    private final Map<Object, Set<Long>> users = new IdentityHashMap<>();

    References(JvmAccess jvm, List<Thread> threads) {
        this.jvm = jvm;
        threads.stream().filter(thread -> !thread.isVirtual()).limit(MOST_THREADS).forEach(this::read);
    }

    /** The threads whose work refers to this synchronizer. */
    Set<Long> to(Object synchronizer) {
        return users.getOrDefault(synchronizer, Set.of());
    }

    private void read(Thread thread) {
        Map<Object, Boolean> known = new IdentityHashMap<>();
        List<Object> reached = new ArrayList<>(List.of(thread));
        Object task = jvm.taskOf(thread);
        if (task != null) {
            reached.add(task);
        }
        for (int step = 0; step <= STEPS; step++) {
            List<Object> next = new ArrayList<>();
            for (Object at : reached) {
                if (known.size() > MOST_OBJECTS || known.put(at, true) != null) {
                    continue;
                }
                if (at.getClass().getName().startsWith(CONCURRENT)) {
                    add(at, thread.threadId(), 0);
                } else {
                    next.addAll(ObjectGraph.referred(at));
                }
            }
            reached = next;
        }
    }

    private void add(Object part, long thread, int depth) {
        users.computeIfAbsent(part, any -> new HashSet<>()).add(thread);
        for (String name : PARTS) {
            Object inner = depth > 2 ? null : jvm.fieldOf(part, name);
            if (inner != null) {
                add(inner, thread, depth + 1);
            }
        }
    }
}
