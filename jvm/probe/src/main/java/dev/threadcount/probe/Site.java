package dev.threadcount.probe;

import dev.threadcount.probe.stacks.Code;
import java.util.List;
import jdk.jfr.consumer.RecordedFrame;
import jdk.jfr.consumer.RecordedStackTrace;

/**
 * The place where something happened, by which events are grouped.
 *
 * @param holder the frame that keeps a virtual thread on its carrier: it holds a monitor, is native, or is a class initializer; null if
 * none was found
 * @param application the first frame, from the top, that belongs neither to the JDK nor to a known framework; null for none
 * @param top the topmost frame
 */
record Site(String holder, String application, String top) {
    static Site of(RecordedStackTrace stack, Monitors monitors) {
        if (stack == null) {
            return new Site(null, null, null);
        }
        List<RecordedFrame> frames = stack.getFrames().stream().filter(RecordedFrame::isJavaFrame).toList();
        String holder = frames.stream().filter(monitors::pins).findFirst().map(Site::name).orElse(null);
        String application = frames.stream().filter(Site::isApplication).findFirst().map(Site::name).orElse(null);
        return new Site(holder, application, frames.isEmpty() ? null : name(frames.getFirst()));
    }

    static boolean isApplication(RecordedFrame frame) {
        return Code.isApplication(frame.getMethod().getType().getName());
    }

    /** The first frame of the application, or null. */
    static String application(RecordedStackTrace stack) {
        return stack == null ? null : stack.getFrames().stream()
                .filter(frame -> frame.isJavaFrame() && isApplication(frame))
                .findFirst().map(Site::name).orElse(null);
    }

    /** The first frame outside the JDK, or null. */
    static String outsideJdk(RecordedStackTrace stack) {
        return stack == null ? null : stack.getFrames().stream()
                .filter(frame -> frame.isJavaFrame() && !Code.isJdk(frame.getMethod().getType().getName()))
                .findFirst().map(Site::name).orElse(null);
    }

    static String name(RecordedFrame frame) {
        return Code.name(frame.getMethod().getType().getName(), frame.getMethod().getName(), frame.getLineNumber());
    }
}
