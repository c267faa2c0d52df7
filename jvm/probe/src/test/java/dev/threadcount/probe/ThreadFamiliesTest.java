package dev.threadcount.probe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.threadcount.probe.SampleGroups.Drawn;
import dev.threadcount.probe.stacks.EventLoops;
import dev.threadcount.probe.stacks.ThreadStack;
import java.nio.channels.Selector;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests with a pool of many threads, of which three have a task. */
class ThreadFamiliesTest {
    private static final int THREADS = 200;
    private static final int TASKS = 3;

    @TempDir
    private Path folder;

    private final List<Thread> threads = new CopyOnWriteArrayList<>();
    private final ThreadPoolExecutor pool = new ThreadPoolExecutor(THREADS, THREADS, 0, TimeUnit.SECONDS, new LinkedBlockingQueue<>(),
            task -> {
                Thread thread = new Thread(task, "many-" + threads.size());
                threads.add(thread);
                return thread;
            });

    @BeforeEach
    void begin() throws InterruptedException {
        pool.prestartAllCoreThreads();
        CountDownLatch begun = new CountDownLatch(TASKS);
        for (int i = 0; i < TASKS; i++) {
            pool.execute(() -> {
                begun.countDown();
                try {
                    Thread.sleep(600_000);
                } catch (InterruptedException ended) {
                    Thread.currentThread().interrupt();
                }
            });
        }
        begun.await();
        while (threads.stream().anyMatch(thread -> thread.getState() == Thread.State.RUNNABLE)) {
            Thread.onSpinWait();
        }
    }

    @AfterEach
    void end() {
        pool.shutdownNow();
    }

    private String line(List<Drawn> known, List<Thread> drawn) throws Exception {
        Path lines = folder.resolve("lines");
        try (Output output = Output.open(new Options.Out(lines, false))) {
            new ThreadFamilies(new MadeUpJvm(), Path.of("/proc/self")).writeTo(output, 0, 1, threads, known, thread -> {
                drawn.add(thread);
                return Drawn.of(thread, ThreadStack.of(thread));
            });
        }
        return Files.readString(lines);
    }

    @Test
    void idleThreadsOfALargePoolNeedNoStackOnceOneOfThemIsKnown() throws Exception {
        Thread idle = threads.stream().filter(thread -> thread.getState() == Thread.State.WAITING).findFirst().orElseThrow();
        List<Thread> drawn = new ArrayList<>();
        String line = line(List.of(Drawn.of(idle, ThreadStack.of(idle))), drawn);
        assertTrue(line.contains("\"drawn\":200,\"working\":3,\"waiting\":0"), line);
        assertEquals(TASKS, drawn.size());
    }

    private static final class LoopThread extends Thread {
        @SuppressWarnings("unused")
        private Selector selector;
    }

    @Test
    void aThreadWithASelectorOfItsOwnIsAnEventLoop() {
        assertTrue(EventLoops.hasSelector(new LoopThread()));
        assertFalse(EventLoops.hasSelector(new Thread()));
        assertFalse(EventLoops.hasSelector(threads.getFirst()));
    }

    @Test
    void ofALargePoolOfWhichNoneIsKnownNoneIsDrawn() throws Exception {
        List<Thread> drawn = new ArrayList<>();
        line(List.of(), drawn);
        assertEquals(List.of(), drawn);
    }
}
