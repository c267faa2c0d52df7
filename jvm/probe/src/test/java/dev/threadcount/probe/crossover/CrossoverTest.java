package dev.threadcount.probe.crossover;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class CrossoverTest {
    private final List<String> ownRan = Collections.synchronizedList(new ArrayList<>());
    private final Executor own = task -> {
        ownRan.add(Thread.currentThread().getName());
        task.run();
    };
    private final RequestExecutor requests = new RequestExecutor(own);

    /** Threads that take no task. */
    private static final RequestThreads BROKEN = new RequestThreads() {
        @Override
        public void execute(CountedTask task) {
            throw new OutOfMemoryError("unable to create native thread");
        }

        @Override
        public void close() {}

        @Override
        public void stop() {}
    };

    @Test
    void taskThatIsNotTakenRunsOnTheOwnExecutorAndSoDoAllThatFollow() {
        Period period = new Period(1, Treatment.parse("virtual"), BROKEN);
        requests.use(period);
        AtomicInteger ran = new AtomicInteger();
        requests.execute(ran::incrementAndGet);
        requests.execute(ran::incrementAndGet);
        assertEquals(2, ran.get());
        assertEquals(2, ownRan.size());
        assertTrue(requests.failure() instanceof OutOfMemoryError);
        PeriodCounts counts = period.counts();
        assertEquals(1, counts.fellBack());
        assertEquals(0, counts.remaining());
        assertTrue(!counts.isAsAsked(period.treatment()));
    }

    @Test
    void taskThatTheOwnExecutorRejectsIsRejectedAsWithoutUs() {
        RequestExecutor full = new RequestExecutor(task -> {
            throw new RejectedExecutionException("full");
        });
        Period period = new Period(1, Treatment.OWN, null);
        full.use(period);
        assertThrows(RejectedExecutionException.class, () -> full.execute(() -> { }));
        assertEquals(1, period.counts().rejected());
        assertEquals(0, period.counts().remaining());
        assertNull(full.failure());
    }

    @Test
    void exceptionOfATaskIsTheServersAndCountsAsItsEnd() {
        Period period = new Period(1, Treatment.OWN, null);
        requests.use(period);
        assertThrows(IllegalStateException.class, () -> requests.execute(() -> {
            throw new IllegalStateException("of the application");
        }));
        assertEquals(1, period.counts().ended());
        assertNull(requests.failure());
    }

    @Test
    void failureEndsTheCrossoverWithASentence() {
        FakeServer server = new FakeServer(own);
        Crossover crossover = new Crossover();
        crossover.switchTo(Treatment.OWN, server);
        assertNull(crossover.whyOver());
        CountedTask task = new CountedTask(new Period(9, Treatment.OWN, null), () -> { });
        ((RequestExecutor) server.executor.get()).run(task, new IllegalStateException("broken"));
        assertTrue(crossover.whyOver().startsWith("The threads of the treatment did not take a request"), crossover.whyOver());
        assertThrows(IllegalStateException.class, () -> crossover.switchTo(Treatment.OWN, server));
        crossover.end();
        assertSame(own, server.executor.get());
        assertNull(crossover.whyOver());
    }

    @Test
    void restoringTwiceIsRestoringOnceAndAfterTheEndNothingIsSwitched() {
        FakeServer server = new FakeServer(own);
        Crossover crossover = new Crossover();
        crossover.restore();
        crossover.switchTo(Treatment.parse("virtual"), server);
        crossover.restore();
        crossover.restore();
        assertSame(own, server.executor.get());
        crossover.end();
        crossover.end();
        assertThrows(IllegalStateException.class, () -> crossover.switchTo(Treatment.OWN, server));
        assertSame(own, server.executor.get());
    }

    @Test
    void limitHolds() throws InterruptedException {
        int limit = 3;
        int tasks = 200;
        Period period = limited(limit);
        AtomicInteger running = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        CountDownLatch begun = new CountDownLatch(limit);
        CountDownLatch release = new CountDownLatch(1);
        CountDownLatch ended = new CountDownLatch(tasks);
        for (int i = 0; i < tasks; i++) {
            requests.execute(() -> {
                most.accumulateAndGet(running.incrementAndGet(), Math::max);
                begun.countDown();
                awaitQuietly(release);
                running.decrementAndGet();
                ended.countDown();
            });
        }
        begun.await();
        assertEquals(limit, period.counts().began());
        assertEquals(tasks, period.counts().remaining());
        release.countDown();
        ended.await();
        assertEquals(limit, most.get());
        assertEquals(List.of(), ownRan);
    }

    @Test
    void tasksThatWaitBeginInTheOrderInWhichTheyCame() throws InterruptedException {
        limited(1);
        List<Integer> order = Collections.synchronizedList(new ArrayList<>());
        CountDownLatch ended = new CountDownLatch(100);
        IntStream.range(0, 100).forEach(i -> requests.execute(() -> {
            order.add(i);
            ended.countDown();
        }));
        ended.await();
        assertEquals(IntStream.range(0, 100).boxed().toList(), order);
    }

    @Test
    void poolHasNoMoreThreadsThanItNeededAtOnceAndNoMoreThanItsSize() throws InterruptedException {
        use("platform-5");
        Set<Thread> threads = ConcurrentHashMap.newKeySet();
        for (int i = 0; i < 100; i++) {
            runAtOnce(1, threads);
        }
        assertEquals(1, threads.size());
        runAtOnce(3, threads);
        assertEquals(3, threads.size());
        runAtOnce(5, threads);
        assertEquals(5, threads.size());
        CountDownLatch ended = new CountDownLatch(100);
        for (int i = 0; i < 100; i++) {
            requests.execute(() -> {
                threads.add(Thread.currentThread());
                ended.countDown();
            });
        }
        ended.await();
        assertEquals(5, threads.size());
        assertEquals(List.of(), ownRan);
    }

    private void runAtOnce(int tasks, Set<Thread> threads) throws InterruptedException {
        CountDownLatch begun = new CountDownLatch(tasks);
        CountDownLatch ended = new CountDownLatch(tasks);
        for (int i = 0; i < tasks; i++) {
            requests.execute(() -> {
                threads.add(Thread.currentThread());
                begun.countDown();
                awaitQuietly(begun);
                ended.countDown();
            });
        }
        ended.await();
        // A thread that is only about to be free is not free.
        for (Thread thread : threads) {
            while (thread.getState() != Thread.State.TIMED_WAITING) {
                Thread.onSpinWait();
            }
        }
    }

    private Period limited(int limit) {
        return use("virtual-" + limit);
    }

    private Period use(String treatments) {
        Treatment treatment = Treatment.parse(treatments);
        Period period = new Period(1, treatment, RequestThreads.of(treatment, null, requests));
        requests.use(period);
        return period;
    }

    private static void awaitQuietly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    void poolIsGoneAfterItsLastTaskAndTakesNoMore() throws InterruptedException {
        FakeServer server = new FakeServer(own);
        Crossover crossover = new Crossover();
        crossover.switchTo(Treatment.parse("platform-2"), server);
        CountDownLatch release = new CountDownLatch(1);
        CountDownLatch begun = new CountDownLatch(1);
        List<Thread> threads = Collections.synchronizedList(new ArrayList<>());
        Executor ours = server.executor.get();
        ours.execute(() -> {
            threads.add(Thread.currentThread());
            begun.countDown();
            try {
                release.await();
            } catch (InterruptedException stopped) {
                threads.clear();
            }
        });
        begun.await();
        crossover.restore();
        assertTrue(!crossover.isWashedOut());
        // A thread of the server had read the field just before.
        ours.execute(() -> threads.add(Thread.currentThread()));
        release.countDown();
        threads.getFirst().join();
        assertTrue(threads.getFirst().getName().startsWith(PlatformThreads.PREFIX));
        assertSame(Thread.currentThread(), threads.getLast());
        assertTrue(crossover.isWashedOut());
    }
}
