package dev.threadcount.probe;

import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import jdk.jfr.FlightRecorder;
import jdk.jfr.RecordingState;

/**
 * Has contended monitors recorded in a process that leaves most of the cores idle, as a server that a lock starves does.
 *
 * <p>As long as {@code jdk.JavaMonitorEnter} is on, the JVM writes down each virtual thread that leaves a monitor which
 * somebody once waited for ({@code ObjectMonitor::exit} keeps the owner for the event, and JFR keeps the thread): one for
 * each request of a Tomcat, which the stream then holds in memory. In a busy process that is dear, and samples of stacks show who waits.
 */
final class MonitorWatch implements Runnable {
    private static final long PERIOD_NS = TimeUnit.SECONDS.toNanos(1);
    /** A process that starts something is busy for a moment,. */
    private static final int BUSY_PERIODS = 2;

    private final Runnable on;
    private final Runnable off;
    private final BooleanSupplier isBusy;

    /**
     * Of an event that is on.
     *
     * @param on enables it
     * @param off disables it
     * @param isBusy whether the process was busy since the question before
     */
    MonitorWatch(Runnable on, Runnable off, BooleanSupplier isBusy) {
        this.on = on;
        this.off = off;
        this.isBusy = isBusy;
    }

    /** Until it is interrupted. */
    @Override
    public void run() {
        boolean isOn = true;
        int busyPeriods = 0;
        try {
            while (true) {
                TimeUnit.NANOSECONDS.sleep(PERIOD_NS);
                busyPeriods = isBusy.getAsBoolean() ? busyPeriods + 1 : 0;
                boolean isWanted = busyPeriods < BUSY_PERIODS;
                if (isOn != isWanted && !isRecordedByOthers()) {
                    (isWanted ? on : off).run();
                    isOn = isWanted;
                }
            }
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        } catch (IllegalStateException closed) {
            // The flight recorder has ended before us, as it does when the JVM ends.
        }
    }

    /** Each change of a setting makes the JVM write all settings of all events into every recording that is kept. */
    private static boolean isRecordedByOthers() {
        return FlightRecorder.getFlightRecorder().getRecordings().stream()
                .filter(recording -> recording.getState() == RecordingState.RUNNING)
                .count() > 1;
    }
}
