package dev.threadcount.executors;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.catalina.Executor;
import org.apache.tomcat.util.IntrospectionUtils;
import org.junit.jupiter.api.Test;

class ExecutorsTest {
    @Test
    void virtualExecutorRunsEachTaskOnAVirtualThreadOfItsName() throws Exception {
        Thread thread = threadOf(new VirtualThreadExecutor(), "myfactory-");
        assertTrue(thread.isVirtual());
        assertEquals("myfactory-0", thread.getName());
    }

    @Test
    void cachedExecutorRunsTasksOnPlatformThreads() throws Exception {
        Thread thread = threadOf(new CachedThreadExecutor(), "cached-");
        assertFalse(thread.isVirtual());
        assertEquals("cached-0", thread.getName());
    }

    @Test
    void cachedExecutorMakesAsManyThreadsAsThereAreTasksAtOnce() throws Exception {
        var executor = new CachedThreadExecutor();
        executor.setName("test");
        executor.start();
        var allRunning = new CountDownLatch(50);
        for (int task = 0; task < 50; task++) {
            executor.execute(() -> {
                allRunning.countDown();
                awaitQuietly(allRunning);
            });
        }
        allRunning.await();
        executor.stop();
        assertTrue(executor.isShutdown());
    }

    @Test
    void attributesOfServerXmlReachTheExecutorTheWayTomcatSetsThem() {
        for (Executor executor : new Executor[] {new VirtualThreadExecutor(), new CachedThreadExecutor()}) {
            assertTrue(IntrospectionUtils.setProperty(executor, "name", "mine"));
            assertTrue(IntrospectionUtils.setProperty(executor, "namePrefix", "mine-"));
            assertEquals("mine", executor.getName());
        }
    }

    @Test
    void executorThatWasNotStartedSaysSo() {
        var executor = new VirtualThreadExecutor();
        executor.setName("early");
        var refused = assertThrows(IllegalStateException.class, () -> executor.execute(() -> {}));
        assertEquals("the executor early has not been started", refused.getMessage());
    }

    @Test
    void closeReturnsWhenTheTasksHaveEnded() throws Exception {
        var ended = new AtomicBoolean();
        var executor = new VirtualThreadExecutor();
        executor.setName("test");
        executor.start();
        executor.execute(() -> ended.set(true));
        assertTimeoutPreemptively(Duration.ofSeconds(60), executor::close);
        assertTrue(ended.get());
        assertTrue(executor.isTerminated());
        assertThrows(RejectedExecutionException.class, () -> executor.execute(() -> {}));
        executor.stop();
    }

    @Test
    void shutdownNowInterruptsTheTasksAndAStartAfterStopRunsTasksAgain() throws Exception {
        var executor = new CachedThreadExecutor();
        executor.setName("test");
        executor.start();
        var never = new CountDownLatch(1);
        executor.execute(() -> awaitQuietly(never));
        assertEquals(0, executor.shutdownNow().size());
        assertTrue(executor.awaitTermination(60, TimeUnit.SECONDS));
        executor.stop();
        executor.start();
        assertTrue(executor.submit(() -> true).get());
        executor.stop();
    }

    @Test
    void executorThatWasNotStartedClosesAtOnce() {
        var executor = new CachedThreadExecutor();
        assertTimeoutPreemptively(Duration.ofSeconds(60), executor::close);
        assertEquals(0, executor.shutdownNow().size());
    }

    private static Thread threadOf(DelegatingExecutor executor, String namePrefix) throws Exception {
        executor.setName("test");
        executor.setNamePrefix(namePrefix);
        executor.start();
        Thread thread = executor.submit(Thread::currentThread).get();
        executor.stop();
        return thread;
    }

    private static void awaitQuietly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
    }
}
