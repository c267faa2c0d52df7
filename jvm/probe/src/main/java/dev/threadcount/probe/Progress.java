package dev.threadcount.probe;

import java.util.List;
import jdk.jfr.consumer.RecordedFrame;
import jdk.jfr.consumer.RecordedStackTrace;

/** Distinguishes threads that work from carriers that only switch between virtual threads. */
final class Progress {
    private static final List<String> SCHEDULER = List.of(
            "java.lang.VirtualThread", "java.lang.Thread", "jdk.internal.vm.Continuation", "java.util.concurrent.ForkJoin",
            "jdk.internal.misc.CarrierThread");

    /** The number of frames to search. Above {@code Thread.yield} are only the frames that leave the carrier. */
    private static final int NEAR_THE_TOP = 16;

    private Progress() {}

    /**
     * Tells whether a running thread makes no progress: {@code yield} if it yields, {@code scheduling} for a carrier between two virtual
     * threads, and null if it works. A spinning thread looks like one that works.
     */
    static String lack(RecordedStackTrace stack) {
        if (stack == null) {
            return null;
        }
        List<RecordedFrame> frames = stack.getFrames();
        if (frames.stream().limit(NEAR_THE_TOP).anyMatch(Progress::yields)) {
            return "yield";
        }
        boolean hasJava = frames.stream().anyMatch(RecordedFrame::isJavaFrame);
        return hasJava && frames.stream().allMatch(Progress::isScheduler) ? "scheduling" : null;
    }

    /** Compares the name of the method first, because the name of its class is composed at each call. */
    private static boolean yields(RecordedFrame frame) {
        return frame.isJavaFrame() && frame.getMethod().getName().equals("yield")
                && type(frame).equals("java.lang.Thread");
    }

    private static boolean isScheduler(RecordedFrame frame) {
        return !frame.isJavaFrame() || SCHEDULER.stream().anyMatch(type(frame)::startsWith);
    }

    private static String type(RecordedFrame frame) {
        return frame.getMethod().getType().getName();
    }
}
