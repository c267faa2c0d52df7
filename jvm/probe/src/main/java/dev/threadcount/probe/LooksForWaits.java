package dev.threadcount.probe;

import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import jdk.jfr.FlightRecorder;
import jdk.jfr.RecordingState;

/**
 * Watches contended monitors all the time in a process that leaves most of the cores idle, and a quarter of the time in a
 * busy one, for a second each; a busy process's waits that are longer are not seen.
 *
 * <p>As long as {@code jdk.JavaMonitorEnter} is on, the JVM writes down each virtual thread that leaves a monitor which
 * somebody once waited for ({@code ObjectMonitor::exit} keeps the owner for the event, and JFR keeps the thread): one for
 * each request of a Tomcat, which the stream then holds in memory. A look begins at random within its round, so that it
 * keeps no step with what the server does at regular times.
 */
final class LooksForWaits implements Runnable {
    private static final long ROUND_NS = TimeUnit.SECONDS.toNanos(4);
    private static final long LOOK_NS = TimeUnit.SECONDS.toNanos(1);
    /** Interval at which an idle process is checked. */
    private static final long IDLE_ROUND_NS = TimeUnit.SECONDS.toNanos(1);

    private final Runnable on;
    private final Runnable off;
    private final Looks looks = new Looks();
    private final ProcessLoad process = new ProcessLoad();

    /**
     * Looks.
     *
     * @param on enables the event for waits, which may be enabled already
     * @param off disables it
     */
    LooksForWaits(Runnable on, Runnable off) {
        this.on = on;
        this.off = off;
    }

    /** The weight of a wait; 0 outside of all windows. */
    double weight(long beganNs, long endedNs) {
        return looks.weight(beganNs, endedNs);
    }

    /** Looks until it is interrupted. */
    @Override
    public void run() {
        try {
            if (!isRecordedByOthers()) {
                off.run();
            }
            while (true) {
                if (!process.isBusy() || isRecordedByOthers()) {
                    lookUntilBusy();
                }
                lookBriefly();
            }
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        } catch (IllegalStateException closed) {
            // The flight recorder has ended before us, as it does when the JVM ends.
        }
    }

    private void lookUntilBusy() throws InterruptedException {
        on.run();
        long fromNs = System.nanoTime();
        looks.throughout(fromNs, Long.MAX_VALUE);
        do {
            TimeUnit.NANOSECONDS.sleep(IDLE_ROUND_NS);
        } while (!process.isBusy() || isRecordedByOthers());
        looks.throughout(fromNs, System.nanoTime() - fromNs);
        off.run();
    }

    /** Each change of a setting makes the JVM write all settings of all events into every recording that is kept. */
    private static boolean isRecordedByOthers() {
        return FlightRecorder.getFlightRecorder().getRecordings().stream()
                .filter(recording -> recording.getState() == RecordingState.RUNNING)
                .count() > 1;
    }

    private void lookBriefly() throws InterruptedException {
        long beganNs = System.nanoTime();
        TimeUnit.NANOSECONDS.sleep(ThreadLocalRandom.current().nextLong(ROUND_NS - LOOK_NS));
        on.run();
        long fromNs = System.nanoTime();
        looks.partOf(ROUND_NS, fromNs, LOOK_NS);
        TimeUnit.NANOSECONDS.sleep(LOOK_NS);
        long lengthNs = System.nanoTime() - fromNs;
        off.run();
        TimeUnit.NANOSECONDS.sleep(beganNs + ROUND_NS - System.nanoTime());
        looks.partOf(System.nanoTime() - beganNs, fromNs, lengthNs);
    }
}
