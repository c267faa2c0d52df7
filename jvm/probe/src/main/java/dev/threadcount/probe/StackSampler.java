package dev.threadcount.probe;

import dev.threadcount.probe.stacks.Activity;
import dev.threadcount.probe.stacks.Classifier;
import dev.threadcount.probe.stacks.JvmAccess;
import dev.threadcount.probe.stacks.Role;
import dev.threadcount.probe.stacks.State;
import dev.threadcount.probe.stacks.ThreadStack;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * Looks at the stacks of a few threads, platform and virtual, drawn at random, several times a second. What the threads
 * of one sample do is written as groups; how many threads there were, and how many were drawn, is written beside them.
 */
final class StackSampler implements Runnable {
    private static final long PERIOD_NS = TimeUnit.MILLISECONDS.toNanos(100);
    /** Of one core, for the samples: after dear ones it waits longer. */
    private static final double BUDGET = 0.01;
    /** The first samples load classes and are interpreted; without this the first would be the last for seconds. */
    private static final long CREDIT_NS = TimeUnit.MILLISECONDS.toNanos(50);
    /** Stacks of one sample; as many as cost what listing the threads costs, within these bounds. */
    private static final int FEWEST = 20;
    private static final int MOST = 100;
    private static final Activity NOT_BEGUN = new Activity(State.CARRIER, null, null, null, Role.REQUEST);

    private final JvmAccess jvm;
    private final Output output;
    private final Peers peers;
    private final ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    private long number;
    private long spentNs;
    private int stacks = FEWEST;

    StackSampler(JvmAccess jvm, Output output, Peers peers) {
        this.jvm = jvm;
        this.output = output;
        this.peers = peers;
    }

    /** Samples until it is interrupted. */
    @Override
    public void run() {
        try {
            long beganNs = System.nanoTime();
            while (true) {
                spentNs += sample();
                long overdrawnNs = (long) ((spentNs - CREDIT_NS) / BUDGET) - (System.nanoTime() - beganNs);
                // At regular times it would see again and again the same phase of what is periodic.
                double chance = 0.5 + ThreadLocalRandom.current().nextDouble();
                TimeUnit.NANOSECONDS.sleep(Math.max((long) (PERIOD_NS * chance), overdrawnNs));
            }
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        } catch (RuntimeException | LinkageError another) {
            // A JVM with other internals: there is no wait profile, and the server goes on.
            output.write(JsonLine.of("stacks_ended", System.nanoTime()).put("why", another.toString()));
        }
    }

    /** Takes one sample. Returns what it cost: nanoseconds of CPU. */
    private long sample() {
        long beganNs = threads.getCurrentThreadCpuTime();
        long timeNs = System.nanoTime();
        ThreadDraw platform = new ThreadDraw(stacks);
        ThreadDraw virtual = new ThreadDraw(stacks);
        jvm.forEachThread(thread -> {
            if (thread.isVirtual()) {
                virtual.offer(thread);
            } else if (isOfTheServer(thread)) {
                platform.offer(thread);
            }
        });
        long listedNs = threads.getCurrentThreadCpuTime();
        // Half for each kind, and what one does not need for the other.
        List<Thread> virtualDrawn = virtual.first(Math.max(stacks / 2, stacks - platform.seen()));
        List<Thread> platformDrawn = platform.first(stacks - virtualDrawn.size());
        Map<Group, Integer> groups = new LinkedHashMap<>();
        List<Thread> drawn = Stream.concat(virtualDrawn.stream(), platformDrawn.stream()).toList();
        List<ThreadStack> sampled = drawn.stream().map(jvm::stackOf).toList();
        Holders holders = new Holders(jvm, sampled);
        for (int i = 0; i < drawn.size(); i++) {
            add(drawn.get(i), sampled.get(i), holders, groups);
        }
        long endedNs = threads.getCurrentThreadCpuTime();
        long each = Math.max(1, (endedNs - listedNs) / Math.max(1, drawn.size()));
        stacks = Math.clamp((listedNs - beganNs) / each, FEWEST, MOST);
        output.write(JsonLine.of("stacks", timeNs)
                .put("sample", number)
                .put("platform_threads", platform.seen())
                .put("virtual_threads", virtual.seen())
                .put("platform_drawn", platformDrawn.size())
                .put("virtual_drawn", virtualDrawn.size())
                .put("cpu_ns", endedNs - beganNs));
        groups.forEach((group, count) -> write(group, count, timeNs));
        number++;
        return threads.getCurrentThreadCpuTime() - beganNs;
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

    private void add(Thread thread, ThreadStack stack, Holders holders, Map<Group, Integer> groups) {
        if (stack.frames().length == 0) {
            if (thread.isVirtual() && stack.state() == Thread.State.RUNNABLE) {
                // A task that was handed over and has never had a carrier: of a server, a request.
                groups.merge(new Group(true, NOT_BEGUN, null), 1, Integer::sum);
            }
            return;
        }
        Activity activity = holders.named(thread, Classifier.classify(stack));
        boolean isWork = activity.role() == Role.REQUEST || activity.role() == Role.APPLICATION;
        Group group = isWork
                ? new Group(thread.isVirtual(), activity, holders.of(thread, stack, activity))
                : new Group(thread.isVirtual(), new Activity(activity.state(), null, null, null, activity.role()), null);
        groups.merge(group, 1, Integer::sum);
    }

    private void write(Group group, int count, long timeNs) {
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
                .put("peer", readsFromAPeer(activity) ? peers.only() : null)
                .put("count", count));
    }

    /** Code of the application reads through a client or a driver; what a server reads comes from its own clients. */
    private static boolean readsFromAPeer(Activity activity) {
        return activity.state() == State.SOCKET && activity.application() != null
                && (activity.library() == null || !activity.library().startsWith("io.helidon.webserver."));
    }

    /** Threads of one kind that do the same. */
    private record Group(boolean virtual, Activity activity, String holder) {}
}
