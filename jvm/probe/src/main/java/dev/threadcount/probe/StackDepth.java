package dev.threadcount.probe;

import java.lang.management.ManagementFactory;
import javax.management.JMException;
import javax.management.ObjectName;
import jdk.jfr.FlightRecorder;

/**
 * Sets how many frames of a stack the flight recorder keeps. Its default of 64 does not reach from a driver's socket
 * through the filters of a framework to a server's worker, which may be the frame that holds the monitor.
 */
final class StackDepth {
    private static final int FRAMES = 256;

    private StackDepth() {}

    /** Increases the stack depth, which is possible only before the first use of the flight recorder. */
    static void deepen() {
        if (FlightRecorder.isInitialized()) {
            return;
        }
        try {
            ManagementFactory.getPlatformMBeanServer().invoke(
                    new ObjectName("com.sun.management:type=DiagnosticCommand"), "jfrConfigure",
                    new Object[] {new String[] {"stackdepth=" + FRAMES}}, new String[] {String[].class.getName()});
        } catch (JMException | RuntimeException notHere) {
            // The depth stays at 64 frames, and sites further down have no name.
        }
    }
}
