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

    /** Of 20,000 parts each element is in one in 64: 312 of them, with a standard deviation of 18. Five is fewer than the table can be halved. */
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

    /** Neighbours in the table began together: sixteen places of two or three differ from one of forty. */
    @Test
    void aPartComesFromAllOverTheTable() {
        List<Integer> taken = taken(setOf(10_000), 256);
        assertTrue(taken.size() > 16 && taken.size() < 100, taken.toString());
        long regions = taken.stream().mapToInt(number -> number / 1_000).distinct().count();
        assertTrue(regions >= 8, taken.toString());
    }
}
