package dev.threadcount.probe.inside;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class RandomPartTest {
    private final RandomPart part = new RandomPart(new Random(1));

    private static Set<Integer> setOf(int elements) {
        Set<Integer> set = ConcurrentHashMap.newKeySet();
        IntStream.range(0, elements).forEach(set::add);
        return set;
    }

    private List<Integer> taken(Set<Integer> from, int oneIn) {
        List<Integer> taken = new ArrayList<>();
        part.of(from.spliterator(), oneIn, taken::add);
        return taken;
    }

    @Test
    void oneInOneIsAll() {
        assertEquals(setOf(1_000), new HashSet<>(taken(setOf(1_000), 1)));
        assertEquals(List.of(), taken(setOf(0), 8));
    }

    /**
     * In 20,000 parts each element comes once in 64: 312 times, with a standard deviation of 18. The table of five cannot be halved far
     * enough.
     */
    @Test
    void eachElementIsAsLikelyAsAnyOtherInASmallTableAndInALargeOneThatIsNearlyEmpty() {
        Set<Integer> nearlyEmpty = setOf(10_000);
        nearlyEmpty.removeIf(number -> number % 1_000 != 0);
        for (Set<Integer> set : List.of(setOf(5), setOf(1_000), nearlyEmpty)) {
            int[] times = new int[10_000];
            for (int round = 0; round < 20_000; round++) {
                taken(set, 64).forEach(element -> times[element]++);
            }
            for (int element : set) {
                assertTrue(Math.abs(times[element] - 312) < 90, times[element] + " times " + element + " of " + set.size());
            }
        }
    }

    /** Neighbours in a table of threads began together. A part that came from few places would have many of them or none. */
    @Test
    void aPartOfWhatIsNearEachOtherIsNeitherEmptyNorTwiceAsLargeAsItsShare() {
        Set<Integer> youngest = setOf(10_000);
        youngest.removeIf(number -> number < 8_000);
        for (int round = 0; round < 1_000; round++) {
            int taken = taken(youngest, 8).size();
            assertTrue(taken > 150 && taken < 350, taken + " of 2,000");
        }
    }
}
