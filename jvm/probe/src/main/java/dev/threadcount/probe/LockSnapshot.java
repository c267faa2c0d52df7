package dev.threadcount.probe;

import dev.threadcount.probe.stacks.Code;
import dev.threadcount.probe.stacks.JvmAccess;
import dev.threadcount.probe.stacks.Keeper;
import dev.threadcount.probe.stacks.ThreadStack;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Delayed;
import java.util.concurrent.ForkJoinWorkerThread;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.AbstractQueuedSynchronizer;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import java.util.stream.Stream;

/**
 * Writes which lock each thread waits for, who owns it, and how many permits are left. A thread dump lacks this, above all for virtual
 * threads. The JVM's attach listener, a platform thread, takes the snapshot, so that it works while all carriers are held.
 */
final class LockSnapshot {
    /** The largest number of threads whose sockets are asked for. More say nothing new, and each costs the JVM time. */
    private static final int MOST_PEERS = 1_000;
    private static final Path PROCESS = Path.of("/proc/self");
    private static final String WORKER = "java.util.concurrent.ThreadPoolExecutor$Worker";
    private static final String CARRIER = "jdk.internal.misc.CarrierThread";

    /** The largest number of threads whose stacks are read, to see what they are in. */
    private static final int MOST_STACKS = 3_000;
    /** The heap that a StackTraceElement takes, with the strings that it does not share. */
    private static final int BYTES_PER_FRAME = 60;
    /** The largest number of objects that are searched for in the fields of others. */
    private static final int MOST_KEPT = 1_000;
    /** The largest number of threads that are checked for waiting for something that only they can give. */
    private static final int MOST_OWN = 4;
    /** Time limits from here on are written. */
    private static final long LONG_MS = 60_000;

    private final JvmAccess jvm;
    private final Supplier<Class<?>[]> classes;
    private int ownAsked;
    private int loopsAsked;
    private int limitsAsked;
    private final Map<Long, StackTraceElement[]> stacks = new LinkedHashMap<>();
    /** When the search in fields ends, after four fifths of the limit. The rest of the snapshot is written without what was not found. */
    private final long searchUntil;
    private final KernelThreads kernel = new KernelThreads(PROCESS);
    private final Peers peers;
    /** The descriptors for which virtual threads wait. Null until a virtual thread is seen that waits for a socket. */
    private Map<Thread, Integer> polled;
    private int peersAsked;
    private int objectsAsked;
    private final Map<Object, Map<Thread, Object>> queues = new IdentityHashMap<>();

    /** @param classes all classes that are loaded */
    LockSnapshot(JvmAccess jvm, Supplier<Class<?>[]> classes, Duration limit) {
        searchUntil = System.nanoTime() + limit.toNanos() / 5 * 4;
        this.jvm = jvm;
        this.classes = classes;
        peers = new Peers(jvm, PROCESS);
    }

    /** Writes a line for each thread that waits for a lock, a monitor or another machine, and a last line after all of them. */
    void writeTo(Output output) throws IOException {
        List<Thread> threads = new ArrayList<>();
        jvm.threads().forEach(1, threads::add);
        threads.removeIf(it -> OwnThreads.isOwn(it.getName()));
        Givers givers = new Givers(jvm, threads);
        readStacks(threads.subList(0, Math.min(threads.size(), MOST_STACKS)));
        Map<Long, Kept> keepers = System.nanoTime() < searchUntil ? keepers(threads) : Map.of();
        for (Thread thread : threads) {
            Thread.State state = thread.getState();
            Object blocker = blocker(thread, state);
            long leftMs = leftMs(thread, state);
            if (leftMs >= LONG_MS || blocker != null || state == Thread.State.BLOCKED || isParked(state) && !thread.isVirtual()) {
                JsonLine line = line(thread, state, blocker, givers.of(thread, blocker));
                if (leftMs >= LONG_MS) {
                    line.put("left_ms", leftMs);
                }
                Kept kept = keepers.getOrDefault(thread.threadId(), new Kept(Keeper.NONE, null));
                line.put("kept_in", String.join(" ", kept.keeper().queues()));
                if (kept.server() != null && kept.keeper().field() != null) {
                    line.put("served_by", kept.server()).put("served_in", kept.keeper().field());
                }
                output.write(line);
            } else {
                writePeer(thread, state, output);
            }
        }
        givers.pools().lines().forEach(output::write);
        long[] carriers = threads.stream().filter(it -> it.getClass().getName().equals(CARRIER)).mapToLong(Thread::threadId).toArray();
        output.write(JsonLine.of("carriers", System.nanoTime()).put("threads", carriers));
        output.write(JsonLine.of("end", System.nanoTime()));
        if (!output.flush()) {
            throw new IOException("the snapshot of locks cannot be written");
        }
    }

