package dev.threadcount.probe.crossover;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * Ends a session whose tool is silent, or that is over for another reason. It counts its turns instead of the time: so
 * a command that came in time is read even after a pause of the whole JVM.
 */
final class Watchdog implements Runnable {
    static final int LIMIT_MS = 800;
    /** The limit while nothing is switched. A tool on a busy machine can begin within it, and one that was stopped does not stay. */
    static final int IDLE_LIMIT_MS = 30_000;
    /** The limit for a command on a busy machine: servers are searched, classes loaded, threads started. */
    private static final int COMMAND_LIMIT_MS = 10_000;
    private static final int TURN_MS = 100;

    private final BooleanSupplier isSwitched;
    private final Supplier<String> whyOver;
    private final Consumer<String> end;
    private final AtomicInteger silentTurns = new AtomicInteger();
    private volatile boolean stopped;

    /**
     * @param isSwitched whether the server has a treatment
     * @param whyOver why the session is over, as a sentence; null while it is not
     * @param end ends the session, with a sentence
     */
    Watchdog(BooleanSupplier isSwitched, Supplier<String> whyOver, Consumer<String> end) {
        this.isSwitched = isSwitched;
        this.whyOver = whyOver;
        this.end = end;
    }

    /** A command has come. The time that it takes us does not count as silence of the tool. */
    void commandBegins() {
        silentTurns.set(-COMMAND_LIMIT_MS / TURN_MS);
    }

    /** The command has its reply. */
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
