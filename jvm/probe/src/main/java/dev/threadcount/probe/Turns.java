package dev.threadcount.probe;

import dev.threadcount.probe.SampleGroups.Drawn;
import dev.threadcount.probe.stacks.Activity;
import dev.threadcount.probe.stacks.Classifier;
import dev.threadcount.probe.stacks.JvmAccess;
import dev.threadcount.probe.stacks.Role;
import dev.threadcount.probe.stacks.State;
import dev.threadcount.probe.stacks.ThreadStack;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/**
 * Who goes first among threads that wait for the same lock, monitor, permit, connection or element. A few that were drawn while they
 * waited are followed until they have it. A thread that came after one of them and has it first has overtaken it. Used by the
 * sampler's thread only.
 */
final class Turns {
    /** Each costs a stack in each sample. */
    private static final int MOST_FOLLOWED = 8;
    /** Those that came first; the others give their places to whoever comes: that one may be gone before them. */
    private static final int MOST_KEPT = 4;
    /** Of them, those that wait for the same thing: what starves elsewhere has to have a place, too. */
    private static final int MOST_KEPT_OF_ONE = 2;
    /** Threads of which is known when they did something else. */
    private static final int MOST_ELSEWHERE = 1_000;
    private static final long UNKNOWN = Long.MIN_VALUE;
    /** What one thread gives back, another one gets. */
    private static final Set<State> HANDED_ON = EnumSet.of(State.MONITOR, State.LOCK, State.SEMAPHORE, State.POOL, State.QUEUE);
    private static final Comparator<Waiting> OLDEST = (one, other) -> Long.signum(one.sinceNs() - other.sinceNs());
    /** Workers of the application that have nothing to do wait in queues, too. */
    private static final Comparator<Waiting> REQUESTS_THEN_OLDEST = Comparator
            .comparing((Waiting one) -> one.activity().role() != Role.REQUEST).thenComparing(OLDEST);

    /**
     * A thread that waits.
     *
     * @param token what stands for this one wait of it; null where nothing does
     * @param sinceNs when it was first seen waiting
     * @param laterIds threads that were made after that have larger numbers
     * @param elsewhereNs when it was last seen doing something else, before
     * @param mayGiveUp it may leave without what it waits for
     */
    private record Waiting(Thread thread, Object what, Object token, Activity activity, long sinceNs, long laterIds, long elsewhereNs,
            boolean mayGiveUp) {
        Waiting with(Object token) {
            return new Waiting(thread, what, token, activity, sinceNs, laterIds, elsewhereNs, mayGiveUp);
        }

        boolean cameAfter(Waiting other) {
            return thread.threadId() > other.laterIds || elsewhereNs > other.sinceNs;
        }
    }

    /** The same lock is the same object, whatever its class says is equal. */
    private record Same(Object object) {
        @Override
        public boolean equals(Object other) {
            return other instanceof Same same && same.object == object;
        }

        @Override
        public int hashCode() {
            return System.identityHashCode(object);
        }
    }

    /** Turns at one thing since the sample before. */
    private static final class Sum {
        long turns;
        long overtaking;
        String overtaker;
        String overtaken;
        long waitedNs;
    }

    private final JvmAccess jvm;
    private final ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    /** Those that came first are first. */
    private List<Waiting> followed = List.of();
    private Map<Object, Thread> owners = Map.of();
    private final Map<Long, Long> elsewhere = new BoundedMap<>(MOST_ELSEWHERE);

    Turns(JvmAccess jvm) {
        this.jvm = jvm;
    }

