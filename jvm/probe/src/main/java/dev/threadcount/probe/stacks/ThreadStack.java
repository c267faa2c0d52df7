package dev.threadcount.probe.stacks;

import java.util.List;
import java.util.concurrent.locks.LockSupport;

/**
 * One thread at one moment.
 *
 * @param frames the topmost first
 * @param state the JVM's word for what it does
 * @param virtual whether it is a virtual thread
 * @param mounted whether it has a carrier; a platform thread always has one
 * @param blocker the synchronizer, monitor or object it waits for; null where it is not known
 * @param monitors those that it holds, where this JVM says so
 */
public record ThreadStack(
        StackTraceElement[] frames, Thread.State state, boolean virtual, boolean mounted, Object blocker,
        List<Object> monitors) {
    /** The thread now, as far as any program may see it: a virtual thread counts as mounted. */
    public static ThreadStack of(Thread thread) {
        Thread.State state = thread.getState();
        return new ThreadStack(thread.getStackTrace(), state, thread.isVirtual(), true,
                LockSupport.getBlocker(thread), List.of());
    }

    /** Not of a thread that has not begun or is no more. */
    public boolean isInNative() {
        return !isBlocked() && frames.length > 0 && frames[0].isNativeMethod();
    }

    /** Whether it waits for something that is not a file or in native code. */
    public boolean isBlocked() {
        return state == Thread.State.BLOCKED || state == Thread.State.WAITING || state == Thread.State.TIMED_WAITING;
    }
}
