package dev.threadcount.probe.inside;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.ref.WeakReference;
import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The sets in which thread containers keep their virtual threads. The JVM's own listing goes through all threads twice, once for the threads
 * and once for the containers that they have opened; of a set it is known how many it has, and a part of it can be read.
 */
final class VirtualThreadSets {
    private static final String ROOT = "jdk.internal.vm.ThreadContainers$RootContainer$TrackingRootContainer";

    private final Set<Thread> root;
    /** Weak references to containers. */
    private final Set<?> registry;
    /** The field of each class of container that has virtual threads. */
    private final Map<Class<?>, Field> fields;
    /** Whether no scope has opened a container yet: those are in no registry. */
    private final MethodHandle scopesAreUnused;

    private VirtualThreadSets(MethodHandle isUnused) throws ReflectiveOperationException {
        root = set(field(Class.forName(ROOT), "VTHREADS"), null);
        registry = (Set<?>) field(Class.forName("jdk.internal.vm.ThreadContainers"), "CONTAINER_REGISTRY").get(null);
        Class<?> shared = Class.forName("jdk.internal.vm.SharedThreadContainer");
        Class<?> perTask = Class.forName("java.util.concurrent.ThreadPerTaskExecutor", false, null);
        fields = Map.of(shared, field(shared, "virtualThreads"), perTask, field(perTask, "threads"));
        Class<?> scopes = Class.forName("jdk.internal.misc.ThreadFlock", false, null);
        scopesAreUnused = MethodHandles.insertArguments(isUnused, 0, scopes).asType(MethodType.methodType(boolean.class));
    }

    /**
     * Null where this JVM has others.
     *
     * @param isUnused whether a class has yet to be initialised
     */
    static VirtualThreadSets find(MethodHandle isUnused) {
        try {
            return new VirtualThreadSets(isUnused);
        } catch (ReflectiveOperationException | RuntimeException another) {
            return null;
        }
    }

    /** All there are now; null where some virtual threads are in no set. */
    List<Set<Thread>> now() {
        try {
            if (!(boolean) scopesAreUnused.invokeExact()) {
                return null;
            }
            List<Set<Thread>> found = new ArrayList<>();
            found.add(root);
            for (Object weak : registry) {
                Object container = ((WeakReference<?>) weak).get();
                if (container != null && !addSet(container, found)) {
                    return null;
                }
            }
            return found;
        } catch (Throwable another) {
            return null;
        }
    }

    private boolean addSet(Object container, List<Set<Thread>> found) throws IllegalAccessException {
        Field field = fields.get(container.getClass());
        if (field == null) {
            return false;
        }
        Set<Thread> threads = set(field, container);
        // An executor with a thread per task keeps platform threads in its set, too, if these are what its factory makes.
        if (threads != null && threads.stream().findFirst().filter(Thread::isVirtual).isPresent()) {
            found.add(threads);
        }
        return true;
    }

    @SuppressWarnings("unchecked")
    private static Set<Thread> set(Field field, Object container) throws IllegalAccessException {
        return (Set<Thread>) field.get(container);
    }

    private static Field field(Class<?> type, String name) throws ReflectiveOperationException {
        Field field = type.getDeclaredField(name);
        field.setAccessible(true);
        return field;
    }
}
