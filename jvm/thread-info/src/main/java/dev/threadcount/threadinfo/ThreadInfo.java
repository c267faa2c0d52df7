package dev.threadcount.threadinfo;

/**
 * Which thread answers. As JSON it is what Threadcount asks every server of ours for, at
 * {@code /thread-info?format=json}.
 *
 * @param thread  its name
 * @param virtual whether it is a virtual thread
 * @param java    the version of Java it runs on
 */
public record ThreadInfo(String thread, boolean virtual, String java) {
    /** The thread that calls. */
    public static ThreadInfo ofThisThread() {
        Thread thread = Thread.currentThread();
        return new ThreadInfo(thread.getName(), thread.isVirtual(), Runtime.version().toString());
    }
}
