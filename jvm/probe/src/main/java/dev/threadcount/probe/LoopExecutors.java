package dev.threadcount.probe;

import dev.threadcount.probe.stacks.JvmAccess;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.Executor;

/** Finds executors with a single thread, such as event loops: the thread's work refers to the executor, and the executor to the thread. */
final class LoopExecutors {
    private static final int STEPS = 3;
    private static final int MOST_OBJECTS = 200;

    private LoopExecutors() {}

    /**
     * The executor that a platform thread works for, or null. The search ends at another executor, which leads to all of the application.
     */
    static Object of(Thread thread, JvmAccess jvm) {
        Object task = jvm.taskOf(thread);
        Map<Object, Boolean> known = new IdentityHashMap<>();
        List<Object> reached = task == null ? List.of(thread) : List.of(thread, task);
        for (int step = 0; step <= STEPS; step++) {
            List<Object> next = new ArrayList<>();
            for (Object at : reached) {
                if (known.size() > MOST_OBJECTS || known.put(at, true) != null) {
                    continue;
                }
                List<Object> referred = ObjectGraph.referred(at);
                if (!(at instanceof Executor)) {
                    next.addAll(referred);
                } else if (referred.contains(thread)) {
                    return at;
                }
            }
            reached = next;
        }
        return null;
    }

    /** The tasks in an executor's queues. If the JDK does not know the queue's class, the object that holds the tasks. */
    static List<Object> queued(Object executor) {
        List<Object> tasks = new ArrayList<>();
        for (Object part : ObjectGraph.referred(executor)) {
            if (part instanceof Queue<?> queue) {
                try {
                    tasks.addAll(queue);
                } catch (RuntimeException notIterable) {
                    tasks.add(queue);
                }
            }
        }
        return tasks;
    }
}
