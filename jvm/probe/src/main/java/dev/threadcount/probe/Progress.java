package dev.threadcount.probe;

import java.util.List;
import jdk.jfr.consumer.RecordedFrame;
import jdk.jfr.consumer.RecordedStackTrace;

/** Tells threads that work from carriers that only pass virtual threads around. */
final class Progress {
    private static final List<String> SCHEDULER = List.of(
            "java.lang.VirtualThread", "java.lang.Thread", "jdk.internal.vm.Continuation", "java.util.concurrent.ForkJoin",
            "jdk.internal.misc.CarrierThread");

    private Progress() {}

    /**
     * What a running thread does instead of work: {@code yield} (it gives way, and says where), {@code scheduling} (a
     * carrier between two virtual threads), or null for neither. A spinning thread looks like one that works.
     */
    static String lack(RecordedStackTrace stack) {
        if (stack == null) {
            return null;
        }
        List<RecordedFrame> frames = stack.getFrames().stream().filter(RecordedFrame::isJavaFrame).toList();
        if (frames.stream().anyMatch(Progress::yields)) {
            return "yield";
        }
        return !frames.isEmpty() && frames.stream().allMatch(Progress::isScheduler) ? "scheduling" : null;
    }

    private static boolean yields(RecordedFrame frame) {
        return type(frame).equals("java.lang.Thread") && frame.getMethod().getName().equals("yield");
    }

    private static boolean isScheduler(RecordedFrame frame) {
        return SCHEDULER.stream().anyMatch(type(frame)::startsWith);
    }

    private static String type(RecordedFrame frame) {
        return frame.getMethod().getType().getName();
    }
}
