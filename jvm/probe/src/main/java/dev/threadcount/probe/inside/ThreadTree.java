package dev.threadcount.probe.inside;

import dev.threadcount.probe.stacks.ThreadList;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Method;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * All threads by the JVM's own tree of thread containers. It is correct in every JVM, but expensive: each container searches its threads
 * among all platform threads, and the containers that its threads have opened.
 */
final class ThreadTree implements ThreadList {
    private final MethodHandle root;
    private final MethodHandle children;
    private final MethodHandle threads;

    ThreadTree() throws ReflectiveOperationException {
        Class<?> containers = Class.forName("jdk.internal.vm.ThreadContainers");
        Class<?> container = Class.forName("jdk.internal.vm.ThreadContainer");
        root = handle(containers.getDeclaredMethod("root")).asType(MethodType.methodType(Object.class));
        children = handle(container.getDeclaredMethod("children")).asType(MethodType.methodType(Stream.class, Object.class));
        threads = handle(container.getDeclaredMethod("threads")).asType(MethodType.methodType(Stream.class, Object.class));
    }

    @Override
    public int virtualThreads() {
        return UNKNOWN;
    }

    @Override
    public void forEach(int oneIn, Consumer<Thread> consumer) {
        try {
            forEach((Object) root.invokeExact(), consumer);
        } catch (Throwable impossible) {
            throw JvmThreads.broken(impossible);
        }
    }

    private void forEach(Object container, Consumer<Thread> consumer) throws Throwable {
        ((Stream<?>) threads.invokeExact(container)).forEach(thread -> consumer.accept((Thread) thread));
        for (Object child : ((Stream<?>) children.invokeExact(container)).toList()) {
            forEach(child, consumer);
        }
    }

    private static MethodHandle handle(Method method) throws IllegalAccessException {
        return MethodHandles.lookup().unreflect(JvmThreads.open(method));
    }
}
