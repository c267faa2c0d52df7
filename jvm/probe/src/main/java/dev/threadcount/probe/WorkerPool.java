package dev.threadcount.probe;

import java.lang.reflect.Method;
import java.util.Queue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ForkJoinPool;

/**
 * The state of an executor at one moment, as its public methods report it. Figures are -1 if the executor has none.
 *
 * @param type the JDK's class that it is or extends; otherwise its own class
 * @param size the largest number of tasks that it runs at once
 * @param maximum the largest number of threads that it may have
 * @param active the tasks that run
 * @param queued the tasks that wait
 * @param completed the tasks that have ended since it began
 */
record WorkerPool(String type, long size, long maximum, long active, long queued, long completed) {
    /** Returns null for an executor without figures. */
    static WorkerPool of(Object executor) {
        if (executor instanceof ForkJoinPool pool) {
            String type = pool == ForkJoinPool.commonPool() ? "ForkJoinPool.commonPool" : "java.util.concurrent.ForkJoinPool";
            return new WorkerPool(type, Math.max(1, pool.getParallelism()), pool.getParallelism(), pool.getActiveThreadCount(),
                    pool.getQueuedSubmissionCount() + pool.getQueuedTaskCount(), -1);
        }
        long core = number(executor, "getCorePoolSize");
        if (core < 0) {
            return null;
        }
        long maximum = number(executor, "getMaximumPoolSize");
        Object queue = call(executor, "getQueue");
        // A queue of another class may refuse a task so that a thread is made, as Tomcat's does.
        boolean isUnbounded = queue instanceof BlockingQueue<?> tasks && tasks.getClass().getName().startsWith("java.")
                && tasks.remainingCapacity() > Integer.MAX_VALUE - 1_000_000;
        return new WorkerPool(typeOf(executor), isUnbounded ? Math.max(1, core) : maximum, maximum, number(executor, "getActiveCount"),
                queue instanceof Queue<?> tasks ? tasks.size() : -1, number(executor, "getCompletedTaskCount"));
    }

    private static String typeOf(Object executor) {
        for (Class<?> type = executor.getClass(); type != null; type = type.getSuperclass()) {
            if (type.getName().startsWith("java.util.concurrent.") && !type.getSimpleName().startsWith("Abstract")) {
                return type.getName();
            }
        }
        return executor.getClass().getName();
    }

    private static long number(Object of, String method) {
        return call(of, method) instanceof Number number ? number.longValue() : -1;
    }

    private static Object call(Object of, String name) {
        for (Class<?> type = of.getClass(); type != null; type = type.getSuperclass()) {
            try {
                Method method = type.getMethod(name);
                method.setAccessible(true);
                return method.invoke(of);
            } catch (ReflectiveOperationException | RuntimeException ofItsOwnModule) {
                // The superclass may be public although the subclass is not.
            }
        }
        return null;
    }
}
