package dev.threadcount.probe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.threadcount.probe.stacks.JvmAccess;
import dev.threadcount.probe.stacks.ThreadList;
import dev.threadcount.probe.stacks.ThreadStack;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Samples a JVM that is made up, so that each thread is in a known state. */
class StackSamplerTest {
    private static final StackTraceElement[] NO_FRAMES = {};

    @TempDir
    private Path folder;

    private final List<String> events = new ArrayList<>();

    /** @param stacks the stack of each virtual thread, in the order in which they are listed */
    private List<String> sample(ThreadStack... stacks) throws Exception {
        List<Thread> threads = IntStream.range(0, stacks.length)
                .mapToObj(i -> Thread.ofVirtual().name("t" + i).unstarted(() -> {})).toList();
        JvmAccess jvm = new MadeUpJvm() {
            @Override
            public ThreadList threads() {
                return list(ThreadList.UNKNOWN, (oneIn, consumer) -> {
                    events.clear();
                    for (Thread thread : threads) {
                        events.add("listed " + thread.getName());
                        consumer.accept(thread);
                    }
                });
            }

            @Override
            public ThreadStack stackOf(Thread thread) {
                events.add("stack " + thread.getName());
                return stacks[threads.indexOf(thread)];
            }
        };
        return sample(jvm);
    }

    private List<String> sample(JvmAccess jvm) throws Exception {
        Path lines = folder.resolve("lines");
        try (Output output = Output.open(new Options.Out(lines, false))) {
            new StackSampler(jvm, output, Path.of("/proc/self"), new Canary()).sample();
        }
        return Files.readAllLines(lines);
    }

    private static ThreadStack stack(Thread.State state, boolean mounted) {
        return new ThreadStack(NO_FRAMES, state, true, mounted, null, List.of());
    }

    /** A thread that ends between the two would be missed, and such threads run the short requests. */
    @Test
    void theStackIsTakenWhenTheThreadIsListedAndNotAfterAllOthers() throws Exception {
        sample(stack(Thread.State.RUNNABLE, true), stack(Thread.State.RUNNABLE, true));
        assertEquals(List.of("listed t0", "stack t0", "listed t1", "stack t1"), events);
    }

    @Test
    void threadsThatEndedAreCountedAndAreInNoGroup() throws Exception {
        List<String> lines = sample(stack(Thread.State.TERMINATED, false), stack(Thread.State.RUNNABLE, false));
        assertTrue(lines.getFirst().contains("\"virtual_drawn\":2"), lines.toString());
        assertTrue(lines.getFirst().contains("\"platform_gone\":0,\"virtual_gone\":1"), lines.toString());
        assertEquals(2, lines.size(), lines.toString());
        assertTrue(lines.getLast().endsWith("\"count\":1}"), lines.toString());
    }

    /** The JVM has 1,000 threads and lists one in four of them, so the estimate is four times the 250 that it lists. */
    @Test
    void ofManyVirtualThreadsAPartIsListedAndStandsForAll() throws Exception {
        List<Integer> parts = new ArrayList<>();
        List<Thread> threads = IntStream.range(0, 260).mapToObj(i -> Thread.ofVirtual().unstarted(() -> {})).toList();
        JvmAccess jvm = new MadeUpJvm() {
            @Override
            public ThreadList threads() {
                return list(1_000, (oneIn, consumer) -> {
                    parts.add(oneIn);
                    threads.forEach(consumer);
                });
            }

            @Override
            public ThreadStack stackOf(Thread thread) {
                return stack(Thread.State.RUNNABLE, true);
            }
        };
        List<String> lines = sample(jvm);
        assertEquals(4, parts.getLast());
        assertTrue(lines.getFirst().contains("\"virtual_threads\":1040,"), lines.toString());
    }

    @Test
    void aPartIsNeverSoSmallThatItHasTooFewToDrawFrom() {
        assertEquals(1, StackSampler.listedOneIn(ThreadList.UNKNOWN));
        assertEquals(1, StackSampler.listedOneIn(0));
        assertEquals(1, StackSampler.listedOneIn(255));
        assertEquals(2, StackSampler.listedOneIn(256));
        assertEquals(64, StackSampler.listedOneIn(10_000));
    }

    /** Any of the threads may hold a carrier. */
    @Test
    void whileTheCanaryIsLateAllAreNeeded() {
        HeldCarriers held = new HeldCarriers(new MadeUpJvm());
        held.begin(0, 1_000_000_000);
        assertFalse(held.needsAll());
        held.begin(1_000_000_000, 1_040_000_000);
        assertFalse(held.needsAll());
        held.begin(1_000_000_000, 1_060_000_000);
        assertTrue(held.needsAll());
    }

    /** Java 21 also returns no frames for a thread that has just been mounted. */
    @Test
    void threadWithoutFramesWaitsForACarrierOnlyIfItHasNone() throws Exception {
        List<String> lines = sample(stack(Thread.State.RUNNABLE, false), stack(Thread.State.RUNNABLE, true),
                stack(Thread.State.WAITING, true));
        assertTrue(lines.get(1).contains("\"role\":\"unknown\",\"state\":\"carrier\""), lines.toString());
        assertTrue(lines.get(1).endsWith("\"count\":1}"), lines.toString());
        assertTrue(lines.get(2).contains("\"role\":\"unknown\",\"state\":\"running\""), lines.toString());
        assertTrue(lines.get(2).endsWith("\"count\":2}"), lines.toString());
    }
}
