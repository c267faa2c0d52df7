package dev.threadcount.probe.stacks;

import java.net.InetSocketAddress;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ForkJoinPool;
import java.util.function.Predicate;

/** What the JVM shows only to itself. Any thread may call it. */
public interface JvmAccess {
    /** The threads now. */
    ThreadList threads();

    /** One thread now. */
    ThreadStack stackOf(Thread thread);

    /** The carrier of a virtual thread; null where it has none now. Costs much less than its stack. */
    Thread carrierOf(Thread virtual);

    /** The thread that holds a lock of java.util.concurrent; null where there is none or it is not known. */
    Thread ownerOf(Object synchronizer);

    /** The number that a synchronizer keeps: permits of a semaphore, holds of a lock; -1 of anything else. */
    long stateOf(Object synchronizer);

    /** Who waits in the queue of a synchronizer, and an object that stands for this one wait; none of anything else. */
    default Map<Thread, Object> waitsFor(Object synchronizer) {
        return Map.of();
    }

    /** What a field of an object of the JDK holds; null where it holds nothing or does not exist. */
    default Object fieldOf(Object object, String name) {
        return null;
    }

    /** What a platform thread was started with; null for none, or where the thread is its own task. */
    default Object taskOf(Thread thread) {
        Object holder = fieldOf(thread, "holder");
        return holder == null ? null : fieldOf(holder, "task");
    }

    /**
     * Where each wanted object is kept.
     *
     * @param loaded classes whose static fields lead to objects; none: only what is near to the roots is found
     * @param roots objects that lead to others as well
     */
    default Map<Object, Keeper> keepers(Class<?>[] loaded, Collection<Object> roots, Set<Object> wanted) {
        return Map.of();
    }

    /** The descriptor of the socket that each virtual thread waits for; none where it is not known. */
    Map<Thread, Integer> polledDescriptors();

    /** The two ends of a connection, this side first; null where it is none or not known. */
    InetSocketAddress[] endsOf(int descriptor);

    /**
     * What each scheduled executor and timer of platform threads has yet to run.
     *
     * @param isWanted whether a task of a class of this name is
     */
    default List<List<Object>> scheduledTasks(Predicate<String> isWanted) {
        return List.of();
    }

    /** The executor that a platform thread works for; null where it works for none or it is not known. */
    default Object executorOf(Thread thread) {
        return null;
    }

    /** The monitor that JFR holds while it makes, starts and stops a recording; null where it is not known. */
    default Object recorderMonitor() {
        return null;
    }

    /** The pool that runs virtual threads; null where there is none yet or it is not known, as after Java 23. */
    ForkJoinPool scheduler();
}
