package dev.threadcount.servlets;

/** Passes the length of a sleep to a class initializer, which has no arguments. */
final class BlocksWhenInitialized {
    private static final ThreadLocal<Sleep> SLEEP = new ThreadLocal<>();

    private BlocksWhenInitialized() {}

    static void with(Sleep sleep, Runnable initialize) {
        SLEEP.set(sleep);
        try {
            initialize.run();
        } finally {
            SLEEP.remove();
        }
    }

    static void blockAsTold() {
        try {
            SLEEP.get().blockThisThread();
        } catch (InterruptedException stopping) {
            Thread.currentThread().interrupt();
        }
    }

    /** The class that {@link Initializer} defines again per request. */
    @SuppressWarnings("unused")
    private static final class Hidden {
        static {
            blockAsTold();
        }
    }
}
