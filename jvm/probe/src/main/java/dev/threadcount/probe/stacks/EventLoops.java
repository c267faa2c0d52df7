package dev.threadcount.probe.stacks;

import java.util.Locale;

/** Threads that wait for many channels, and handle what arrives themselves. */
public final class EventLoops {
    /** The frames of a loop, the last ones of its stack. */
    private static final int BOTTOM = 8;

    private EventLoops() {}

    /** Whether an event loop runs these frames, by what such classes and methods are called in every library. */
    public static boolean runs(StackTraceElement[] frames) {
        for (int i = Math.max(0, frames.length - BOTTOM); i < frames.length; i++) {
            String type = frames[i].getClassName().toLowerCase(Locale.ROOT);
            if (type.contains("eventloop") || type.contains("selector") || frames[i].getMethodName().contains("Select")) {
                return true;
            }
        }
        return false;
    }
}
