package dev.threadcount.probe;

import java.util.concurrent.TimeUnit;

/**
 * Says how long to wait after a sample, so that samples use a share of one core. The first samples load classes and are
 * interpreted. If they were rare, later samples would stay interpreted and expensive. So the share is larger at the
 * beginning, which the explaining window of a steady load leaves out.
 */
final class SamplingPace {
    /** The share of one core in a busy process. After an expensive sample the next one comes later. */
    private static final double BUSY_BUDGET = 0.004;
    /** The share if cores are idle. Nobody waits for a sample then, and it is expensive because little of it is compiled. */
    private static final double BUDGET = 0.01;
    private static final double SETTLING_BUDGET = 0.1;
    private static final long SETTLING_NS = TimeUnit.SECONDS.toNanos(1);
    /** The time in advance, so that one expensive sample is not the last one for seconds. */
    private static final long CREDIT_NS = TimeUnit.MILLISECONDS.toNanos(50);

    private final long beganNs;
    private long thenNs;
    /** The time that samples have taken beyond the budget. */
    private double owedNs;
    private boolean isSettling = true;

    SamplingPace(long nowNs) {
        beganNs = nowNs;
        thenNs = nowNs;
    }

    /** How long to wait after a sample of this cost, to stay within the budget. Zero or less if there is no need to wait. */
    long overdrawnNs(long costNs, long nowNs, boolean isBusy) {
        long settlingNs = SETTLING_NS - (nowNs - beganNs);
        double budget = isBusy ? BUSY_BUDGET : BUDGET;
        if (isSettling && settlingNs > 0) {
            budget = SETTLING_BUDGET;
        } else if (isSettling) {
            // The cost of settling is forgotten.
            isSettling = false;
            owedNs = 0;
            costNs = 0;
            thenNs = nowNs;
        }
        owedNs += costNs - (nowNs - thenNs) * budget;
        thenNs = nowNs;
        long overdrawnNs = (long) ((owedNs - CREDIT_NS) / budget);
        return isSettling ? Math.min(overdrawnNs, settlingNs) : overdrawnNs;
    }
}
