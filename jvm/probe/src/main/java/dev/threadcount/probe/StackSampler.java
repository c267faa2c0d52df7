package dev.threadcount.probe;

import dev.threadcount.probe.SampleGroups.Drawn;
import dev.threadcount.probe.stacks.Activity;
import dev.threadcount.probe.stacks.JvmAccess;
import dev.threadcount.probe.stacks.ThreadList;
import dev.threadcount.probe.stacks.ThreadStack;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

/**
 * Takes the stacks of a few platform and virtual threads, drawn at random, several times a second. The activities of
 * one sample are written as groups, with the numbers of existing and of drawn threads.
 */
final class StackSampler implements Runnable {
    private static final long PERIOD_NS = TimeUnit.MILLISECONDS.toNanos(100);
    /** The time after which the budget is checked again. */
    private static final long LOOK_AGAIN_NS = TimeUnit.MILLISECONDS.toNanos(500);
    /** The number of stacks in one sample. Within these bounds it is as many as cost the same as listing the threads. */
    private static final int FEWEST = 10;
    /** If there are at most this many threads, all are looked at, so that nothing is left to chance. */
    private static final int ALL = 20;
    private static final int MOST = 100;
    private static final int FAMILIES_EVERY = 2;
    /** The smallest number of virtual threads that are listed, if there are as many. How many threads are in a listed part is chance. */
    private static final int LISTED = 128;

    private final JvmAccess jvm;
    private final Output output;
    private final Peers peers;
    private final KernelThreads kernel;
    private final Canary canary;
    private final HeldCarriers held;
    private final ThreadFamilies families;
    private final ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    private long number;
    /** The cost of writing the last sample, which is known only after its line. */
    private long unreportedNs;
    private int stacks = FEWEST;
    private int platformBefore;
    private int virtualBefore;

    /** @param process {@code /proc/self} */
    StackSampler(JvmAccess jvm, Output output, Path process, Canary canary) {
        this.jvm = jvm;
        this.output = output;
        this.canary = canary;
        held = new HeldCarriers(jvm);
        families = new ThreadFamilies(jvm, process);
        peers = new Peers(jvm, process);
        kernel = new KernelThreads(process);
    }

    /** Samples until it is interrupted. */
    @Override
    public void run() {
        try {
            SamplingPace pace = new SamplingPace(System.nanoTime());
            ProcessLoad process = new ProcessLoad();
            while (true) {
                long costNs = sample();
                long overdrawnNs = pace.overdrawnNs(costNs, System.nanoTime(), process.isBusy());
                while (overdrawnNs > LOOK_AGAIN_NS) {
                    // The process is also busy for a moment if its compiler is.
                    TimeUnit.NANOSECONDS.sleep(LOOK_AGAIN_NS);
                    overdrawnNs = pace.overdrawnNs(0, System.nanoTime(), process.isBusy());
                }
                // Regular times would always show the same phase of a periodic activity.
                double chance = 0.5 + ThreadLocalRandom.current().nextDouble();
                TimeUnit.NANOSECONDS.sleep(Math.max((long) (PERIOD_NS * chance), overdrawnNs));
            }
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        } catch (RuntimeException | Error another) {
            // This JVM has different internals, or no memory. There is no wait profile, and the server continues.
            writeEnd(output, another);
        }
    }

    /** Writes why there are no samples, or no more. */
    static void writeEnd(Output output, Throwable why) {
        output.write(JsonLine.of("stacks_ended", System.nanoTime()).put("why", why.toString()));
    }

    /** Takes one sample. Returns its cost in nanoseconds of CPU. */
    long sample() {
        long beganNs = threads.getCurrentThreadCpuTime();
        long timeNs = System.nanoTime();
        ThreadList list = jvm.threads();
        if (number == 0) {
            count(list);
        }
        held.begin(canary.waitingSinceNs(), timeNs);
        SampleGroups groups = new SampleGroups(jvm, kernel, peers);
        Listing listing = new Listing(groups, list.virtualThreads());
        list.forEach(listing.oneIn, listing::offer);
        held.writeTo(output, timeNs);
        long listedNs = threads.getCurrentThreadCpuTime();
        List<Drawn> drawn = RequestEntries.named(listing.drawn);
        List<ThreadStack> sampled = drawn.stream().map(Drawn::stack).toList();
        groups.addAll(drawn, new Holders(jvm, sampled, listing.platformById));
        adapt(listing, listedNs - beganNs, threads.getCurrentThreadCpuTime() - beganNs);
        output.write(JsonLine.of("stacks", timeNs)
                .put("sample", number)
                .put("platform_threads", listing.platform.seen())
                .put("virtual_threads", listing.virtualThreads())
                .put("platform_drawn", listing.platform.drawn())
                .put("virtual_drawn", listing.virtual.drawn())
                .put("platform_gone", groups.gone(false))
                .put("virtual_gone", groups.gone(true))
                .put("families", hasFamilies())
                .put("cpu_ns", threads.getCurrentThreadCpuTime() - beganNs + unreportedNs));
        long reportedNs = threads.getCurrentThreadCpuTime();
        groups.counts().forEach((group, count) -> write(group, count, timeNs));
        if (hasFamilies()) {
            families.writeTo(output, number, timeNs, listing.ofTheServer, drawn, groups::draw);
            if (listing.oneIn == 1) {
                List<Drawn> virtual = drawn.stream().filter(one -> one.thread().isVirtual()).toList();
                families.writeVirtual(output, number, timeNs, listing.listedVirtual, virtual, groups::draw);
            }
        }
        number++;
        long endedNs = threads.getCurrentThreadCpuTime();
        unreportedNs = endedNs - reportedNs;
        return endedNs - beganNs;
    }

