package dev.threadcount.probe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.ThreadLocalRandom;
import org.junit.jupiter.api.Test;

class ThreadDrawTest {
    private static ThreadDraw offered(int expected, int wanted, int threads) {
        ThreadDraw draw = new ThreadDraw(expected, wanted, 0.99);
        for (int i = 0; i < threads; i++) {
            draw.offer();
        }
        return draw;
    }

    @Test
    void fewerThreadsThanAreWantedAreAllDrawn() {
        ThreadDraw draw = offered(50, 100, 50);
        assertEquals(50, draw.seen());
        assertEquals(50, draw.drawn());
        assertEquals(5, offered(50, 5, 50).drawn());
    }

    @Test
    void aCrowdThatWasNotExpectedCostsTwiceWhatWasWanted() {
        ThreadDraw draw = offered(0, 20, 100_000);
        assertEquals(100_000, draw.seen());
        assertEquals(40, draw.drawn());
    }

    /** Each of 50 threads is drawn with probability 0.2: 2,000 times in 10,000 draws, with a standard deviation of 40. */
    @Test
    void eachThreadIsAsLikelyAsAnyOther() {
        for (int wanted : new int[] {10, 9}) {
            int[] drawn = new int[50];
            for (int round = 0; round < 10_000; round++) {
                ThreadDraw draw = new ThreadDraw(50, wanted, ThreadLocalRandom.current().nextDouble());
                for (int i = 0; i < drawn.length; i++) {
                    drawn[i] += draw.offer() ? 1 : 0;
                }
            }
            for (int count : drawn) {
                assertTrue(Math.abs(count - 200 * wanted) < 240, count + " of 10,000");
            }
        }
    }
}
