package dev.threadcount.probe;

import dev.threadcount.probe.stacks.JvmAccess;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinWorkerThread;
import java.util.concurrent.ThreadPoolExecutor;

/** The pools of the JVM, found by their threads, and the tasks in their queues with all that waits for the result of each. */
final class ThreadPools {
    private static final int MOST_TASKS = 20_000;

    private final JvmAccess jvm;
    private final Map<Object, List<Long>> workers = new IdentityHashMap<>();
    /** By the object that stands for a wait: a future, or a waiter in the list of one. */
    private final Map<Object, Object> poolOf = new IdentityHashMap<>();
    private int left = MOST_TASKS;

    ThreadPools(JvmAccess jvm, List<Thread> threads) {
        this.jvm = jvm;
        for (Thread thread : threads) {
            Object pool = thread.isVirtual() ? null : poolOf(thread);
            if (pool != null) {
                workers.computeIfAbsent(pool, any -> new ArrayList<>()).add(thread.threadId());
            }
        }
        workers.keySet().forEach(pool -> queued(pool).forEach(task -> addTask(task, pool)));
    }

    /** The name of the pool in whose queue the task for this wait is; null for none. */
    String withTask(Object blocker) {
        Object pool = poolOf.get(blocker);
        return pool == null ? null : Givers.name(pool);
    }

    List<JsonLine> lines() {
        List<JsonLine> lines = new ArrayList<>();
        workers.forEach((pool, ids) -> lines.add(JsonLine.of("pool", System.nanoTime())
                .put("name", Givers.name(pool))
                .put("threads", ids.stream().mapToLong(Long::longValue).toArray())
                .put("queued", pool instanceof ThreadPoolExecutor executor ? executor.getQueue().size()
                        : ((ForkJoinPool) pool).getQueuedSubmissionCount())));
        return lines;
    }

    private Object poolOf(Thread thread) {
        if (thread instanceof ForkJoinWorkerThread worker) {
            return worker.getPool();
        }
        Object holder = jvm.fieldOf(thread, "holder");
        Object task = holder == null ? null : jvm.fieldOf(holder, "task");
        boolean isWorker = task != null && task.getClass().getName().equals("java.util.concurrent.ThreadPoolExecutor$Worker");
        return isWorker && jvm.fieldOf(task, "this$0") instanceof ThreadPoolExecutor executor ? executor : null;
    }

    private List<Object> queued(Object pool) {
        List<Object> tasks = new ArrayList<>();
        if (pool instanceof ThreadPoolExecutor executor && executor.getQueue().size() <= MOST_TASKS) {
            tasks.addAll(executor.getQueue());
        } else if (jvm.fieldOf(pool, "queues") instanceof Object[] queues) {
            for (Object queue : queues) {
                Object array = queue == null ? null : jvm.fieldOf(queue, "array");
                for (Object task : array instanceof Object[] all ? all : new Object[0]) {
                    if (task != null) {
                        tasks.add(task);
                    }
                }
            }
        }
        return tasks;
    }

    private void addTask(Object task, Object pool) {
        if (--left < 0 || poolOf.put(task, pool) != null) {
            return;
        }
        // Those that a task wraps, and what depends on its result.
        for (String name : new String[] {"task", "runnable", "callable", "dep", "f"}) {
            Object inner = jvm.fieldOf(task, name);
            if (inner instanceof CompletableFuture<?> result) {
                addResult(result, pool);
            } else if (inner != null && inner.getClass().getName().startsWith("java.util.concurrent.")) {
                addTask(inner, pool);
            }
        }
    }

    private void addResult(CompletableFuture<?> result, Object pool) {
        if (--left < 0 || poolOf.put(result, pool) != null) {
            return;
        }
        for (Object waiter = jvm.fieldOf(result, "stack"); waiter != null && --left > 0; waiter = jvm.fieldOf(waiter, "next")) {
            poolOf.putIfAbsent(waiter, pool);
            if (jvm.fieldOf(waiter, "dep") instanceof CompletableFuture<?> next) {
                addResult(next, pool);
            }
        }
    }
}