    /** Reads the stacks of these threads. All are kept at the same time, so they take at most a quarter of the free heap. */
    private void readStacks(List<Thread> threads) {
        Runtime runtime = Runtime.getRuntime();
        long freeBytes = runtime.maxMemory() - runtime.totalMemory() + runtime.freeMemory();
        long framesLeft = freeBytes / 4 / BYTES_PER_FRAME;
        for (Thread thread : threads) {
            StackTraceElement[] stack = thread.getStackTrace();
            framesLeft -= stack.length;
            if (framesLeft < 0) {
                return;
            }
            stacks.put(thread.threadId(), stack);
        }
    }

    /** The rest of a virtual thread's time limit, if Java 24 or later shows it; -1 for none. */
    private long leftMs(Thread thread, Thread.State state) {
        boolean isAsked = thread.isVirtual() && state == Thread.State.TIMED_WAITING && ++limitsAsked <= MOST_PEERS;
        return isAsked && jvm.fieldOf(thread, "timeoutTask") instanceof Delayed task ? task.getDelay(TimeUnit.MILLISECONDS) : -1;
    }

    /**
     * The object that keeps what a thread waits for.
     *
     * @param server the thread whose own work leads to it sooner than the work of others; null for none
     */
    private record Kept(Keeper keeper, Long server) {}

    /** The keepers by the number of the thread that waits. */
    private Map<Long, Kept> keepers(List<Thread> threads) {
        Map<Long, Object> blockers = new HashMap<>();
        List<Object> roots = new ArrayList<>();
        Map<Object, Long> workOf = new IdentityHashMap<>();
        for (Thread thread : threads) {
            boolean isAsked = blockers.size() < MOST_KEPT && isParked(thread.getState());
            Object parked = isAsked ? LockSupport.getBlocker(thread) : null;
            // If a thread waits at an object, Java 25 and later know the object.
            Object blocker = isAsked && parked == null ? jvm.stackOf(thread).blocker() : parked;
            if (blocker != null) {
                blockers.put(thread.threadId(), blocker);
            }
            Object task = thread.isVirtual() ? null : jvm.taskOf(thread);
            if (task != null) {
                roots.add(task);
                workOf.put(task, thread.threadId());
            }
            if (thread instanceof ForkJoinWorkerThread worker) {
                roots.add(worker.getPool());
            }
        }
        Set<Object> wanted = Collections.newSetFromMap(new IdentityHashMap<>());
        wanted.addAll(blockers.values());
        Map<Object, Keeper> found = jvm.keepers(classes.get(), roots, wanted);
        Map<Long, Kept> keepers = new HashMap<>();
        blockers.forEach((thread, blocker) -> {
            Keeper keeper = found.getOrDefault(blocker, Keeper.NONE);
            Long server = keeper.root() == null ? null : workOf.get(keeper.root());
            boolean isOwn = thread.equals(server);
            keepers.put(thread, new Kept(keeper, isOwn && isOfOthers(thread, blocker, workOf) ? null : server));
        });
        workOf.forEach((task, thread) -> {
            if (mayServeItself(thread, task, blockers) && !thread.equals(keepers.get(thread).server())) {
                addOwn(thread, task, blockers, workOf, keepers);
            }
        });
        return keepers;
    }

    /**
     * Whether a thread may wait for what only it can give. That is only asked of event loops of a program: other
     * threads wait for what is in their fields by chance, or for work.
     */
    private boolean mayServeItself(long thread, Object task, Map<Long, Object> blockers) {
        return blockers.containsKey(thread) && !(blockers.get(thread) instanceof AbstractQueuedSynchronizer.ConditionObject)
                && !task.getClass().getName().equals(WORKER) && isInApplication(thread) && ++loopsAsked <= MOST_OWN;
    }

    /**
     * Adds what the thread's own work leads to, through a collection of a class in whose code it is. A timer may lead
     * to it too, and by a shorter way.
     */
    private void addOwn(long thread, Object task, Map<Long, Object> blockers, Map<Object, Long> workOf, Map<Long, Kept> keepers) {
        Set<Object> wanted = Collections.newSetFromMap(new IdentityHashMap<>());
        wanted.addAll(blockers.values());
        Map<Object, Keeper> found = jvm.keepers(new Class<?>[0], List.of(task), wanted);
        String field = found.getOrDefault(blockers.get(thread), Keeper.NONE).field();
        boolean isInItsCode = field != null && Stream.of(stacks.get(thread))
                .anyMatch(it -> it.getClassName().equals(field.substring(0, field.lastIndexOf('.'))));
        if (isInItsCode && !isOfOthers(thread, blockers.get(thread), workOf)) {
            blockers.forEach((waiter, blocker) -> {
                if (field.equals(found.getOrDefault(blocker, Keeper.NONE).field())) {
                    Keeper keeper = keepers.get(waiter).keeper();
                    keepers.put(waiter, new Kept(new Keeper(keeper.queues(), field, task), thread));
                }
            });
        }
    }

