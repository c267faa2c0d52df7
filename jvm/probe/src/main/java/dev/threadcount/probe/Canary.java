package dev.threadcount.probe;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * How long a thread that could run waits until it does. A platform thread is due at a known time, which shows what delays any
 * thread of this process; then it unparks a virtual thread, which shows how long virtual threads wait for a carrier.
 *
 * <p>It counts a delay for every 10 ms. While a thread waits these need no wake: two seconds without a carrier are 200 delays of up to
 * two seconds, not a single one. Where waking it costs too much, as in an idle virtual machine, it asks less often, and the
 * delay that it finds stands for the time since the last one.
 */
final class Canary implements Runnable {
    static final long PERIOD_NS = TimeUnit.MILLISECONDS.toNanos(10);
    /** Of one core, for both threads. */
    private static final double BUDGET = 0.001;
    /** The carrier of the virtual thread costs somewhat more than the asking thread (bench/CanaryCost.java). */
    private static final double BOTH_THREADS = 2.5;
    private static final int MOST_PERIODS = 50;
    /** How fast a change of the cost is followed. */
    private static final double SMOOTHING = 0.05;

    private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private final Delays platform = new Delays();
    private final Delays virtual = new Delays();
    /** When the virtual thread was asked; 0 when it has answered. The asking thread sets it, the virtual one resets it. */
    private volatile long askedNs;
    private volatile long answeredNs;
    private volatile Thread virtualThread;
    private volatile boolean ended;
    /** For how many periods the question stands; written before {@code askedNs}. */
    private long periodsAsked;
    private double costNs = PERIOD_NS * BUDGET * 10 / BOTH_THREADS;

    /** A JVM without carriers would get some by a virtual thread of ours, so the first is the application's. */
    void startVirtual() {
        if (virtualThread == null && !ended) {
            Thread canary = OwnThreads.unstartedCanary(this::answer);
            answeredNs = System.nanoTime();
            virtualThread = canary;
            canary.start();
        }
    }

    /** Null before there is one. */
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

    /** After how many periods it asks again. */
    static long periods(double costNs) {
        return Math.clamp((long) Math.ceil(costNs * BOTH_THREADS / (BUDGET * PERIOD_NS)), 1, MOST_PERIODS);
    }

    private void ask(long nowNs, long periods) {
        if (virtualThread != null && askedNs == 0) {
            // A question that was answered late stands for the time until then.
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

    /** When the virtual thread was asked to run, which it has not yet; 0 if it has. */
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
