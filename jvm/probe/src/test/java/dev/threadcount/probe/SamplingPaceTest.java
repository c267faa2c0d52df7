package dev.threadcount.probe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests with samples of known cost, and a clock that is made up. */
class SamplingPaceTest {
    private static final long MS = 1_000_000;
    private static final long PERIOD_MS = 100;

    /** The times at which samples begin. */
    private static List<Long> beginsMs(long firstMs, long eachMs, long untilMs, boolean isBusy) {
        SamplingPace pace = new SamplingPace(0);
        List<Long> begins = new ArrayList<>();
        long now = 0;
        for (long cost = firstMs; now < untilMs; cost = eachMs) {
            begins.add(now);
            now += cost;
            now += Math.max(PERIOD_MS, pace.overdrawnNs(cost * MS, now * MS, isBusy) / MS);
        }
        return begins;
    }

    /** The window is the shortest explaining window: three seconds after a lead-in of one. */
    @ParameterizedTest
    @CsvSource({"30, 5", "25, 8", "60, 8", "250, 8"})
    void dearSamplesAreStillEnoughForAnIntervalInTheShortestWindow(long firstMs, long eachMs) {
        long inside = beginsMs(firstMs, eachMs, 4_000, true).stream().filter(at -> at >= 1_000).count();
        assertTrue(inside >= 6, inside + " samples");
    }

    @ParameterizedTest
    @CsvSource({"true, 400", "false, 1000"})
    void afterTheFirstSecondSamplesTakeFourThousandthsOfACoreOrTenWhereCoresAreIdle(boolean isBusy, long budgetMs) {
        long eachMs = 10;
        long spentMs = eachMs * beginsMs(60, eachMs, 101_000, isBusy).stream().filter(at -> at >= 1_200).count();
        assertTrue(spentMs >= budgetMs - 50 && spentMs <= budgetMs + 60, spentMs + " ms in 100 s");
    }

    /** The sampler of a slow service with ten clients is hardly compiled. The window has eight seconds. */
    @Test
    void inAnIdleProcessThereAreTenDearSamplesInAWindowOfEightSeconds() {
        long inside = beginsMs(60, 10, 9_000, false).stream().filter(at -> at >= 1_000).count();
        assertTrue(inside >= 10, inside + " samples");
    }

    /** 60 ms are 10 more than allowed in advance: 2.5 s in a busy process, and 1 s in one that turns out to be idle. */
    @Test
    void aProcessThatWasBusyForAMomentDoesNotWaitAsLongAsABusyOne() {
        SamplingPace pace = new SamplingPace(0);
        pace.overdrawnNs(0, 1_000 * MS, true);
        assertEquals(2_500, pace.overdrawnNs(60 * MS, 1_000 * MS, true) / MS);
        assertEquals(500, pace.overdrawnNs(0, 1_500 * MS, false) / MS);
    }

    /** The window has six seconds after a lead-in of one. */
    @Test
    void cheapSamplesComeEachPeriodOfAWindow() {
        long count = beginsMs(5, 1, 7_000, true).size();
        assertTrue(count >= 65, count + " samples in 7 s");
    }
}
