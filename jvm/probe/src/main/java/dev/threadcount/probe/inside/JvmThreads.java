package dev.threadcount.probe.inside;

import dev.threadcount.probe.stacks.JvmAccess;
import dev.threadcount.probe.stacks.Keeper;
import dev.threadcount.probe.stacks.ThreadList;
import dev.threadcount.probe.stacks.ThreadStack;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.AccessibleObject;
import java.lang.reflect.Field;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.locks.AbstractOwnableSynchronizer;
import java.util.concurrent.locks.AbstractQueuedSynchronizer;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * Calls the JDK's internals through handles, because the probe is compiled for Java 21. A separate class loader defines this class, so that
 * packages are opened to this class alone ({@code JvmDoor}).
 */
public final class JvmThreads implements JvmAccess {
    private static final String OWN = "dev.threadcount.probe.";

    /** Null if this JVM has different tables. */
    private final ThreadTables tables;
    private final ThreadTree tree = new ThreadTree();
    private final MethodHandle carrier;
    private final MethodHandle owner;
    private final MethodHandle value;
    /** Null if this JVM has different queues. */
    private final WaitQueue queue = WaitQueue.find();
    /** Null if this JVM has a different scheduler. */
    private final Field scheduler;
    /** Whether a class has not been initialised yet. */
    private final MethodHandle isUnused;
    /** Null if this JVM has different internals. */
    private final ConnectionEnds ends = ConnectionEnds.find();
    private final PolledDescriptors polled = PolledDescriptors.find();
    private final JdkFields fields = new JdkFields();
    /** Null if this JVM has different internals. */
    private final ScheduledTasks scheduled = ScheduledTasks.find();
    /** Null if this JVM has different internals. */
    private final WorkerTasks workers = WorkerTasks.find();
    /** One consistent view of a thread (Java 25 and later). Null before. */
    private final Snapshot snapshot;

    /** Called by reflection. */
    public JvmThreads() throws ReflectiveOperationException {
        // Initialising this class would create its scheduler and a thread that stays.
        Class<?> virtual = Class.forName("java.lang.VirtualThread", false, null);
        MethodHandles.Lookup lookup = MethodHandles.lookup();
        carrier = lookup.unreflectGetter(open(virtual.getDeclaredField("carrierThread")))
                .asType(MethodType.methodType(Thread.class, Thread.class));
        owner = lookup.unreflectGetter(open(
                AbstractOwnableSynchronizer.class.getDeclaredField("exclusiveOwnerThread")));
        value = lookup.unreflectGetter(open(AbstractQueuedSynchronizer.class.getDeclaredField("state")));
        scheduler = Runtime.version().feature() >= 24 ? null
                : open(virtual.getDeclaredField("DEFAULT_SCHEDULER"));
        Class<?> unsafe = Class.forName("jdk.internal.misc.Unsafe");
        isUnused = lookup.unreflect(open(unsafe.getDeclaredMethod("shouldBeInitialized", Class.class)))
                .bindTo(open(unsafe.getDeclaredMethod("getUnsafe")).invoke(null));
        tables = ThreadTables.find(isUnused);
        snapshot = Runtime.version().feature() >= 25 ? Snapshot.find(lookup) : null;
    }

    @Override
    public ThreadList threads() {
        ThreadList listed = tables == null ? null : tables.now();
        return listed == null ? tree : listed;
    }

    @Override
    public ThreadStack stackOf(Thread thread) {
        try {
            if (snapshot != null) {
                return snapshot.of(thread);
            }
            Thread.State state = thread.getState();
            boolean mounted = !thread.isVirtual() || (Thread) carrier.invokeExact(thread) != null;
            return new ThreadStack(thread.getStackTrace(), state, thread.isVirtual(), mounted,
                    LockSupport.getBlocker(thread), List.of());
        } catch (Throwable impossible) {
            throw broken(impossible);
        }
    }

    @Override
    public Thread carrierOf(Thread virtual) {
        try {
            return (Thread) carrier.invokeExact(virtual);
        } catch (Throwable impossible) {
            throw broken(impossible);
        }
    }

    @Override
    public Thread ownerOf(Object synchronizer) {
        try {
            return synchronizer instanceof AbstractOwnableSynchronizer lock ? (Thread) owner.invokeExact(lock) : null;
        } catch (Throwable impossible) {
            throw broken(impossible);
        }
    }

    @Override
    public long stateOf(Object synchronizer) {
        try {
            return synchronizer instanceof AbstractQueuedSynchronizer counted ? (int) value.invokeExact(counted) : -1;
        } catch (Throwable impossible) {
            throw broken(impossible);
        }
    }

    @Override
    public Map<Thread, Object> waitsFor(Object synchronizer) {
        return queue == null ? Map.of() : queue.of(synchronizer);
    }

    @Override
    public Object fieldOf(Object object, String name) {
        return fields.of(object, name);
    }

