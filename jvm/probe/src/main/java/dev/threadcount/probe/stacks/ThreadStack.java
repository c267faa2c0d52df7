package dev.threadcount.probe.stacks;

import java.util.List;
import java.util.concurrent.locks.LockSupport;

/**
 * A thread at one moment.
 *
 * @param frames the frames, the topmost first
 * @param state the JVM's state of the thread
 * @param virtual whether it is a virtual thread
 * @param mounted whether it has a carrier; a platform thread always has one
 * @param blocker the synchronizer, monitor or object that it waits for; null if unknown
 * @param monitors the monitors that it holds, if this JVM reports them
 */
public record ThreadStack(
        StackTraceElement[] frames, Thread.State state, boolean virtual, boolean mounted, Object blocker,
        List<Object> monitors) {
    /** The current stack of a thread, as any program can see it. A virtual thread counts as mounted. */
    public static ThreadStack of(Thread thread) {
        Thread.State state = thread.getState();
        return new ThreadStack(thread.getStackTrace(), state, thread.isVirtual(), true,
                LockSupport.getBlocker(thread), List.of());
    }

    /** Whether the thread is in native code. False for a thread that has not begun or has ended. */
    public boolean isInNative() {
        return !isBlocked() && frames.length > 0 && frames[0].isNativeMethod();
    }

    /** Whether the thread waits for something other than a file or native code. */
    public boolean isBlocked() {
        return state == Thread.State.BLOCKED || state == Thread.State.WAITING || state == Thread.State.TIMED_WAITING;
    }
}