    /**
     * Whether the work of another thread in the application's code leads to it too, except for threads of pools. That thread may give it.
     */
    private boolean isOfOthers(long own, Object blocker, Map<Object, Long> workOf) {
        if (++ownAsked > MOST_OWN || System.nanoTime() > searchUntil) {
            return true;
        }
        List<Object> others = workOf.entrySet().stream().filter(it -> it.getValue() != own && isInApplication(it.getValue()))
                .map(Map.Entry::getKey).filter(it -> !it.getClass().getName().equals(WORKER)).toList();
        Set<Object> wanted = Collections.newSetFromMap(new IdentityHashMap<>());
        wanted.add(blocker);
        return !jvm.keepers(new Class<?>[0], others, wanted).isEmpty();
    }

    private boolean isInApplication(long thread) {
        StackTraceElement[] stack = stacks.getOrDefault(thread, new StackTraceElement[0]);
        return Stream.of(stack).anyMatch(it -> Code.isApplication(it.getClassName()));
    }

    /** Writes the other end of the socket that the thread reads or writes. */
    private void writePeer(Thread thread, Thread.State state, Output output) {
        if (peersAsked >= MOST_PEERS) {
            return;
        }
        int descriptor = thread.isVirtual() ? descriptorOfVirtual(thread, state) : descriptorOfPlatform(thread, state);
        String peer = descriptor < 0 ? null : peers.of(descriptor);
        if (peer != null) {
            output.write(JsonLine.of("peer", System.nanoTime()).put("tid", thread.threadId()).put("peer", peer));
        }
    }

    /** A thread that the JDK's poller has parked has no blocker. If there is no poller, asking for it would create it. */
    private int descriptorOfVirtual(Thread thread, Thread.State state) {
        if (state != Thread.State.WAITING && state != Thread.State.TIMED_WAITING) {
            return -1;
        }
        peersAsked++;
        if (polled == null) {
            ThreadStack stack = jvm.stackOf(thread);
            for (StackTraceElement frame : stack.frames()) {
                polled = frame.getClassName().equals("sun.nio.ch.Poller") ? jvm.polledDescriptors() : polled;
            }
        }
        return polled == null ? -1 : polled.getOrDefault(thread, -1);
    }

    private int descriptorOfPlatform(Thread thread, Thread.State state) {
        if (state != Thread.State.RUNNABLE) {
            return -1;
        }
        peersAsked++;
        KernelThreads.Task task = kernel.of(thread);
        return task == null ? -1 : task.descriptor();
    }

    private static boolean isParked(Thread.State state) {
        return state == Thread.State.WAITING || state == Thread.State.TIMED_WAITING;
    }

    /** The object for which the thread waits. If a virtual thread waits at an object, only Java 25 and later know the object. */
    private Object blocker(Thread thread, Thread.State state) {
        Object blocker = LockSupport.getBlocker(thread);
        boolean mayWaitAtObject = blocker == null && thread.isVirtual() && isParked(state) && ++objectsAsked <= MOST_PEERS;
        return mayWaitAtObject ? jvm.stackOf(thread).blocker() : blocker;
    }

    private JsonLine line(Thread thread, Thread.State state, Object blocker, Givers.Given given) {
        JsonLine line = JsonLine.of("waits", System.nanoTime())
                .put("tid", thread.threadId())
                .put("virtual", thread.isVirtual())
                .put("state", state.name());
        line.put("lock", given.lock()).put("givers", Givers.sorted(given.threads())).put("pool", given.pool())
                .put("users", Givers.sorted(given.users()));
        if (blocker != null) {
            Thread owner = jvm.ownerOf(blocker);
            line.put("owner", owner == null ? -1 : owner.threadId())
                    .put("owner_name", owner == null ? null : owner.getName())
                    .put("owner_ended", owner != null && !owner.isAlive())
                    .put("value", jvm.stateOf(blocker));
            Object wait = queueOf(blocker).get(thread);
            if (wait != null) {
                // A different number in a later snapshot means that the thread was served meanwhile, and waits again.
                line.put("wait", System.identityHashCode(wait));
            }
        }
        return line;
    }

    /** The queue of a synchronizer. Other blockers have none, and a million threads may have as many blockers. */
    private Map<Thread, Object> queueOf(Object blocker) {
        return blocker instanceof AbstractQueuedSynchronizer ? queues.computeIfAbsent(blocker, jvm::waitsFor) : Map.of();
    }
}
