package dev.threadcount.probe;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * How long a thread that could run waits until it does. A platform thread is due every 10 ms, which shows what delays any thread
 * of this process; each time it unparks a virtual thread, which shows how long virtual threads wait for a carrier.
 *
 * <p>Whatever comes late, as many delays are counted as were due: two seconds without a carrier are 200 delays of up to two
 * seconds, not a single one.
 */
final class Canary implements Runnable {
    static final long PERIOD_NS = TimeUnit.MILLISECONDS.toNanos(10);
    /** Requests to run that have not been met; more than in 40 s are not counted. */
    private static final int ROOM = 4_096;

    private final Delays platform = new Delays();
    private final Delays virtual = new Delays();
    private final long[] askedNs = new long[ROOM];
    /** Written by the asking thread only, after {@code askedNs}. */
    private volatile long asked;
    /** Written by the virtual thread only. */
    private volatile long answered;
    private volatile Thread virtualThread;
    private volatile boolean ended;

    /** A JVM without carriers would get some by a virtual thread of ours, so the first is the application's. */
    void startVirtual() {
        if (virtualThread == null && !ended) {
            Thread canary = OwnThreads.unstartedCanary(this::answer);
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
        long dueNs = System.nanoTime() + PERIOD_NS;
        while (!Thread.interrupted()) {
            long nowNs = System.nanoTime();
            if (nowNs < dueNs) {
                LockSupport.parkNanos(dueNs - nowNs);
                continue;
            }
            Thread asking = virtualThread;
            for (; dueNs <= nowNs; dueNs += PERIOD_NS) {
                platform.add(nowNs - dueNs);
                if (asking != null) {
                    ask(nowNs);
                }
            }
            LockSupport.unpark(asking);
        }
        ended = true;
        LockSupport.unpark(virtualThread);
    }

    @SuppressWarnings("NonAtomicOperationOnVolatileField")
    private void ask(long nowNs) {
        if (asked - answered < ROOM) {
            askedNs[(int) (asked % ROOM)] = nowNs;
            asked++;
        }
    }

    @SuppressWarnings("NonAtomicOperationOnVolatileField")
    private void answer() {
        while (!ended) {
            long nowNs = System.nanoTime();
            while (answered < asked) {
                virtual.add(nowNs - askedNs[(int) (answered % ROOM)]);
                answered++;
            }
            LockSupport.park(this);
        }
    }

    /** When the oldest request was made that has not been met; 0 for none. */
    long waitingSinceNs() {
        long first = answered;
        return first < asked ? askedNs[(int) (first % ROOM)] : 0;
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
