package dev.threadcount.probe.inside;

import dev.threadcount.probe.stacks.ThreadList;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.ref.WeakReference;
import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.Spliterator;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Consumer;

/**
 * The hash tables in which the JVM's thread containers keep their virtual threads. The size of a table is known, and a part of it can be
 * read.
 */
final class ThreadTables {
    private static final String ROOT = "jdk.internal.vm.ThreadContainers$RootContainer$TrackingRootContainer";
    /**
     * The largest number of bins per thread. A table never shrinks: if few threads are left, they are near each other, and a part of the
     * table has many of them or none.
     */
    private static final int MOST_BINS_PER_THREAD = 8;

    private final MethodHandle platformThreads;
    private final Set<Thread> root;
    /** Weak references to containers. */
    private final Set<?> registry;
    /** The field with the virtual threads for each class of container. */
    private final Map<Class<?>, Field> tables;
    /** Whether no scope has opened a container yet. Such containers are in no registry. */
    private final MethodHandle scopesAreUnused;

    private ThreadTables(MethodHandle isUnused) throws ReflectiveOperationException {
        platformThreads = MethodHandles.lookup().unreflect(JvmThreads.open(Thread.class.getDeclaredMethod("getAllThreads")));
        root = table(field(Class.forName(ROOT), "VTHREADS"), null);
        registry = (Set<?>) field(Class.forName("jdk.internal.vm.ThreadContainers"), "CONTAINER_REGISTRY").get(null);
        Class<?> shared = Class.forName("jdk.internal.vm.SharedThreadContainer");
        Class<?> perTask = Class.forName("java.util.concurrent.ThreadPerTaskExecutor", false, null);
        tables = Map.of(shared, field(shared, "virtualThreads"), perTask, field(perTask, "threads"));
        Class<?> scopes = Class.forName("jdk.internal.misc.ThreadFlock", false, null);
        scopesAreUnused = MethodHandles.insertArguments(isUnused, 0, scopes).asType(MethodType.methodType(boolean.class));
    }

    /**
     * Returns null if this JVM has different internals.
     *
     * @param isUnused whether a class has not been initialised yet
     */
    static ThreadTables find(MethodHandle isUnused) {
        try {
            return new ThreadTables(isUnused);
        } catch (ReflectiveOperationException | RuntimeException another) {
            return null;
        }
    }

    /** The current threads. Null if some may be in no table: those of a structured scope, and of an unknown container. */
    ThreadList now() {
        try {
            if (!(boolean) scopesAreUnused.invokeExact()) {
                return null;
            }
            List<Set<Thread>> found = new ArrayList<>();
            found.add(root);
            for (Object weak : registry) {
                Object container = ((WeakReference<?>) weak).get();
                Field table = container == null ? null : tables.get(container.getClass());
                if (container != null && table == null) {
                    return null;
                }
                Set<Thread> threads = table == null ? null : table(table, container);
                // An executor with a thread per task also keeps platform threads in its table, if its factory makes some.
                if (threads != null && !threads.isEmpty() && threads.stream().anyMatch(Thread::isVirtual)) {
                    found.add(threads);
                }
            }
            return new Listed(found, (Thread[]) platformThreads.invokeExact());
        } catch (Throwable impossible) {
            throw JvmThreads.broken(impossible);
        }
    }

    private record Listed(List<Set<Thread>> tables, Thread[] platform) implements ThreadList {
        @Override
        public int virtualThreads() {
            int threads = tables.stream().mapToInt(Set::size).sum();
            int bins = tables.stream().mapToInt(table -> bins(table.spliterator())).sum();
            return bins > MOST_BINS_PER_THREAD * threads ? UNKNOWN : threads;
        }

        @Override
        public void forEach(int oneIn, Consumer<Thread> consumer) {
            for (Thread thread : platform) {
                consumer.accept(thread);
            }
            RandomPart part = new RandomPart(ThreadLocalRandom.current());
            for (Set<Thread> table : tables) {
                part.of(table.spliterator(), oneIn, thread -> {
                    if (thread.isVirtual() && thread.isAlive()) {
                        consumer.accept(thread);
                    }
                });
            }
        }

        /** The number of bins in a table. It is a power of two, and the table can be halved down to one bin. */
        private static int bins(Spliterator<Thread> table) {
            int bins = 1;
            while (table.trySplit() != null) {
                bins *= 2;
            }
            return bins;
        }
    }

    @SuppressWarnings("unchecked")
    private static Set<Thread> table(Field field, Object container) throws IllegalAccessException {
        return (Set<Thread>) field.get(container);
    }

    private static Field field(Class<?> type, String name) throws ReflectiveOperationException {
        return JvmThreads.open(type.getDeclaredField(name));
    }
}
