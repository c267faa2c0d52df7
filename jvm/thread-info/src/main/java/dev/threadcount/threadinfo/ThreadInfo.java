package dev.threadcount.threadinfo;

/**
 * The thread that handles the request. As JSON it is what Threadcount requests from each of its servers, at
 * {@code /thread-info?format=json}.
 *
 * @param thread  its name
 * @param virtual whether it is a virtual thread
 * @param java    the version of Java it runs on
 */
public record ThreadInfo(String thread, boolean virtual, String java) {
    /** The calling thread. */
    public static ThreadInfo ofThisThread() {
        Thread thread = Thread.currentThread();
        return new ThreadInfo(thread.getName(), thread.isVirtual(), Runtime.version().toString());
    }
}
