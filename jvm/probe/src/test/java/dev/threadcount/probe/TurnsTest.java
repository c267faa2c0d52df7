package dev.threadcount.probe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.threadcount.probe.SampleGroups.Drawn;
import dev.threadcount.probe.stacks.ThreadStack;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Threads of a JVM that is made up, which wait for a monitor and get it in a known order. */
class TurnsTest {
    private static final Object MONITOR = new Object();
    private static final long MS = 1_000_000;

    @TempDir
    private Path folder;

    private final Map<Thread, ThreadStack> stacks = new HashMap<>();
    private Thread owner;

    private final Turns turns = new Turns(new MadeUpJvm() {
        @Override
        public ThreadStack stackOf(Thread thread) {
            return stacks.get(thread);
        }

        @Override
        public Thread ownerOf(Object synchronizer) {
            return owner;
        }
    });

    private static ThreadStack stack(String method, Thread.State state, Object blocker) {
        StackTraceElement[] frames = {new StackTraceElement("shop.Orders", method, "Orders.java", 7)};
        return new ThreadStack(frames, state, true, false, blocker, List.of());
    }

    private Thread comes(String method) {
        Thread thread = Thread.ofVirtual().unstarted(() -> {});
        stacks.put(thread, stack(method, Thread.State.BLOCKED, MONITOR));
        return thread;
    }

    private void leaves(Thread thread) {
        stacks.put(thread, stack("ready", Thread.State.TIMED_WAITING, null));
    }

    private void isWoken(Thread thread) {
        stacks.put(thread, stack("save", Thread.State.RUNNABLE, null));
    }

    /** The lines of a sample in which these were drawn. */
    private List<String> sample(long atMs, Thread... drawn) throws Exception {
        List<Drawn> all = new ArrayList<>();
        Arrays.stream(drawn).forEach(thread -> all.add(Drawn.of(thread, stacks.get(thread))));
        return sampleOf(atMs, all);
    }

    private List<String> sampleOf(long atMs, List<Drawn> all) throws Exception {
        Path lines = folder.resolve("lines-" + atMs);
        try (Output output = Output.open(new Options.Out(lines, false))) {
            turns.sample(all, atMs * MS, output);
        }
        return Files.readAllLines(lines);
    }

    /** It alone is drawn in this sample, which sees no turn. */
    private Thread comesAlone(long atMs, String method) throws Exception {
        Thread thread = comes(method);
        assertEquals(List.of(), sample(atMs, thread));
        return thread;
    }

    private static void assertTurns(int all, int overtaking, List<String> lines) {
        assertEquals(1, lines.size(), lines.toString());
        assertTrue(lines.getFirst().contains("\"turns\":" + all + ",\"overtaking\":" + overtaking + ","), lines.toString());
    }

    @Test
    void whoCameLaterAndIsServedFirstHasOvertaken() throws Exception {
        Thread first = comesAlone(100, "save");
        Thread second = comesAlone(200, "list");
        leaves(second);
        List<String> lines = sample(300);
        assertTurns(1, 1, lines);
        assertTrue(lines.getFirst().endsWith("\"overtaker\":\"shop.Orders.list:7\",\"overtaken\":\"shop.Orders.save:7\","
                + "\"waited_ns\":200000000}"), lines.toString());
    }

    @Test
    void whoIsServedInTheOrderOfArrivalOvertakesNobody() throws Exception {
        Thread first = comesAlone(100, "save");
        Thread second = comesAlone(200, "list");
        leaves(first);
        assertTurns(1, 0, sample(300));
        leaves(second);
        assertEquals(List.of(), sample(400), "nobody else waits");
    }

    @Test
    void whoLeavesAfterItsStackWasDrawnHasHadOneTurn() throws Exception {
        Thread first = comesAlone(100, "save");
        Thread second = comesAlone(200, "list");
        Drawn whileItWaited = Drawn.of(second, stacks.get(second));
        leaves(second);
        assertTurns(1, 1, sampleOf(300, List.of(whileItWaited)));
        assertEquals(List.of(), sample(400), "it is followed no more");
    }

    @Test
    void ofTwoThatLeaveBetweenTwoSamplesNeitherHasOvertaken() throws Exception {
        Thread first = comesAlone(100, "save");
        Thread second = comesAlone(200, "list");
        Thread third = comesAlone(300, "list");
        leaves(first);
        leaves(second);
        assertTurns(2, 0, sample(400));
    }

