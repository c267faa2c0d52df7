package dev.threadcount.probe;

import dev.threadcount.probe.SampleGroups.Drawn;
import dev.threadcount.probe.stacks.Activity;
import dev.threadcount.probe.stacks.EventLoops;
import dev.threadcount.probe.stacks.JvmAccess;
import dev.threadcount.probe.stacks.Role;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Path;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.ForkJoinWorkerThread;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;

/**
 * Watches families: platform threads of one pool, or with names that differ only in a number. For each family it writes how many threads
 * have work, where, and their executor. In a small family every thread is sampled, because a draw could miss a limit of a few threads; in a
 * large one only now and then. Idle workers need no stack, because all of them wait for the same queue.
 */
final class ThreadFamilies {
    /** The size up to which all threads of a family are sampled, and the number of stacks for all families. */
    private static final int SMALL = 24;
    private static final int MOST_STACKS = 40;
    /** The size of a large family whose threads are all sampled, once in this many calls. */
    private static final int LARGE = 128;
    private static final int LARGE_EVERY = 2;
    private static final int MOST_FAMILIES = 200;
    /** If this many threads of a family have the same executor, all have it. */
    private static final int ALIKE = 4;

    private final JvmAccess jvm;
    private final VoluntarySwitches switches;
    private final ThreadPoolNames names = new ThreadPoolNames();
    private final ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    /** The number of the newest thread of each family. */
    private final Map<String, Long> newest = new HashMap<>();
    private long calls;
    /** The stacks that this sample may still take of large families, for both kinds of thread. */
    private int leftOfLarge;
    /** The executor of each thread, or empty if none is known. */
    private final Map<Thread, Optional<Object>> executors = new WeakHashMap<>();

    ThreadFamilies(JvmAccess jvm, Path process) {
        this.jvm = jvm;
        switches = new VoluntarySwitches(process);
    }

    /**
     * Writes a line for each family with work.
     *
     * @param drawn the threads whose stacks the sample already has
     * @param draw takes the stack of another thread
     */
    void writeTo(Output output, long sample, long timeNs, Collection<Thread> platform, List<Drawn> drawn, Function<Thread, Drawn> draw) {
        leftOfLarge = calls++ % LARGE_EVERY == 0 ? LARGE : 0;
        if (platform.isEmpty()) {
            return;
        }
        Map<String, List<Thread>> families = names.of(platform, this::executorOf);
        if (families.size() > MOST_FAMILIES) {
            return;
        }
        Map<Thread, Drawn> known = new IdentityHashMap<>();
        drawn.forEach(one -> known.put(one.thread(), one));
        switches.read();
        int left = MOST_STACKS;
        for (Map.Entry<String, List<Thread>> family : families.entrySet()) {
            Work work = new Work();
            int size = family.getValue().size();
            boolean hasExecutor = executorOf(family.getValue().getFirst()) != null;
            boolean isLarge = size > SMALL;
            Set<Thread> idle = isLarge && leftOfLarge > 0 ? idle(family.getValue(), known) : Set.of();
            boolean isWhole = isLarge ? size - idle.size() <= leftOfLarge : size <= left;
            leftOfLarge -= isLarge && isWhole ? size - idle.size() : 0;
            for (Thread thread : family.getValue()) {
                Drawn one = known.get(thread);
                if (one == null && isWhole && idle.contains(thread)) {
                    work.drawn++;
                } else if (one == null && isWhole) {
                    one = draw.apply(thread);
                    left -= isLarge ? 0 : 1;
                }
                if (one != null) {
                    work.add(one, hasExecutor);
                }
            }
            write(output, sample, timeNs, family.getKey(), family.getValue(), work);
        }
    }

    /**
     * Writes a line for the virtual threads. They are one family, because an executor may have a thread for each task.
     *
     * @param all all virtual threads
     * @param sampled the threads whose stacks the sample already has
     * @param draw takes the stack of another thread
     */
    void writeVirtual(Output output, long sample, long timeNs, List<Thread> all, List<Drawn> sampled, Function<Thread, Drawn> draw) {
        List<Drawn> drawn = all.size() <= leftOfLarge ? whole(all, sampled, draw) : sampled;
        Work work = new Work();
        drawn.forEach(one -> work.add(one, false));
        String name = drawn.stream().map(one -> VoluntarySwitches.withoutNumber(one.thread().getName())).max(String::compareTo).orElse("");
        // The JVM numbers threads in the order in which they are made.
        long made = drawn.stream().mapToLong(one -> one.thread().threadId()).max().orElse(-1);
        if (work.working + work.waiting > 0) {
            output.write(line(sample, timeNs, name, work).put("virtual", true).put("threads", all.size()).put("completed", made).put("switches", -1));
        }
    }

    /** The threads that wait for the same object as a drawn worker without a task: the queue of their pool. */
    private static Set<Thread> idle(List<Thread> members, Map<Thread, Drawn> known) {
        Set<Object> queues = Collections.newSetFromMap(new IdentityHashMap<>());
        for (Thread thread : members) {
            Drawn one = known.get(thread);
            if (one != null && one.activity() != null && one.activity().role() == Role.WORKER && one.stack().blocker() != null) {
                queues.add(one.stack().blocker());
            }
        }
        Set<Thread> idle = Collections.newSetFromMap(new IdentityHashMap<>());
        for (Thread thread : queues.isEmpty() ? List.<Thread>of() : members) {
            Object blocker = known.containsKey(thread) ? null : LockSupport.getBlocker(thread);
            if (blocker != null && queues.contains(blocker)) {
                idle.add(thread);
            }
        }
        return idle;
    }

