package dev.threadcount.probe.crossover;

/** The threads of a treatment other than the server's own. */
interface RequestThreads {
    /**
     * Has a task run.
     *
     * @throws RuntimeException when it was not taken, and will not run
     */
    void execute(CountedTask task);

    /** Runs what it has taken, and takes no more. A second time does nothing. */
    void close();

    /** The server stops: drops what has not begun, and interrupts the rest, as the server does with its own pool. */
    void stop();

    /**
     * Makes the threads of a treatment.
     *
     * @param context the context class loader of the server's own threads
     * @param own where a task runs that a thread could not be had for
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
         * Runs a task that was taken on the server's own executor instead.
         *
         * @param why what the treatment's threads threw
         */
        void run(CountedTask task, Throwable why);
    }
}
