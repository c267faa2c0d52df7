package dev.threadcount.probe;

import java.lang.management.ManagementFactory;
import javax.management.JMException;
import javax.management.ObjectName;
import jdk.jfr.FlightRecorder;

/**
 * How many frames of a stack the flight recorder keeps. Its default of 64 does not reach from a driver's socket through
 * a framework's filters down to a server's worker, which may be the frame that holds the monitor.
 */
final class StackDepth {
    private static final int FRAMES = 256;

    private StackDepth() {}

    /** Increases the stack depth, which is possible only before the flight recorder is first used. */
    static void deepen() {
        if (FlightRecorder.isInitialized()) {
            return;
        }
        try {
            ManagementFactory.getPlatformMBeanServer().invoke(
                    new ObjectName("com.sun.management:type=DiagnosticCommand"), "jfrConfigure",
                    new Object[] {new String[] {"stackdepth=" + FRAMES}}, new String[] {String[].class.getName()});
        } catch (JMException | RuntimeException notHere) {
            // Then 64 frames have to do: sites further down stay unnamed.
        }
    }
}
