package dev.threadcount.probe.crossover;

/** A task of the server that its period counts. */
public final class CountedTask implements Runnable {
    private final Period period;
    private final Runnable task;

    CountedTask(Period period, Runnable task) {
        this.period = period;
        this.task = task;
    }

    Period period() {
        return period;
    }

    /** The server's own task. */
    public Runnable task() {
        return task;
    }

    @Override
    public void run() {
        period.countBegin();
        try {
            task.run();
        } finally {
            period.countEnd();
        }
    }

    /** Counts the task as rejected. It was handed over, but will not run. */
    public void abandon() {
        period.countRejected();
    }

    @Override
    public String toString() {
        return task.toString();
    }
}
