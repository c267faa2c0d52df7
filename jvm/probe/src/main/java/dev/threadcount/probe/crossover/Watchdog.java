package dev.threadcount.probe.crossover;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * Ends a session whose tool is silent, or that is over for another reason. It counts its own turns and not the time: after a pause
 * of the whole JVM a command that had come in time is still read.
 */
final class Watchdog implements Runnable {
    static final int LIMIT_MS = 800;
    /** While nothing is switched, so that a tool on a busy machine can begin, and one that was stopped does not stay. */
    static final int IDLE_LIMIT_MS = 30_000;
    /** For a switch on a machine that is busy: servers are searched for, classes loaded, threads started. */
    private static final int COMMAND_LIMIT_MS = 10_000;
    private static final int TURN_MS = 100;

    private final BooleanSupplier isSwitched;
    private final Supplier<String> whyOver;
    private final Consumer<String> end;
    private final AtomicInteger silentTurns = new AtomicInteger();
    private volatile boolean stopped;

    /**
     * @param isSwitched whether the server has a treatment
     * @param whyOver a sentence when the session is over; null while it is not
     * @param end ends the session, with a sentence
     */
    Watchdog(BooleanSupplier isSwitched, Supplier<String> whyOver, Consumer<String> end) {
        this.isSwitched = isSwitched;
        this.whyOver = whyOver;
        this.end = end;
    }

    /** A command has come. The time that we take for it is not silence of the tool's. */
    void commandBegins() {
        silentTurns.set(-COMMAND_LIMIT_MS / TURN_MS);
    }

    /** It has its reply. */
    void commandEnds() {
        silentTurns.set(0);
    }

    @Override
    public void run() {
        try {
            while (!stopped) {
                Thread.interrupted();
                LockSupport.parkNanos(TURN_MS * 1_000_000L);
                int limitMs = isSwitched.getAsBoolean() ? LIMIT_MS : IDLE_LIMIT_MS;
                String why = silentTurns.incrementAndGet() > limitMs / TURN_MS
                        ? "No command came for " + limitMs + " ms." : whyOver.get();
                if (why != null && !stopped) {
                    end.accept(why);
                    return;
                }
            }
        } catch (RuntimeException | Error failed) {
            end.accept("The watchdog failed: " + failed + ".");
        }
    }

    void stop(Thread thread) {
        stopped = true;
        LockSupport.unpark(thread);
    }
}
