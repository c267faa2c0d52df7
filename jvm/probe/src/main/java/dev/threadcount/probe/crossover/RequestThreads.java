package dev.threadcount.probe.crossover;

/** The threads of a treatment, other than the server's own threads. */
interface RequestThreads {
    /**
     * Runs a task.
     *
     * @throws RuntimeException when the task was not taken, and will not run
     */
    void execute(CountedTask task);

    /** Takes no more tasks, but runs those that it has taken. A second call does nothing. */
    void close();

    /** Drops the tasks that have not begun, and interrupts the others, as a server does with its own pool when it stops. */
    void stop();

    /**
     * Makes the threads of a treatment.
     *
     * @param context the context class loader of the server's own threads
     * @param own runs a task for which there is no thread
     */
    static RequestThreads of(Treatment treatment, ClassLoader context, FallBack own) {
        return switch (treatment.kind()) {
            case OWN -> throw new IllegalArgumentException("the server has its own");
            case VIRTUAL -> treatment.limit() == 0 ? new VirtualThreads(context)
                    : new LimitedVirtualThreads(new VirtualThreads(context), treatment.limit(), own);
            case PLATFORM -> new PlatformThreads(treatment.limit(), context);
        };
    }

    /** The way back to the server's own executor. */
    interface FallBack {
        /**
         * Runs a task on the server's own executor although it was taken.
         *
         * @param why the exception of the treatment's threads
         */
        void run(CountedTask task, Throwable why);
    }
}
