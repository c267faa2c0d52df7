package dev.threadcount.probe;

import java.util.concurrent.TimeUnit;

/**
 * How long to wait after a sample: a share of one core is for samples. The first ones load classes and are interpreted, and what is
 * spared then is dear for ever, because it stays interpreted. So there is more in the beginning, which the explaining window of a steady
 * load leaves out.
 */
final class SamplingPace {
    /** Of one core, in a busy process: after dear samples the next one comes later. */
    private static final double BUSY_BUDGET = 0.004;
    /** Where cores are idle, nobody waits for a sample, and it is dear, because little of it is compiled. */
    private static final double BUDGET = 0.01;
    private static final double SETTLING_BUDGET = 0.1;
    private static final long SETTLING_NS = TimeUnit.SECONDS.toNanos(1);
    /** So that one dear sample, of up to this, is not the last for seconds. */
    private static final long CREDIT_NS = TimeUnit.MILLISECONDS.toNanos(50);

    private final long beganNs;
    private long thenNs;
    /** What samples have taken beyond the budget. */
    private double owedNs;
    private boolean isSettling = true;

    SamplingPace(long nowNs) {
        beganNs = nowNs;
        thenNs = nowNs;
    }

    /** How long the budget asks to wait after a sample of that cost; nothing, or less, when it asks for nothing. */
    long overdrawnNs(long costNs, long nowNs, boolean isBusy) {
        long settlingNs = SETTLING_NS - (nowNs - beganNs);
        double budget = isBusy ? BUSY_BUDGET : BUDGET;
        if (isSettling && settlingNs > 0) {
            budget = SETTLING_BUDGET;
        } else if (isSettling) {
            // What it took to settle is paid.
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
