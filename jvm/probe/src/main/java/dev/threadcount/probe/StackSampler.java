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
 * Looks at the stacks of a few threads, platform and virtual, drawn at random, several times a second. What the threads
 * of one sample do is written as groups; how many threads there were, and how many were drawn, is written beside them.
 */
final class StackSampler implements Runnable {
    private static final long PERIOD_NS = TimeUnit.MILLISECONDS.toNanos(100);
    /** After so long it is asked again how much may be spent. */
    private static final long LOOK_AGAIN_NS = TimeUnit.MILLISECONDS.toNanos(500);
    /** Stacks of one sample; as many as cost what listing the threads costs, within these bounds. */
    private static final int FEWEST = 10;
    /** Up to so many threads are all looked at: then nothing is chance. */
    private static final int ALL = 20;
    private static final int MOST = 100;
    private static final int FAMILIES_EVERY = 2;
    /** So many virtual threads are always listed, if there are as many: how many a part of them has is chance. */
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
    /** What writing the last sample cost: it is known after its line. */
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
                    // A process is busy for a moment where its compiler is.
                    TimeUnit.NANOSECONDS.sleep(LOOK_AGAIN_NS);
                    overdrawnNs = pace.overdrawnNs(0, System.nanoTime(), process.isBusy());
                }
                // At regular times it would see again and again the same phase of what is periodic.
                double chance = 0.5 + ThreadLocalRandom.current().nextDouble();
                TimeUnit.NANOSECONDS.sleep(Math.max((long) (PERIOD_NS * chance), overdrawnNs));
            }
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        } catch (RuntimeException | Error another) {
            // A JVM with other internals, or without memory: there is no wait profile, and the server goes on.
            writeEnd(output, another);
        }
    }

    /** Writes why there are no samples, or no more. */
    static void writeEnd(Output output, Throwable why) {
        output.write(JsonLine.of("stacks_ended", System.nanoTime()).put("why", why.toString()));
    }

    /** Takes one sample. Returns what it cost: nanoseconds of CPU. */
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

    /** They need more stacks than a draw. */
    private boolean hasFamilies() {
        return number % FAMILIES_EVERY == 0;
    }

    /** Before the first sample nothing is known of how many there are. */
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

    /** One pass over the threads, or a part of them: the stack of a drawn one is taken at once. */
    private final class Listing {
        private final SampleGroups groups;
        private final ThreadDraw virtual;
        private final ThreadDraw platform;
        private final List<Drawn> drawn = new ArrayList<>();
        private final Map<Long, Thread> platformById = new HashMap<>();
        /** Platform threads that may hold a request. */
        private final List<Thread> ofTheServer = new ArrayList<>();
        private final List<Thread> listedVirtual = new ArrayList<>();
        /** The part of the virtual threads that is listed. */
        private final int oneIn;
        private long stacksNs;

        /** @param virtualThreads how many the list has, if that is known */
        Listing(SampleGroups groups, int virtualThreads) {
            this.groups = groups;
            int expected = virtualThreads == ThreadList.UNKNOWN ? virtualBefore : virtualThreads;
            // Half for each kind, and what one does not need for the other.
            int most = platformBefore + expected <= ALL ? Math.max(ALL, stacks) : stacks;
            int ofVirtual = Math.max(most / 2, most - platformBefore);
            oneIn = held.needsAll() ? 1 : listedOneIn(virtualThreads);
            virtual = new ThreadDraw(expected / oneIn, ofVirtual, ThreadLocalRandom.current().nextDouble());
            int ofPlatform = most - Math.min(expected, ofVirtual);
            platform = new ThreadDraw(platformBefore, ofPlatform, ThreadLocalRandom.current().nextDouble());
        }

        /** An estimate where only a part was listed: that it had more or fewer than its share is evened out by other samples. */
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

    /** Of how many virtual threads one is listed: a power of two. */
    static int listedOneIn(int virtualThreads) {
        return Math.max(1, Integer.highestOneBit(virtualThreads / LISTED));
    }

    /** Threads of ours and of the JVM, and carriers, hold no request. */
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
