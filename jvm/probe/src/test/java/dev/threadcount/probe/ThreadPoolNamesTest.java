package dev.threadcount.probe;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class ThreadPoolNamesTest {
    private final ThreadPoolNames names = new ThreadPoolNames();
    private final Map<Thread, Object> executors = new HashMap<>();
    private final List<Thread> threads = new ArrayList<>();

    private void add(Object executor, String... called) {
        for (String name : called) {
            Thread thread = new Thread(() -> {}, name);
            executors.put(thread, executor);
            threads.add(thread);
        }
    }

    private Map<String, Integer> sizes() {
        Map<String, Integer> sizes = new TreeMap<>();
        names.of(threads, executors::get).forEach((name, members) -> sizes.put(name, members.size()));
        return sizes;
    }

    private static ThreadPoolExecutor pool(int size) {
        return new ThreadPoolExecutor(size, size, 0, TimeUnit.SECONDS, new LinkedBlockingQueue<>());
    }

    @Test
    void theNumberThatDiffersIsTheThreadsWhereverItStands() {
        add(null, IntStream.rangeClosed(1, 8).mapToObj(at -> "worker-" + at + "-of-8").toArray(String[]::new));
        add(null, "http-8080-exec-1-handler", "http-8080-exec-2-handler", "http-8443-exec-1-handler", "main");
        add(null, "loop-1-conn-5", "loop-2-conn-9", "loop-3-conn-2");
        assertEquals(Map.of("worker-*-of-8", 8, "http-8080-exec-*-handler", 2, "http-8443-exec-*-handler", 1, "main", 1, "loop-*-conn-*", 3),
                sizes());
    }

    @Test
    void poolsWithNumbersOfTheirOwnStayApart() {
        add(null, "pool-1-thread-1", "pool-1-thread-2", "pool-2-thread-1", "pool-2-thread-2");
        add(null, "group-4-1", "group-5-1");
        add(new Object(), "single-1-thread-1");
        add(new Object(), "single-2-thread-1");
        assertEquals(Map.of("pool-1-thread-*", 2, "pool-2-thread-*", 2, "group-4-*", 1, "group-5-*", 1, "single-1-thread-*", 1,
                "single-2-thread-*", 1), sizes());
    }

    @Test
    void threadsOfOneExecutorAreOnePoolWhateverTheyAreCalled() {
        add(pool(8), "worker-3-of-8", "worker-4-of-8");
        add(pool(8), "exec-1", "exec-12 GET /orders/7", "exec-3");
        add(pool(2), "reader", "writer");
        assertEquals(Map.of("worker-*-of-8", 2, "exec-*", 3, "reader", 2), sizes());
    }

    @Test
    void poolsWithThreadsOfTheSameNamesAreTwoAndStaySo() {
        ThreadPoolExecutor first = pool(4);
        ThreadPoolExecutor second = pool(8);
        add(first, "worker-1", "worker-2");
        add(second, "worker-1", "worker-2", "worker-3");
        Map<String, Integer> both = Map.of("worker-*", 2, "worker-* (2)", 3);
        assertEquals(both, sizes());
        threads.removeIf(thread -> executors.get(thread) == first);
        assertEquals(Map.of("worker-* (2)", 3), sizes());
        add(first, "worker-3");
        assertEquals(Map.of("worker-*", 1, "worker-* (2)", 3), sizes(), "it has room for more than the one thread");
    }

    @Test
    void executorsOfAThreadEachAreOneFamilyByTheirNames() {
        add(pool(1), "partition-1");
        add(pool(1), "partition-2");
        add(null, "partition-3");
        assertEquals(Map.of("partition-*", 3), sizes());
    }
}
