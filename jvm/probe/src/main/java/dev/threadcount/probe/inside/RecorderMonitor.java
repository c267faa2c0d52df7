package dev.threadcount.probe.inside;

import java.lang.reflect.Field;
import jdk.jfr.FlightRecorder;

/** The monitor that JFR holds while it makes, starts and stops a recording. */
final class RecorderMonitor {
    private RecorderMonitor() {}

    /** Returns null if this JVM has a different monitor. */
    static Object find() {
        try {
            Field recorder = FlightRecorder.class.getDeclaredField("internal");
            recorder.setAccessible(true);
            return recorder.get(FlightRecorder.getFlightRecorder());
        } catch (ReflectiveOperationException | RuntimeException another) {
            return null;
        }
    }
}
