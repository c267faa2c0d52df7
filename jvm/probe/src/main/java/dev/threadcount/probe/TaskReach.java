package dev.threadcount.probe;

import dev.threadcount.probe.stacks.JvmAccess;
import java.lang.ref.Reference;
import java.util.ArrayList;
import java.util.Collection;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;

/** Finds the objects to which a task of the application leads within a few steps. The task may complete them when it runs. */
final class TaskReach {
    private static final int STEPS = 6;
    private static final int MOST_OF_TASK = 200;
    private static final int MOST_ELEMENTS = 100;
    /** The fields of a latch, a queue or a subclass, with the object for which a thread is parked. */
    private static final String[] PARTS = {"sync", "lock", "takeLock", "putLock"};

    private final JvmAccess jvm;
    private int left;

    /** @param mostObjects the largest number of objects for all tasks */
    TaskReach(JvmAccess jvm, int mostObjects) {
        this.jvm = jvm;
        left = mostObjects;
    }

    /** The objects that the task leads to, each once, without the task itself. */
    Collection<Object> of(Object task) {
        Map<Object, Boolean> known = new IdentityHashMap<>();
        known.put(task, true);
        List<Object> reached = List.of(task);
        for (int step = 0; step < STEPS && !reached.isEmpty(); step++) {
            List<Object> next = new ArrayList<>();
            for (Object at : reached) {
                for (Object referred : leadsToAll(at) ? List.of() : referred(at)) {
                    if (known.size() < MOST_OF_TASK && --left > 0 && known.put(referred, true) == null) {
                        next.add(referred);
                    }
                }
            }
            reached = next;
        }
        known.remove(task);
        return known.keySet();
    }

    /** The elements of an array, the objects in the fields, and the parts of a synchronizer. */
    private List<Object> referred(Object from) {
        if (from instanceof Object[] array) {
            List<Object> found = new ArrayList<>();
            for (int i = 0; i < array.length && found.size() < MOST_ELEMENTS; i++) {
                if (array[i] != null) {
                    found.add(array[i]);
                }
            }
            return found;
        }
        List<Object> found = new ArrayList<>(ObjectGraph.referred(from));
        for (String name : PARTS) {
            Object part = jvm.fieldOf(from, name);
            if (part != null) {
                found.add(part);
            }
        }
        return found;
    }

    private static boolean leadsToAll(Object object) {
        return object instanceof Executor || object instanceof Thread || object instanceof ClassLoader || object instanceof Class<?>
                || object instanceof Reference<?>;
    }
}