    /** After the threads of a sample were drawn. */
    void sample(List<Drawn> drawn, long timeNs, Output output) {
        Waits waits = new Waits();
        // Woken, and without a carrier: whether it has what it waits for it will see itself.
        List<Waiting> undecided = new ArrayList<>();
        List<Waiting> left = new ArrayList<>();
        Map<Object, List<Waiting>> still = new LinkedHashMap<>();
        Map<Object, Sum> sums = new LinkedHashMap<>();
        Map<Object, Activity> activities = new HashMap<>();
        // Those that came last are looked at first: who is still there afterwards was there when they left.
        for (Waiting waiting : followed.reversed()) {
            activities.put(waiting.what(), waiting.activity());
            ThreadStack stack = jvm.stackOf(waiting.thread());
            if (stack.virtual() && !stack.mounted() && stack.state() == Thread.State.RUNNABLE) {
                undecided.add(waiting);
            } else if (!waiting.what().equals(whatFor(stack, Drawn.of(waiting.thread(), stack).activity()))) {
                left.add(waiting);
            } else if (Objects.equals(waiting.token(), waits.of(waiting.thread(), waiting.what()))) {
                // Otherwise it had its turn and waits again: nothing is known of the new wait.
                still.computeIfAbsent(waiting.what(), absent -> new ArrayList<>()).addFirst(waiting);
            }
        }
        left.stream().filter(one -> !one.mayGiveUp()).forEach(one -> countLeft(one, still.getOrDefault(one.what(), List.of()), timeNs, sums));
        countOwners(still, left, drawn, timeNs, sums);
        sums.forEach((what, sum) -> write(output, timeNs, activities.get(what), sum));
        follow(undecided, still.values().stream().flatMap(List::stream).toList(), left, drawn, timeNs, waits);
    }

    /** What stands for one wait of a thread, in one sample. */
    private final class Waits {
        private final Map<Object, Map<Thread, Object>> queues = new HashMap<>();

        /** The JVM counts the waits of a platform thread; of a virtual one a synchronizer has a node. Null where neither is known. */
        Object of(Thread thread, Object what) {
            if (!thread.isVirtual()) {
                ThreadInfo info = threads.getThreadInfo(thread.threadId());
                return info == null ? null : info.getBlockedCount() + info.getWaitedCount();
            }
            return what instanceof Same same
                    ? queues.computeIfAbsent(same, absent -> jvm.waitsFor(same.object())).get(thread)
                    : null;
        }
    }

    /** Where nobody else waits, the order shows nothing. */
    private static void countLeft(Waiting one, List<Waiting> still, long timeNs, Map<Object, Sum> sums) {
        if (still.isEmpty()) {
            return;
        }
        List<Waiting> overtaken = still.stream().filter(one::cameAfter).toList();
        count(sums, one.what(), overtaken, one.activity().application(), timeNs);
    }

    private void countOwners(
            Map<Object, List<Waiting>> still, List<Waiting> left, List<Drawn> drawn, long timeNs, Map<Object, Sum> sums) {
        Map<Object, Thread> now = new HashMap<>();
        still.forEach((what, waiting) -> {
            Thread owner = what instanceof Same same ? owner(same.object(), drawn) : null;
            if (owner != null) {
                now.put(what, owner);
            }
            boolean isCounted = owner == null || owners.get(what) == owner
                    || left.stream().anyMatch(one -> one.thread() == owner && one.what().equals(what));
            if (!isCounted) {
                List<Waiting> overtaken = waiting.stream().filter(one -> cameAfter(owner, one)).toList();
                // A thread of a pool may have come before or after them.
                if (overtaken.isEmpty() && !owner.isVirtual()) {
                    return;
                }
                String place = overtaken.isEmpty() ? null : Classifier.classify(jvm.stackOf(owner)).application();
                count(sums, what, overtaken, place, timeNs);
            }
        });
        owners = now;
    }

    private boolean cameAfter(Thread owner, Waiting one) {
        return owner.threadId() > one.laterIds() || elsewhere.getOrDefault(owner.threadId(), UNKNOWN) > one.sinceNs();
    }

    private Thread owner(Object lock, List<Drawn> drawn) {
        Thread owner = jvm.ownerOf(lock);
        if (owner != null) {
            return owner;
        }
        for (Drawn one : drawn) {
            boolean holds = one.stack().blocker() != lock && one.stack().monitors().stream().anyMatch(it -> it == lock);
            if (holds) {
                return one.thread();
            }
        }
        return null;
    }

