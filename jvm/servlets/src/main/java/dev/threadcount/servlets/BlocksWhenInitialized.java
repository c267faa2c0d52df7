package dev.threadcount.servlets;

/** Hands the length of a sleep to a class initializer, which cannot be given an argument. */
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
