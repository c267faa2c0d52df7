package dev.threadcount.probe.stacks;

import java.net.InetSocketAddress;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ForkJoinPool;
import java.util.function.Predicate;

/** Gives access to the JVM's internals. Any thread may call it. */
public interface JvmAccess {
    /** The current threads. */
    ThreadList threads();

    /** The current stack of a thread. */
    ThreadStack stackOf(Thread thread);

    /** The carrier of a virtual thread, or null if it has none now. Costs much less than its stack. */
    Thread carrierOf(Thread virtual);

    /** The thread that holds a lock of java.util.concurrent. Null if there is none or it is unknown. */
    Thread ownerOf(Object synchronizer);

    /** The number that a synchronizer keeps: permits of a semaphore, or holds of a lock. -1 for anything else. */
    long stateOf(Object synchronizer);

    /** The threads in the queue of a synchronizer, each with an object that stands for this wait. Empty for anything else. */
    default Map<Thread, Object> waitsFor(Object synchronizer) {
        return Map.of();
    }

    /** The value of a field of a JDK object, or null if it has none or does not exist. */
    default Object fieldOf(Object object, String name) {
        return null;
    }

    /** The task with which a platform thread was started. Null for none, or if the thread is its own task. */
    default Object taskOf(Thread thread) {
        Object holder = fieldOf(thread, "holder");
        return holder == null ? null : fieldOf(holder, "task");
    }

    /**
     * The keeper of each wanted object.
     *
     * @param loaded classes whose static fields lead to objects; if empty, only objects near the roots are found
     * @param roots objects that lead to others
     */
    default Map<Object, Keeper> keepers(Class<?>[] loaded, Collection<Object> roots, Set<Object> wanted) {
        return Map.of();
    }

    /** The descriptor of the socket for which each virtual thread waits, if it is known. */
    Map<Thread, Integer> polledDescriptors();

    /** The two ends of a connection, ours first. Null if it is no connection, or unknown. */
    InetSocketAddress[] endsOf(int descriptor);

    /**
     * The tasks that each scheduled executor and timer of platform threads has not run yet.
     *
     * @param isWanted whether a task of a class with this name is wanted
     */
    default List<List<Object>> scheduledTasks(Predicate<String> isWanted) {
        return List.of();
    }

    /** The executor that a platform thread works for. Null for none, or if it is unknown. */
    default Object executorOf(Thread thread) {
        return null;
    }

    /** The monitor that JFR holds while it makes, starts and stops a recording. Null if it is unknown. */
    default Object recorderMonitor() {
        return null;
    }

    /** The pool that runs virtual threads. Null if there is none yet or it is unknown, as after Java 23. */
    ForkJoinPool scheduler();
}
