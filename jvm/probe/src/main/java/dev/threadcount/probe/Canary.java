package dev.threadcount.probe;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Measures how long a runnable thread waits until it runs. A platform thread is due at a known time, and its delay shows what delays any
 * thread of this process. It then unparks a virtual thread, and the delay of that one shows how long virtual threads wait for a carrier.
 *
 * <p>A delay counts once for every 10 ms: two seconds without a carrier are 200 delays of up to two seconds, not a single one. No wake is
 * needed for these. If a wake costs too much, as in an idle virtual machine, the canary measures less often, and a delay stands for the
 * time since the previous one.
 */
final class Canary implements Runnable {
    static final long PERIOD_NS = TimeUnit.MILLISECONDS.toNanos(10);
    /** The share of one core that both threads may use. */
    private static final double BUDGET = 0.001;
    /** The cost of both threads divided by that of the asking thread (bench/CanaryCost.java). */
    private static final double BOTH_THREADS = 2.5;
    private static final int MOST_PERIODS = 50;
    /** The weight of a new cost in the running mean. */
    private static final double SMOOTHING = 0.05;

    private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private final Delays platform = new Delays();
    private final Delays virtual = new Delays();
    /** When the virtual thread was asked, or 0 if it has answered. The asking thread sets it, the virtual one resets it. */
    private volatile long askedNs;
    private volatile long answeredNs;
    private volatile Thread virtualThread;
    private volatile boolean ended;
    /** The number of periods for which the question stands. Written before {@code askedNs}. */
    private long periodsAsked;
    private double costNs = PERIOD_NS * BUDGET * 10 / BOTH_THREADS;

    /** Starts the virtual thread once the application has a virtual thread. In a JVM without carriers, ours would create some. */
    void startVirtual() {
        if (virtualThread == null && !ended) {
            Thread canary = OwnThreads.unstartedCanary(this::answer);
            answeredNs = System.nanoTime();
            virtualThread = canary;
            canary.start();
        }
    }

    /** The virtual thread, or null before there is one. */
    Thread virtualThread() {
        return virtualThread;
    }

    /** Asks until it is interrupted. */
    @Override
    public void run() {
        long periods = MOST_PERIODS;
        long dueNs = System.nanoTime() + periods * PERIOD_NS;
        long cpuNs = threads.getCurrentThreadCpuTime();
        while (!Thread.interrupted()) {
            long nowNs = System.nanoTime();
            if (nowNs < dueNs) {
                LockSupport.parkNanos(dueNs - nowNs);
                continue;
            }
            platform.addAll(dueNs, nowNs, periods);
            ask(nowNs, periods);
            long afterNs = threads.getCurrentThreadCpuTime();
            costNs += SMOOTHING * (afterNs - cpuNs - costNs);
            cpuNs = afterNs;
            periods = periods(costNs);
            dueNs = nowNs + periods * PERIOD_NS;
        }
        ended = true;
        LockSupport.unpark(virtualThread);
    }

    /** The number of periods until it asks again. */
    static long periods(double costNs) {
        return Math.clamp((long) Math.ceil(costNs * BOTH_THREADS / (BUDGET * PERIOD_NS)), 1, MOST_PERIODS);
    }

    private void ask(long nowNs, long periods) {
        if (virtualThread != null && askedNs == 0) {
            // If the previous answer came late, this question stands for the time until then.
            periodsAsked = Math.clamp((nowNs - answeredNs) / PERIOD_NS, 1, periods);
            askedNs = nowNs;
            LockSupport.unpark(virtualThread);
        }
    }

    private void answer() {
        while (!ended) {
            long fromNs = askedNs;
            if (fromNs != 0) {
                long nowNs = System.nanoTime();
                virtual.addAll(fromNs, nowNs, periodsAsked);
                answeredNs = nowNs;
                askedNs = 0;
            }
            LockSupport.park(this);
        }
    }

    /** When the virtual thread was asked to run, or 0 if it has run since. */
    long waitingSinceNs() {
        return askedNs;
    }

    void writeTo(Output output, long timeNs) {
        write(output, timeNs, false, platform.take(), 0);
        if (virtualThread != null) {
            long sinceNs = waitingSinceNs();
            write(output, timeNs, true, virtual.take(), sinceNs == 0 ? 0 : Math.max(0, timeNs - sinceNs));
        }
    }

    private static void write(Output output, long timeNs, boolean isVirtual, Delays.Taken taken, long waitingNs) {
        output.write(JsonLine.of("run_delay", timeNs)
                .put("virtual", isVirtual)
                .put("count", taken.count())
                .put("longest_ns", taken.longestNs())
                .put("waiting_ns", waitingNs)
                .put("period_ns", PERIOD_NS)
                .put("at_most_us", taken.atMost()));
    }
}
