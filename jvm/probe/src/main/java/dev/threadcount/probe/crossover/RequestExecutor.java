package dev.threadcount.probe.crossover;

import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;

/**
 * Replaces a server's own executor while a crossover lasts. It never loses a task: tasks that the treatment's threads
 * do not take run on the server's own executor, and so do all tasks after the crossover.
 */
public final class RequestExecutor implements Executor, RequestThreads.FallBack {
    private final Executor own;
    /** Null before the first switch and after the last one. Tasks then go to the server's own executor as they are. */
    private volatile Period current;
    private volatile Throwable failure;

    RequestExecutor(Executor own) {
        this.own = own;
    }

    /** The server's own executor. */
    public Executor own() {
        return own;
    }

    /** Assigns tasks to this period from now on, or to none if null. */
    void use(Period period) {
        current = period;
    }

    /** Stops the treatment's threads, because the server stops with its own executor. */
    public void stop() {
        Period period = current;
        current = null;
        if (period != null && period.threads() != null) {
            period.threads().stop();
        }
    }

    /** Why this has given up and passes all tasks to the server's own executor, or null. */
    Throwable failure() {
        return failure;
    }

    /** Whether tasks go to threads other than the server's own. */
    public boolean isDiverted() {
        Period period = current;
        return period != null && period.threads() != null;
    }

    /** Counts a task that the server itself will run. Returns null if no task is counted. */
    public CountedTask count(Runnable task) {
        Period period = current;
        return period == null || period.threads() != null ? null : counted(period, task);
    }

    private static CountedTask counted(Period period, Runnable task) {
        CountedTask counted = new CountedTask(period, task);
        period.countHandedOver();
        return counted;
    }

    @Override
    public void execute(Runnable task) {
        Period period = current;
        if (period == null) {
            own.execute(task);
            return;
        }
        CountedTask counted = counted(period, task);
        if (period.threads() == null) {
            executeOnOwn(counted);
            return;
        }
        try {
            period.threads().execute(counted);
        } catch (RuntimeException | Error notTaken) {
            run(counted, notTaken);
        }
    }

    @Override
    public void run(CountedTask task, Throwable why) {
        task.period().countFellBack();
        if (current != null) {
            failure = why;
            current = null;
        }
        executeOnOwn(task);
    }

    private void executeOnOwn(CountedTask task) {
        try {
            own.execute(task);
        } catch (RejectedExecutionException full) {
            task.abandon();
            throw full;
        }
    }

    @Override
    public String toString() {
        return "threadcount[" + own + "]";
    }
}