    /** Whether this sample includes families, which need more stacks than a draw. */
    private boolean hasFamilies() {
        return number % FAMILIES_EVERY == 0;
    }

    /** Counts the threads before the first sample. */
    private void count(ThreadList list) {
        list.forEach(1, thread -> {
            virtualBefore += thread.isVirtual() ? 1 : 0;
            platformBefore += !thread.isVirtual() && isOfTheServer(thread) ? 1 : 0;
        });
    }

    private void adapt(Listing listing, long listedNs, long allNs) {
        platformBefore = listing.platform.seen();
        virtualBefore = listing.virtualThreads();
        long stacksNs = listing.stacksNs + allNs - listedNs;
        long each = Math.max(1, stacksNs / Math.max(1, listing.drawn.size()));
        stacks = Math.clamp((listedNs - listing.stacksNs) / each, FEWEST, MOST);
    }

    /** One pass over all threads or a part of them. The stack of a drawn thread is taken at once. */
    private final class Listing {
        private final SampleGroups groups;
        private final ThreadDraw virtual;
        private final ThreadDraw platform;
        private final List<Drawn> drawn = new ArrayList<>();
        private final Map<Long, Thread> platformById = new HashMap<>();
        /** The platform threads that may run a request. */
        private final List<Thread> ofTheServer = new ArrayList<>();
        private final List<Thread> listedVirtual = new ArrayList<>();
        /** One of this many virtual threads is listed. */
        private final int oneIn;
        private long stacksNs;

        /** @param virtualThreads the number of virtual threads in the list, if that is known */
        Listing(SampleGroups groups, int virtualThreads) {
            this.groups = groups;
            int expected = virtualThreads == ThreadList.UNKNOWN ? virtualBefore : virtualThreads;
            // Each kind gets one half, and what the other kind does not need.
            int most = platformBefore + expected <= ALL ? Math.max(ALL, stacks) : stacks;
            int ofVirtual = Math.max(most / 2, most - platformBefore);
            oneIn = held.needsAll() ? 1 : listedOneIn(virtualThreads);
            virtual = new ThreadDraw(expected / oneIn, ofVirtual, ThreadLocalRandom.current().nextDouble());
            int ofPlatform = most - Math.min(expected, ofVirtual);
            platform = new ThreadDraw(platformBefore, ofPlatform, ThreadLocalRandom.current().nextDouble());
        }

        /** The number of virtual threads. It is an estimate if only a part was listed; over many samples the error evens out. */
        int virtualThreads() {
            return virtual.seen() * oneIn;
        }

        void offer(Thread thread) {
            if (!thread.isVirtual()) {
                platformById.put(thread.threadId(), thread);
                if (!isOfTheServer(thread)) {
                    return;
                }
                ofTheServer.add(thread);
            } else if (thread == canary.virtualThread()) {
                return;
            } else {
                held.offer(thread);
                listedVirtual.add(thread);
            }
            if ((thread.isVirtual() ? virtual : platform).offer()) {
                long beforeNs = threads.getCurrentThreadCpuTime();
                drawn.add(groups.draw(thread));
                stacksNs += threads.getCurrentThreadCpuTime() - beforeNs;
            }
        }
    }

    /** The number of virtual threads of which one is listed, a power of two. */
    static int listedOneIn(int virtualThreads) {
        return Math.max(1, Integer.highestOneBit(virtualThreads / LISTED));
    }

    /** Whether a thread may run a request. Our threads, those of the JVM and carriers do not. */
    private static boolean isOfTheServer(Thread thread) {
        ThreadGroup group = thread.getThreadGroup();
        if (group == null || OwnThreads.isOwn(thread.getName())) {
            return false;
        }
        return switch (group.getName()) {
            case "system", "CarrierThreads", "InnocuousThreadGroup" -> false;
            default -> true;
        };
    }

    private void write(SampleGroups.Group group, int count, long timeNs) {
        Activity activity = group.activity();
        output.write(JsonLine.of("stack_group", timeNs)
                .put("sample", number)
                .put("virtual", group.virtual())
                .put("role", activity.role().wireName())
                .put("state", activity.state().wireName())
                .put("resource", activity.resource())
                .put("application", activity.application())
                .put("library", activity.library())
                .put("holder", group.holder())
                .put("peer", group.peer())
                .put("count", count));
    }
}
