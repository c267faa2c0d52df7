package dev.threadcount.probe.crossover;

import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;

/** The time from one switch to the next, with the tasks that were handed over in it. They may end later. */
final class Period {
    private final int number;
    private final Treatment treatment;
    /** Null for the server's own threads. */
    private final RequestThreads threads;
    private final LongAdder handedOver = new LongAdder();
    private final LongAdder begunVirtual = new LongAdder();
    private final LongAdder begunPlatform = new LongAdder();
    private final LongAdder ended = new LongAdder();
    private final LongAdder rejected = new LongAdder();
    private final LongAdder fellBack = new LongAdder();
    private final AtomicLong lastEndNs = new AtomicLong(Long.MIN_VALUE);
    private final ThreadNames names = new ThreadNames();
    private volatile long beganNs;
    private volatile long overNs;
    private volatile boolean over;

    Period(int number, Treatment treatment, RequestThreads threads) {
        this.number = number;
        this.treatment = treatment;
        this.threads = threads;
    }

    Treatment treatment() {
        return treatment;
    }

    RequestThreads threads() {
        return threads;
    }

    void begin(long nowNs) {
        beganNs = nowNs;
    }

    /** Ends the period. Its tasks may still begin and end. */
    void end(long nowNs) {
        overNs = nowNs;
        over = true;
    }

    void countHandedOver() {
        handedOver.increment();
    }

    void countRejected() {
        rejected.increment();
    }

    void countFellBack() {
        fellBack.increment();
    }

    void countBegin() {
        Thread thread = Thread.currentThread();
        (thread.isVirtual() ? begunVirtual : begunPlatform).increment();
        names.sample(thread);
    }

    void countEnd() {
        if (over) {
            lastEndNs.accumulateAndGet(System.nanoTime(), Math::max);
        }
        ended.increment();
    }

    /**
     * The counts at one moment. The order of reading matters: every ended task was handed over before, so handed-over tasks are read last.
     */
    PeriodCounts counts() {
        long gone = ended.sum();
        long dropped = rejected.sum();
        long virtual = begunVirtual.sum();
        long platform = begunPlatform.sum();
        return new PeriodCounts(handedOver.sum(), virtual, platform, gone, dropped, fellBack.sum());
    }

    /** Whether no task of this period runs or waits any more. */
    boolean isWashedOut() {
        return over && counts().remaining() == 0;
    }

    long beganNs() {
        return beganNs;
    }

    dev.threadcount.probe.JsonLine describe() {
        PeriodCounts counts = counts();
        long last = lastEndNs.get();
        var line = dev.threadcount.probe.JsonLine.nested()
                .put("period", number)
                .put("treatment", treatment.toString())
                .put("began_ns", beganNs);
        counts.put(line);
        line.put("kind_as_asked", counts.isAsAsked(treatment)).put("thread_names", names.describe());
        if (over) {
            line.put("over_ns", overNs).put("washed_out", counts.remaining() == 0)
                    .put("last_end_ns", last == Long.MIN_VALUE ? overNs : last);
        }
        return line;
    }
}
