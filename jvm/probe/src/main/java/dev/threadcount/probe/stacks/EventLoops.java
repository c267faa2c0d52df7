package dev.threadcount.probe.stacks;

import java.lang.reflect.Field;
import java.nio.channels.Selector;
import java.util.Locale;

/** Recognizes threads that wait for many channels, and handle what arrives themselves. */
public final class EventLoops {
    /** The number of frames at the bottom of a stack that may show a loop. */
    private static final int BOTTOM = 8;

    /** Whether the threads of a class have a selector, as those of XNIO do. */
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

    /** Whether the thread itself waits for many channels, whatever the names in its frames. */
    public static boolean hasSelector(Thread thread) {
        return HAS_SELECTOR.get(thread.getClass());
    }

    /** Whether an event loop runs these frames, judging by names of classes and methods that all libraries use. */
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
