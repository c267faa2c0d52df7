package dev.threadcount.probe;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class CanaryTest {
    @Test
    void delaysAreCountedInStepsOfAnEighthAndTheLongestIsKept() {
        Delays delays = new Delays();
        for (long micros : new long[] {0, 7, 8, 8, 17, 1_000_000}) {
            delays.add(micros * 1_000);
        }
        delays.add(-5);
        assertEquals(new Delays.Taken(7, 1_000_000_000, "1:2 8:1 9:2 18:1 1048576:1"), delays.take());
        assertEquals(new Delays.Taken(0, 0, ""), delays.take());
    }

    @Test
    void everyDelayIsInTheStepThatEndsRightAboveIt() {
        for (long micros = 0; micros < 3_000_000_000L; micros = micros * 17 / 16 + 1) {
            Delays delays = new Delays();
            delays.add(micros * 1_000);
            long atMost = Long.parseLong(delays.take().atMost().replace(":1", ""));
            assertEquals(true, atMost > micros && atMost <= micros + micros / 8 + 1, micros + " in " + atMost);
        }
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
