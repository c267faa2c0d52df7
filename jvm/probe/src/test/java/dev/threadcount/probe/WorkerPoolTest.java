package dev.threadcount.probe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class WorkerPoolTest {
    private static ThreadPoolExecutor pool(int core, int maximum, BlockingQueue<Runnable> queue) {
        return new ThreadPoolExecutor(core, maximum, 1, TimeUnit.SECONDS, queue);
    }

    @Test
    void anUnboundedQueueKeepsAPoolAtItsCoreSizeAndABoundedOneDoesNot() {
        assertEquals(4, WorkerPool.of(pool(4, 50, new LinkedBlockingQueue<>())).size());
        assertEquals(50, WorkerPool.of(pool(4, 50, new ArrayBlockingQueue<>(10))).size());
        assertEquals(1, WorkerPool.of(pool(0, 50, new LinkedBlockingQueue<>())).size());
    }

    @Test
    void whatRunsAndWhatWaitsIsCounted() throws InterruptedException {
        CountDownLatch begun = new CountDownLatch(2);
        CountDownLatch end = new CountDownLatch(1);
        try (ThreadPoolExecutor pool = pool(2, 2, new LinkedBlockingQueue<>())) {
            for (int i = 0; i < 5; i++) {
                pool.execute(() -> {
                    begun.countDown();
                    try {
                        end.await();
                    } catch (InterruptedException ended) {
                        Thread.currentThread().interrupt();
                    }
                });
            }
            begun.await();
            WorkerPool read = WorkerPool.of(pool);
            end.countDown();
            assertEquals(new WorkerPool("java.util.concurrent.ThreadPoolExecutor", 2, 2, 2, 3, 0), read);
        }
    }

    @Test
    void aForkJoinPoolRunsAsManyTasksAsItsParallelism() {
        try (ForkJoinPool pool = new ForkJoinPool(3)) {
            assertEquals(3, WorkerPool.of(pool).size());
        }
        assertNull(WorkerPool.of("no executor"));
    }

    @Test
    void aFamilyHasAStarForTheLastNumber() {
        assertEquals("pool-1-thread-*", VoluntarySwitches.withoutNumber("pool-1-thread-17"));
        assertEquals("http-nio-8080-exec-*", VoluntarySwitches.withoutNumber("http-nio-8080-exec-3"));
        assertEquals("main", VoluntarySwitches.withoutNumber("main"));
    }
}
