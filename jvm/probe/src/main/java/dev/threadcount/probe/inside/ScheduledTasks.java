package dev.threadcount.probe.inside;

import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.FutureTask;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.function.Predicate;

/** Finds the tasks that scheduled executors and timers have not run yet, through the platform threads that will run them. */
final class ScheduledTasks {
    /** The longest queue that is copied, because copying keeps its executor waiting. */
    private static final int MOST_QUEUED = 20_000;
    private static final String CONCURRENT = "java.util.concurrent.";

    private final Class<?> worker = type(CONCURRENT + "ThreadPoolExecutor$Worker");
    private final Class<?> adapter = type(CONCURRENT + "Executors$RunnableAdapter");
    private final Class<?> timer = type("java.util.TimerThread");
    private final Field threadsHolder = field(Thread.class, "holder");
    private final Field holdersTask = field(type("java.lang.Thread$FieldHolder"), "task");
    private final Field workersExecutor = field(worker, "this$0");
    private final Field futuresCallable = field(FutureTask.class, "callable");
    private final Field adaptersTask = field(adapter, "task");
    private final Field timersQueue = field(timer, "queue");
    private final Field queuesTasks = field(type("java.util.TaskQueue"), "queue");

    private ScheduledTasks() throws ReflectiveOperationException {}

    /** Returns null if this JVM has different internals. */
    static ScheduledTasks find() {
        try {
            return new ScheduledTasks();
        } catch (ReflectiveOperationException | RuntimeException another) {
            return null;
        }
    }

    /** @param isWanted whether a task of a class with this name is wanted */
    List<List<Object>> now(Predicate<String> isWanted) {
        List<List<Object>> tasks = new ArrayList<>();
        Set<Object> executors = Collections.newSetFromMap(new IdentityHashMap<>());
        for (Thread thread : platformThreads()) {
            try {
                List<Object> all = timer.isInstance(thread) ? ofTimer(thread) : ofExecutor(thread, executors);
                tasks.add(all.stream().filter(task -> isWanted.test(task.getClass().getName())).toList());
            } catch (IllegalAccessException | RuntimeException another) {
                // The executor may be a class of the application.
                continue;
            }
        }
        return tasks;
    }

    /** Cheaper than listing all threads, among which there may be many virtual ones. */
    private static List<Thread> platformThreads() {
        ThreadGroup root = Thread.currentThread().getThreadGroup();
        while (root.getParent() != null) {
            root = root.getParent();
        }
        Thread[] threads = new Thread[root.activeCount() + 64];
        return Arrays.asList(threads).subList(0, root.enumerate(threads, true));
    }

    /** Reads a timer's tasks without its lock. A task that comes or goes meanwhile is in the next reading. */
    private List<Object> ofTimer(Thread thread) throws IllegalAccessException {
        Object[] tasks = (Object[]) queuesTasks.get(timersQueue.get(thread));
        return Arrays.stream(tasks).filter(Objects::nonNull).toList();
    }

    /** @param known the executors whose tasks have been read already, because each has several threads */
    private List<Object> ofExecutor(Thread thread, Set<Object> known) throws IllegalAccessException {
        Object task = holdersTask.get(threadsHolder.get(thread));
        if (!worker.isInstance(task) || !(workersExecutor.get(task) instanceof ScheduledThreadPoolExecutor executor)
                || !known.add(executor) || executor.getQueue().size() > MOST_QUEUED) {
            return List.of();
        }
        List<Object> tasks = new ArrayList<>();
        for (Object future : executor.getQueue().toArray()) {
            Object callable = future instanceof FutureTask<?> ? futuresCallable.get(future) : null;
            if (callable != null) {
                tasks.add(adapter.isInstance(callable) ? adaptersTask.get(callable) : callable);
            }
        }
        return tasks;
    }

    private static Class<?> type(String name) throws ClassNotFoundException {
        return Class.forName(name, false, null);
    }

    private static Field field(Class<?> type, String name) throws NoSuchFieldException {
        Field field = type.getDeclaredField(name);
        field.setAccessible(true);
        return field;
    }
}