    /** A queue that serves whoever came last: nobody is its owner, and more starve than are followed. */
    @Test
    void whoComesToManyThatStarveAndIsServedFirstIsSeenToOvertakeThemInTheLongRun() throws Exception {
        Thread[] waiting = new Thread[20];
        Arrays.setAll(waiting, i -> comes("save"));
        sample(100, waiting);
        int seen = 0;
        for (int atMs = 200; atMs < 20_200; atMs += 200) {
            Thread[] withTheLast = Arrays.copyOf(waiting, 21);
            withTheLast[20] = comes("list");
            assertEquals(List.of(), sample(atMs, withTheLast));
            leaves(withTheLast[20]);
            List<String> lines = sample(atMs + 100, waiting);
            lines.forEach(line -> assertTrue(line.contains("\"turns\":1,\"overtaking\":1,"), line));
            seen += lines.size();
        }
        // Of a hundred, each is followed with a chance of 6 in 13 or more.
        assertTrue(seen >= 15, seen + " of 100");
    }

    /** Two of them keep a place. */
    @Test
    void workersThatWaitForWorkDoNotKeepRequestsFromBeingFollowed() throws Exception {
        Thread[] idle = new Thread[20];
        Arrays.setAll(idle, i -> comes("work"));
        Object queue = new Object();
        Arrays.stream(idle).forEach(thread -> stacks.put(thread, stack("work", Thread.State.BLOCKED, queue)));
        sample(100, idle);
        Thread first = comes("save");
        Thread second = comes("save");
        for (int atMs = 200; atMs < 10_200; atMs += 100) {
            Thread[] all = Arrays.copyOf(idle, 22);
            all[20] = first;
            all[21] = second;
            assertEquals(List.of(), sample(atMs, all));
        }
        owner = Thread.ofVirtual().unstarted(() -> {});
        stacks.put(owner, stack("list", Thread.State.TIMED_WAITING, null));
        Pattern afterSeconds = Pattern.compile("Orders.list:7\",\"overtaken\":\"shop.Orders.save:7\",\"waited_ns\":\\d{10,}");
        List<String> lines = sample(10_300);
        assertTrue(lines.stream().anyMatch(line -> afterSeconds.matcher(line).find()), lines.toString());
    }

    /** Whether it got the lock or its time was over cannot be seen. */
    @Test
    void whoMayHaveGivenUpHasHadNoTurn() throws Exception {
        Thread first = comesAlone(100, "save");
        Thread second = comes("list");
        StackTraceElement[] timed = {
            new StackTraceElement("java.util.concurrent.Semaphore", "tryAcquire", "Semaphore.java", 1),
            new StackTraceElement("shop.Orders", "list", "Orders.java", 7)};
        stacks.put(second, new ThreadStack(timed, Thread.State.TIMED_WAITING, true, false, MONITOR, List.of()));
        assertEquals(List.of(), sample(200, second));
        leaves(second);
        assertEquals(List.of(), sample(300));
    }

    /** It may have to wait again. */
    @Test
    void whoIsWokenAndHasNoCarrierYetHasHadNoTurn() throws Exception {
        Thread first = comesAlone(100, "save");
        Thread second = comesAlone(200, "list");
        isWoken(first);
        assertEquals(List.of(), sample(300));
        leaves(first);
        assertTurns(1, 0, sample(400));
    }

    /** Both were there already; who of them came first is not known. */
    @Test
    void thoseThatWereFirstSeenTogetherDoNotOvertakeEachOther() throws Exception {
        Thread first = comes("save");
        Thread second = comes("list");
        sample(100, second, first);
        leaves(second);
        assertTurns(1, 0, sample(200));
    }

    @Test
    void anOwnerThatIsYoungerThanWhoWaitsHasOvertakenOnceAndAnOlderOneHasNot() throws Exception {
        owner = Thread.ofVirtual().unstarted(() -> {});
        stacks.put(owner, stack("hold", Thread.State.TIMED_WAITING, null));
        Thread first = comesAlone(100, "save");
        assertTurns(1, 0, sample(200));
        assertEquals(List.of(), sample(300));
        owner = Thread.ofVirtual().unstarted(() -> {});
        stacks.put(owner, stack("hold", Thread.State.TIMED_WAITING, null));
        assertTurns(1, 1, sample(400));
        assertEquals(List.of(), sample(500));
    }

    @Test
    void threadOfAPoolThatHasTheLockHasOvertakenOnlyWhereItWasSeenElsewhereMeanwhile() throws Exception {
        Thread pooled = Thread.ofPlatform().unstarted(() -> {});
        stacks.put(pooled, stack("hold", Thread.State.TIMED_WAITING, null));
        comesAlone(100, "save");
        owner = pooled;
        assertEquals(List.of(), sample(200), "it may have come first");
        owner = null;
        assertEquals(List.of(), sample(300, pooled));
        owner = pooled;
        assertTurns(1, 1, sample(400));
    }

    /** The sampler asks for its stack after it has seen who has the lock. */
    @Test
    void anOwnerThatIsNoMoreHasOvertakenAndItsPlaceIsNotKnown() throws Exception {
        comesAlone(100, "save");
        owner = Thread.ofVirtual().unstarted(() -> {});
        stacks.put(owner, new ThreadStack(new StackTraceElement[0], Thread.State.TERMINATED, true, false, null, List.of()));
        assertTurns(1, 1, sample(200));
    }
}
