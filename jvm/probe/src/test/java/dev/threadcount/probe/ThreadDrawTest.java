package dev.threadcount.probe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class ThreadDrawTest {
    private static final List<Thread> THREADS =
            IntStream.range(0, 50).mapToObj(i -> Thread.ofPlatform().unstarted(() -> {})).toList();

    @Test
    void fewerThreadsThanAreDrawnAreAllDrawn() {
        ThreadDraw draw = new ThreadDraw(100);
        THREADS.forEach(draw::offer);
        assertEquals(50, draw.seen());
        assertEquals(50, draw.first(100).size());
        assertEquals(7, draw.first(7).size());
    }

    /** Each of 50 is drawn with probability 0.2: 2,000 times in 10,000, with a standard deviation of 40. */
    @Test
    void eachThreadIsAsLikelyAsAnyOther() {
        int[] drawn = new int[THREADS.size()];
        for (int i = 0; i < 10_000; i++) {
            ThreadDraw draw = new ThreadDraw(20);
            THREADS.forEach(draw::offer);
            draw.first(10).forEach(thread -> drawn[THREADS.indexOf(thread)]++);
        }
        for (int count : drawn) {
            assertTrue(count > 1_760 && count < 2_240, count + " of 10,000");
        }
    }
}