    private static void count(Map<Object, Sum> sums, Object what, List<Waiting> overtaken, String overtaker, long timeNs) {
        Sum sum = sums.computeIfAbsent(what, absent -> new Sum());
        sum.turns++;
        if (overtaken.isEmpty()) {
            return;
        }
        sum.overtaking++;
        Waiting first = overtaken.getFirst();
        if (timeNs - first.sinceNs() >= sum.waitedNs) {
            sum.waitedNs = timeNs - first.sinceNs();
            sum.overtaken = first.activity().application();
            sum.overtaker = overtaker;
        }
    }

    private static void write(Output output, long timeNs, Activity activity, Sum sum) {
        output.write(JsonLine.of("turns", timeNs)
                .put("role", activity.role().wireName())
                .put("state", activity.state().wireName())
                .put("resource", activity.resource())
                .put("turns", sum.turns)
                .put("overtaking", sum.overtaking)
                .put("overtaker", sum.overtaker)
                .put("overtaken", sum.overtaken)
                .put("waited_ns", sum.waitedNs));
    }

    /**
     * @param woken those of which the next sample will show whether they have had their turn
     * @param still those that wait on
     * @param left those that had their turn in this sample: the stack that was drawn of them is older, and may still wait
     */
    private void follow(
            List<Waiting> woken, List<Waiting> still, List<Waiting> left, List<Drawn> drawn, long timeNs, Waits waits) {
        List<Waiting> oldest = oldest(still);
        List<Waiting> newcomers = new ArrayList<>();
        int room = MOST_FOLLOWED - woken.size() - oldest.size();
        long laterIds = UNKNOWN;
        // They come in the order in which the JVM lists its threads, which is not that in which they began to wait.
        List<Drawn> byLot = new ArrayList<>(drawn);
        Collections.shuffle(byLot);
        for (Drawn one : byLot) {
            Thread thread = one.thread();
            Activity activity = one.whateverTheKernelSays();
            Object what = whatFor(one.stack(), activity);
            if (what == null) {
                elsewhere.put(thread.threadId(), timeNs);
            } else if (!isOneOf(woken, thread) && !isOneOf(still, thread) && !isOneOf(left, thread)) {
                // Numbers rise: that of a thread which is made now, and never begun, is larger than those of all others.
                laterIds = laterIds == UNKNOWN ? Thread.ofPlatform().unstarted(() -> {}).threadId() : laterIds;
                Long before = elsewhere.get(thread.threadId());
                newcomers.add(new Waiting(thread, what, null, activity, timeNs, laterIds,
                        before == null ? UNKNOWN : before, Classifier.mayGiveUp(one.stack(), activity)));
            }
        }
        newcomers.sort(REQUESTS_THEN_OLDEST);
        followed = new ArrayList<>(woken);
        followed.addAll(oldest);
        newcomers.stream().limit(room).map(one -> one.with(waits.of(one.thread(), one.what()))).forEach(followed::add);
        still.stream().filter(one -> !oldest.contains(one)).limit(MOST_FOLLOWED - followed.size()).forEach(followed::add);
        followed.sort(OLDEST);
    }

    private static List<Waiting> oldest(List<Waiting> still) {
        Map<Object, Integer> kept = new HashMap<>();
        return still.stream().sorted(REQUESTS_THEN_OLDEST)
                .filter(one -> kept.merge(one.what(), 1, Integer::sum) <= MOST_KEPT_OF_ONE)
                .limit(MOST_KEPT).toList();
    }

    private static boolean isOneOf(List<Waiting> some, Thread thread) {
        return some.stream().anyMatch(waiting -> waiting.thread() == thread);
    }

    /** What a thread with work waits for that others give back: the object, or where that is not known what it does; null for nothing. */
    private static Object whatFor(ThreadStack stack, Activity activity) {
        if (activity == null || !stack.isBlocked()) {
            return null;
        }
        boolean isWork = activity.role() == Role.REQUEST || activity.role() == Role.APPLICATION;
        if (!isWork || !HANDED_ON.contains(activity.state())) {
            return null;
        }
        return stack.blocker() == null ? activity : new Same(stack.blocker());
    }
}
