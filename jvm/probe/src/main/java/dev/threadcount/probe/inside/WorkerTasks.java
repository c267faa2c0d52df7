package dev.threadcount.probe.inside;

import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.ArrayDeque;
import java.util.Collections;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.Set;

/**
 * Finds the executor that a platform thread works for, through the task with which the thread was started. A thread factory may have
 * wrapped that task. A worker of {@code ThreadPoolExecutor}, and of copies of it, refers to its thread and to its executor.
 */
final class WorkerTasks {
    /** The largest number of objects, because a task of an application may lead to all of its objects. */
    private static final int MOST_OBJECTS = 40;

    private final Field holder;
    private final Field task;

    private WorkerTasks() throws ReflectiveOperationException {
        holder = JvmThreads.open(Thread.class.getDeclaredField("holder"));
        task = JvmThreads.open(holder.getType().getDeclaredField("task"));
    }

    /** Returns null if this JVM has different internals. */
    static WorkerTasks find() {
        try {
            return new WorkerTasks();
        } catch (ReflectiveOperationException | RuntimeException another) {
            return null;
        }
    }

    /** The executor, or null. */
    Object executorOf(Thread thread) {
        Set<Object> known = Collections.newSetFromMap(new IdentityHashMap<>());
        Deque<Object> next = new ArrayDeque<>();
        add(first(thread), known, next);
        while (!next.isEmpty() && known.size() < MOST_OBJECTS) {
            Object at = next.poll();
            Object executor = null;
            boolean isWorker = false;
            for (Class<?> type = at.getClass(); type != null && type != Object.class; type = type.getSuperclass()) {
                for (Field field : type.getDeclaredFields()) {
                    Object value = value(field, at);
                    isWorker |= value == thread;
                    if (field.getName().equals("this$0")) {
                        executor = value;
                    } else if (value instanceof Runnable) {
                        add(value, known, next);
                    }
                }
            }
            if (isWorker && executor != null) {
                return executor;
            }
        }
        return null;
    }

    private Object first(Thread thread) {
        try {
            Object fields = holder.get(thread);
            return fields == null ? null : task.get(fields);
        } catch (IllegalAccessException closed) {
            return null;
        }
    }

    private static void add(Object object, Set<Object> known, Deque<Object> next) {
        if (object != null && !(object instanceof Thread) && known.add(object)) {
            next.add(object);
        }
    }

    private static Object value(Field field, Object of) {
        if (field.getType().isPrimitive() || Modifier.isStatic(field.getModifiers())) {
            return null;
        }
        try {
            field.setAccessible(true);
            return field.get(of);
        } catch (ReflectiveOperationException | RuntimeException closed) {
            return null;
        }
    }
}