    @Override
    public Map<Object, Keeper> keepers(Class<?>[] loaded, Collection<Object> roots, Set<Object> wanted) {
        List<Class<?>> begun = new ArrayList<>();
        for (Class<?> type : loaded) {
            // Reading a static field initialises its class, and waits if another thread is doing so.
            if (type.getClassLoader() != null && !type.isArray() && !type.isHidden() && !isUnused(type)) {
                begun.add(type);
            }
        }
        HeapSearch search = loaded.length == 0 ? HeapSearch.nearby(OWN) : new HeapSearch(OWN);
        return search.keepers(begun, roots, wanted);
    }

    private boolean isUnused(Class<?> type) {
        try {
            return (boolean) isUnused.invokeExact(type);
        } catch (Throwable impossible) {
            throw broken(impossible);
        }
    }

    @Override
    public Map<Thread, Integer> polledDescriptors() {
        return polled == null ? Map.of() : polled.now();
    }

    @Override
    public Object recorderMonitor() {
        return RecorderMonitor.find();
    }

    @Override
    public List<List<Object>> scheduledTasks(Predicate<String> isWanted) {
        return scheduled == null ? List.of() : scheduled.now(isWanted);
    }

    @Override
    public Object executorOf(Thread thread) {
        return workers == null ? null : workers.executorOf(thread);
    }

    @Override
    public InetSocketAddress[] endsOf(int descriptor) {
        return ends == null ? null : ends.of(descriptor);
    }

    @Override
    public ForkJoinPool scheduler() {
        try {
            // Reading the field of an unused class would create the scheduler.
            boolean isMade = scheduler != null && !isUnused(scheduler.getDeclaringClass());
            return isMade ? (ForkJoinPool) scheduler.get(null) : null;
        } catch (Throwable impossible) {
            throw broken(impossible);
        }
    }

    static RuntimeException broken(Throwable thrown) {
        return thrown instanceof RuntimeException known ? known : new IllegalStateException(thrown);
    }

    static <T extends AccessibleObject> T open(T member) {
        member.setAccessible(true);
        return member;
    }

    /** {@code jdk.internal.vm.ThreadSnapshot}, of which Java 25 makes a thread dump. */
    private record Snapshot(MethodHandle create, MethodHandle state, MethodHandle stack, MethodHandle carrier,
            MethodHandle parkedOn, MethodHandle blockedOn, MethodHandle waitsFor, MethodHandle ownsMonitors, MethodHandle monitorsAt) {
        /** Returns null if this JVM has a different snapshot. */
        static Snapshot find(MethodHandles.Lookup lookup) {
            try {
                Class<?> type = Class.forName("jdk.internal.vm.ThreadSnapshot");
                return new Snapshot(
                        lookup.unreflect(open(type.getDeclaredMethod("of", Thread.class)))
                                .asType(MethodType.methodType(Object.class, Thread.class)),
                        get(lookup, type, "threadState"), get(lookup, type, "stackTrace"), get(lookup, type, "carrierThread"),
                        get(lookup, type, "parkBlocker"), get(lookup, type, "blockedOn"), get(lookup, type, "waitingOn"),
                        get(lookup, type, "ownsMonitors"),
                        lookup.unreflect(open(type.getDeclaredMethod("ownedMonitorsAt", int.class)))
                                .asType(MethodType.methodType(Stream.class, Object.class, int.class)));
            } catch (ReflectiveOperationException another) {
                return null;
            }
        }

        private static MethodHandle get(MethodHandles.Lookup lookup, Class<?> type, String name)
                throws ReflectiveOperationException {
            return lookup.unreflect(open(type.getDeclaredMethod(name)))
                    .asType(MethodType.methodType(Object.class, Object.class));
        }

        ThreadStack of(Thread thread) throws Throwable {
            Object snapshot = (Object) create.invokeExact(thread);
            if (snapshot == null) {
                return new ThreadStack(new StackTraceElement[0], Thread.State.TERMINATED, thread.isVirtual(), false, null,
                        List.of());
            }
            boolean mounted = !thread.isVirtual() || (Object) carrier.invokeExact(snapshot) != null;
            StackTraceElement[] frames = (StackTraceElement[]) (Object) stack.invokeExact(snapshot);
            Thread.State current = (Thread.State) (Object) state.invokeExact(snapshot);
            return new ThreadStack(frames, current, thread.isVirtual(), mounted, blocker(snapshot, current), monitors(snapshot, frames.length));
        }

        private Object blocker(Object snapshot, Thread.State current) throws Throwable {
            // In other states these methods throw.
            return switch (current) {
                case BLOCKED -> (Object) blockedOn.invokeExact(snapshot);
                case WAITING, TIMED_WAITING -> {
                    Object parked = (Object) parkedOn.invokeExact(snapshot);
                    yield parked == null ? (Object) waitsFor.invokeExact(snapshot) : parked;
                }
                default -> null;
            };
        }

        private List<Object> monitors(Object snapshot, int depth) throws Throwable {
            if (!(Boolean) (Object) ownsMonitors.invokeExact(snapshot)) {
                return List.of();
            }
            List<Object> owned = new ArrayList<>();
            for (int frame = 0; frame < depth; frame++) {
                ((Stream<?>) monitorsAt.invokeExact(snapshot, frame)).forEach(owned::add);
            }
            return owned;
        }
    }
}
