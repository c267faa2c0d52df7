package dev.threadcount.probe;

import java.util.concurrent.TimeUnit;

/**
 * How long to wait after a sample: a share of one core is for samples. The first ones load classes and are interpreted, and what is
 * spared then is dear for ever, because it stays interpreted. So there is more in the beginning, which the explaining window of a steady
 * load leaves out.
 */
final class SamplingPace {
    /** Of one core: after dear samples the next one comes later. */
    private static final double BUDGET = 0.005;
    private static final double SETTLING_BUDGET = 0.1;
    private static final long SETTLING_NS = TimeUnit.SECONDS.toNanos(1);
    /** So that one dear sample, of up to this, is not the last for seconds. */
    private static final long CREDIT_NS = TimeUnit.MILLISECONDS.toNanos(50);

    private long beganNs;
    private long spentNs;
    private boolean isSettling = true;

    SamplingPace(long nowNs) {
        beganNs = nowNs;
    }

    /** How long the budget asks to wait after a sample of that cost; nothing, or less, when it asks for nothing. */
    long overdrawnNs(long costNs, long nowNs) {
        spentNs += costNs;
        if (isSettling && nowNs - beganNs >= SETTLING_NS) {
            // What it took to settle is paid.
            isSettling = false;
            beganNs = nowNs;
            spentNs = 0;
        }
        long passedNs = nowNs - beganNs;
        long overdrawnNs = (long) ((spentNs - CREDIT_NS) / (isSettling ? SETTLING_BUDGET : BUDGET)) - passedNs;
        return isSettling ? Math.min(overdrawnNs, SETTLING_NS - passedNs) : overdrawnNs;
    }
}
