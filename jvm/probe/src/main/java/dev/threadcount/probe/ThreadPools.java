package dev.threadcount.probe;

import dev.threadcount.probe.stacks.JvmAccess;
import java.lang.management.LockInfo;
import java.util.ArrayList;
import java.util.Collection;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinWorkerThread;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadPoolExecutor;

/** Finds the pools of the JVM by their threads, and the tasks in their queues with everything that waits for the result of a task. */
final class ThreadPools {
    private static final int MOST_TASKS = 20_000;
    /** The largest number of objects that tasks lead to. */
    private static final int MOST_OBJECTS = 5_000;
    /** The largest number of threads for which a single-thread executor is searched. */
    private static final int MOST_LOOPS = 2_000;

    private final JvmAccess jvm;
    private final Map<Object, List<Long>> workers = new IdentityHashMap<>();
    /** The pool by the object that stands for a wait: a future, or a waiter in its list. */
    private final Map<Object, Object> poolOf = new IdentityHashMap<>();
    /**
     * The pool by the objects that tasks of the application lead to. Null instead of a pool if tasks of several pools lead to an object.
     */
    private final Map<Object, Object> reachedFrom = new IdentityHashMap<>();
    private final TaskReach reach;
    private int left = MOST_TASKS;
    private int loopsAsked;

    ThreadPools(JvmAccess jvm, List<Thread> threads) {
        this.jvm = jvm;
        reach = new TaskReach(jvm, MOST_OBJECTS);
        for (Thread thread : threads) {
            Object pool = thread.isVirtual() ? null : poolOf(thread);
            if (pool != null) {
                workers.computeIfAbsent(pool, any -> new ArrayList<>()).add(thread.threadId());
            }
        }
        workers.keySet().forEach(pool -> queued(pool).forEach(task -> addTask(task, pool)));
    }

    /** The name of the pool with the task for this wait in its queue, or null. */
    String withTask(Object blocker) {
        Object pool = poolOf.containsKey(blocker) ? poolOf.get(blocker) : reachedFrom.get(blocker);
        return pool == null ? null : Givers.name(pool);
    }

    /** The threads of the pool whose end this object stands for, or none. */
    List<Long> whoseEndIs(Object blocker) {
        for (Map.Entry<Object, List<Long>> pool : workers.entrySet()) {
            Object end = jvm.fieldOf(pool.getKey(), "termination");
            if (end != null && (end == blocker || jvm.fieldOf(end, "sync") == blocker)) {
                return pool.getValue();
            }
        }
        return List.of();
    }

    /** The threads of the pool whose queue has this lock, or none. */
    List<Long> whoTakesFrom(Object lock) {
        for (Map.Entry<Object, List<Long>> pool : workers.entrySet()) {
            Object queue = pool.getKey() instanceof ThreadPoolExecutor executor ? executor.getQueue() : null;
            for (String name : new String[] {"lock", "takeLock", "putLock"}) {
                Object own = queue == null ? null : jvm.fieldOf(queue, name);
                if (own != null && jvm.fieldOf(own, "sync") == lock) {
                    return pool.getValue();
                }
            }
        }
        return List.of();
    }

    /** The name of the pool for a monitor of which only the name is known. */
    String withTask(LockInfo monitor) {
        for (Map<Object, Object> known : List.of(poolOf, reachedFrom)) {
            for (Map.Entry<Object, Object> entry : known.entrySet()) {
                Object task = entry.getKey();
                boolean isIt = System.identityHashCode(task) == monitor.getIdentityHashCode()
                        && task.getClass().getName().equals(monitor.getClassName());
                if (isIt && entry.getValue() != null) {
                    return Givers.name(entry.getValue());
                }
            }
        }
        return null;
    }

    List<JsonLine> lines() {
        List<JsonLine> lines = new ArrayList<>();
        DelayedTasks delayed = new DelayedTasks(jvm);
        workers.forEach((pool, ids) -> {
            DelayedTasks.Requests requests = pool instanceof ScheduledThreadPoolExecutor executor
                    ? delayed.of(executor) : DelayedTasks.Requests.NONE;
            lines.add(JsonLine.of("pool", System.nanoTime())
                    .put("name", Givers.name(pool))
                    .put("threads", ids.stream().mapToLong(Long::longValue).toArray())
                    .put("queued", size(pool))
                    .put("delayed_requests", requests.count())
                    .put("last_due_ms", requests.lastDueMs()));
        });
        return lines;
    }

    private static int size(Object pool) {
        return switch (pool) {
            case ThreadPoolExecutor executor -> executor.getQueue().size();
            case ForkJoinPool executor -> executor.getQueuedSubmissionCount();
            default -> LoopExecutors.queued(pool).size();
        };
    }

    private Object poolOf(Thread thread) {
        if (thread instanceof ForkJoinWorkerThread worker) {
            return worker.getPool();
        }
        Object task = jvm.taskOf(thread);
        boolean isWorker = task != null && task.getClass().getName().equals("java.util.concurrent.ThreadPoolExecutor$Worker");
        if (isWorker && jvm.fieldOf(task, "this$0") instanceof ThreadPoolExecutor executor) {
            return executor;
        }
        return ++loopsAsked > MOST_LOOPS ? null : LoopExecutors.of(thread, jvm);
    }

    private List<Object> queued(Object pool) {
        List<Object> tasks = new ArrayList<>();
        if (!(pool instanceof ThreadPoolExecutor) && !(pool instanceof ForkJoinPool)) {
            return LoopExecutors.queued(pool);
        }
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
        if (!isOfJdk(task)) {
            addReached(task, pool);
        }
        // The tasks that a task wraps, and those that depend on its result.
        for (String name : new String[] {"task", "runnable", "callable", "dep", "f", "fn", "completionQueue"}) {
            Object inner = jvm.fieldOf(task, name);
            if (inner instanceof CompletableFuture<?> result) {
                addResult(result, pool);
            } else if (inner instanceof Collection<?>) {
                addReached(new Object[] {inner}, pool);
            } else if (inner != null) {
                addTask(inner, pool);
            }
        }
    }

    private void addReached(Object task, Object pool) {
        for (Object reached : reach.of(task)) {
            boolean isOfOther = reachedFrom.containsKey(reached) && reachedFrom.get(reached) != pool;
            reachedFrom.put(reached, isOfOther ? null : pool);
        }
    }

    private static boolean isOfJdk(Object task) {
        return task.getClass().getName().startsWith("java.");
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
