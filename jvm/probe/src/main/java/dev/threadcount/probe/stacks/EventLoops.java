package dev.threadcount.probe.stacks;

import java.lang.reflect.Field;
import java.nio.channels.Selector;
import java.util.Locale;

/** Threads that wait for many channels, and handle what arrives themselves. */
public final class EventLoops {
    /** The frames of a loop, the last ones of its stack. */
    private static final int BOTTOM = 8;

    /** Whether threads of a class have a selector of their own, as those of XNIO do. */
    private static final ClassValue<Boolean> HAS_SELECTOR = new ClassValue<>() {
        @Override
        protected Boolean computeValue(Class<?> type) {
            for (Class<?> at = type; at != null && at != Thread.class; at = at.getSuperclass()) {
                for (Field field : at.getDeclaredFields()) {
                    if (Selector.class.isAssignableFrom(field.getType())) {
                        return true;
                    }
                }
            }
            return false;
        }
    };

    private EventLoops() {}

    /** Whether it waits for many channels itself, whatever its frames are called. */
    public static boolean hasSelector(Thread thread) {
        return HAS_SELECTOR.get(thread.getClass());
    }

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