    private static List<Drawn> whole(List<Thread> all, List<Drawn> sampled, Function<Thread, Drawn> draw) {
        Map<Thread, Drawn> known = new IdentityHashMap<>();
        sampled.forEach(one -> known.put(one.thread(), one));
        return RequestEntries.named(all.stream().map(thread -> known.containsKey(thread) ? known.get(thread) : draw.apply(thread)).toList());
    }

    private void write(Output output, long sample, long timeNs, String name, List<Thread> members, Work work) {
        WorkerPool pool = poolOf(members);
        boolean hasWork = work.working + work.waiting > 0 || pool != null && (pool.active() > 0 || pool.queued() > 0);
        if (!hasWork) {
            return;
        }
        JsonLine line = line(sample, timeNs, name, work).put("virtual", false).put("threads", members.size());
        if (pool != null) {
            line.put("executor", pool.type()).put("size", pool.size()).put("maximum", pool.maximum()).put("active", pool.active())
                    .put("queued", pool.queued());
        }
        output.write(line.put("completed", pool == null ? made(name, members) : pool.completed())
                .put("switches", switches.of(members)));
    }

    /** If each task has its own thread, no thread of the previous sample is left. */
    private long made(String name, List<Thread> members) {
        long newestBefore = newest.getOrDefault(name, Long.MAX_VALUE);
        newest.put(name, members.stream().mapToLong(Thread::threadId).max().orElseThrow());
        boolean areOthers = members.stream().allMatch(thread -> thread.threadId() > newestBefore);
        return areOthers ? threads.getTotalStartedThreadCount() : -1;
    }

    private static JsonLine line(long sample, long timeNs, String name, Work work) {
        Place place = work.mostFrequent();
        return JsonLine.of("thread_family", timeNs)
                .put("sample", sample)
                .put("name", name)
                .put("drawn", work.drawn)
                .put("working", work.working)
                .put("waiting", work.waiting)
                .put("requests", work.requests)
                .put("application", place == null ? null : place.application())
                .put("library", place == null ? null : place.library())
                .put("state", place == null ? null : place.state())
                .put("at_place", place == null ? 0 : work.places.get(place))
                .put("event_loop", work.eventLoops > 0 && 2 * work.eventLoops >= work.working);
    }

    /** The figures of all executors of a family together, because each thread may have its own. */
    private WorkerPool poolOf(List<Thread> members) {
        Set<Object> all = Collections.newSetFromMap(new IdentityHashMap<>());
        for (Thread thread : members) {
            Object executor = executorOf(thread);
            if (executor == null) {
                return null;
            }
            all.add(executor);
            if (members.size() > ALIKE && all.size() == 1 && thread == members.get(ALIKE)) {
                break;
            }
        }
        return all.stream().map(WorkerPool::of).reduce(ThreadFamilies::sum).orElse(null);
    }

    private static WorkerPool sum(WorkerPool one, WorkerPool other) {
        return one == null || other == null ? null : new WorkerPool(one.type(), one.size() + other.size(), one.maximum() + other.maximum(),
                sum(one.active(), other.active()), sum(one.queued(), other.queued()), sum(one.completed(), other.completed()));
    }

    private static long sum(long one, long other) {
        return one < 0 || other < 0 ? -1 : one + other;
    }

    private Object executorOf(Thread thread) {
        if (thread instanceof ForkJoinWorkerThread worker) {
            return worker.getPool();
        }
        return executors.computeIfAbsent(thread, one -> Optional.ofNullable(jvm.executorOf(one))).orElse(null);
    }

    private record Place(String application, String library, String state) {}

    /** The work of a family's threads in a sample. */
    private static final class Work {
        private final Map<Place, Integer> places = new HashMap<>();
        private int drawn;
        private int working;
        private int waiting;
        private int requests;
        private int eventLoops;

        void add(Drawn one, boolean hasExecutor) {
            drawn++;
            Activity activity = one.activity();
            if (activity == null || activity.role() == Role.WORKER || activity.role() == Role.OTHER && !hasExecutor) {
                return;
            }
            switch (activity.state()) {
                case SELECT -> { }
                case MONITOR, LOCK, SEMAPHORE, POOL, FUTURE, QUEUE, WAIT -> waiting++;
                default -> {
                    working++;
                    requests += activity.role() == Role.REQUEST ? 1 : 0;
                    eventLoops += EventLoops.runs(one.stack().frames()) || EventLoops.hasSelector(one.thread()) ? 1 : 0;
                    // The place of a running thread is chance.
                    places.merge(new Place(activity.application(), activity.library(), activity.state().wireName()), 1, Integer::sum);
                }
            }
        }

        Place mostFrequent() {
            return places.entrySet().stream().max(Map.Entry.comparingByValue()).map(Map.Entry::getKey).orElse(null);
        }
    }
}
