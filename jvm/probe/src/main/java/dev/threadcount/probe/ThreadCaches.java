package dev.threadcount.probe;

import java.util.List;
import jdk.jfr.consumer.RecordedFrame;
import jdk.jfr.consumer.RecordedMethod;
import jdk.jfr.consumer.RecordedStackTrace;

/**
 * Recognizes objects that are made to be kept by their thread. A virtual thread serves only one request, so each request makes them anew.
 */
final class ThreadCaches {
    /** Classes that keep a value for each thread, and make it in one of the methods below when the thread first asks. */
    private static final List<String> THREAD_LOCALS = List.of("java.lang.ThreadLocal", "io.netty.util.concurrent.FastThreadLocal");
    private static final List<String> FIRST_VALUE = List.of("setInitialValue", "initialize");
    /** The class whose values belong to carriers, of which there are few. */
    private static final String OF_CARRIERS = "jdk.internal.misc.CarrierThreadLocal";
    /**
     * Classes that ask for the value, make it themselves and set it: {@code BufferRecycler} and {@code BufferRecyclers} of Jackson 2 and 3.
     */
    private static final List<String> KNOWN =
            List.of("com.fasterxml.jackson.core.util.BufferRecycler", "tools.jackson.core.util.BufferRecycler");

    private ThreadCaches() {}

    /** The frame that asked for the cache or is known to be one, with its line. Null if the object is in no cache. */
    static String of(RecordedStackTrace stack) {
        List<RecordedFrame> frames = stack == null ? List.of() : stack.getFrames();
        for (int place = 0; place < frames.size(); place++) {
            RecordedFrame frame = frames.get(place);
            if (!frame.isJavaFrame()) {
                continue;
            }
            String type = frame.getMethod().getType().getName();
            if (KNOWN.stream().anyMatch(type::startsWith)) {
                return Site.name(frame);
            }
            if (isThreadLocal(type) && FIRST_VALUE.contains(frame.getMethod().getName())) {
                return whoAsked(frames.subList(place, frames.size()));
            }
        }
        return null;
    }

    private static String whoAsked(List<RecordedFrame> frames) {
        for (RecordedFrame frame : frames) {
            RecordedMethod method = frame.getMethod();
            String type = method.getType().getName();
            if (type.startsWith(OF_CARRIERS) || method.getName().contains("Carrier")) {
                return null;
            }
            if (frame.isJavaFrame() && !isThreadLocal(type)) {
                return Site.name(frame);
            }
        }
        return null;
    }

    private static boolean isThreadLocal(String type) {
        return THREAD_LOCALS.stream().anyMatch(type::startsWith);
    }
}
