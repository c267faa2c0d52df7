package dev.threadcount.probe;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class CanaryTest {
    @Test
    void delaysAreCountedInStepsOfAnEighthAndTheLongestIsKept() {
        Delays delays = new Delays();
        for (long micros : new long[] {0, 7, 8, 8, 17, 9_000}) {
            delays.addAll(0, micros * 1_000, 1);
        }
        delays.addAll(5, 0, 1);
        assertEquals(new Delays.Taken(7, 9_000_000, "1:2 8:1 9:2 18:1 9216:1"), delays.take());
        assertEquals(new Delays.Taken(0, 0, ""), delays.take());
    }

    @Test
    void everyDelayIsInTheStepThatEndsRightAboveIt() {
        for (long micros = 0; micros < 10_000; micros = micros * 17 / 16 + 1) {
            Delays delays = new Delays();
            delays.addAll(0, micros * 1_000, 1);
            long atMost = Long.parseLong(delays.take().atMost().replace(":1", ""));
            assertEquals(true, atMost > micros && atMost <= micros + micros / 8 + 1, micros + " in " + atMost);
        }
    }

    @Test
    void whatIsLateDelaysAllThatWereDueMeanwhile() {
        Delays delays = new Delays();
        delays.addAll(0, 2_000_000_000L, 7);
        Delays.Taken taken = delays.take();
        assertEquals(7 + 199, taken.count());
        assertEquals(2_000_000_000L, taken.longestNs());
    }

    @Test
    void whereWakingCostsMoreItAsksLessOften() {
        assertEquals(1, Canary.periods(0));
        assertEquals(1, Canary.periods(4_000));
        assertEquals(10, Canary.periods(40_000));
        assertEquals(50, Canary.periods(1e9));
    }

    @Test
    void framesInCommonAreThoseFromTheFirstCallToWhereTheLinesDiffer() {
        StackTraceElement[] one = {frame("hash", 3), frame("loop", 7), frame("main", 1)};
        StackTraceElement[] other = {frame("loop", 7), frame("main", 1)};
        StackTraceElement[] third = {frame("hash", 3), frame("loop", 8), frame("main", 1)};
        assertEquals("loop", HeldCarriers.common(one, other)[0].getMethodName());
        assertEquals(1, HeldCarriers.common(one, third).length);
        assertEquals(3, HeldCarriers.common(one, one).length);
    }

    private static StackTraceElement frame(String method, int line) {
        return new StackTraceElement("shop.Orders", method, "Orders.java", line);
    }
}
