package dev.threadcount.probe;

import dev.threadcount.probe.stacks.JvmAccess;
import dev.threadcount.probe.stacks.ThreadStack;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.AbstractQueuedSynchronizer;
import java.util.concurrent.locks.LockSupport;

/**
 * Which lock each thread waits for, who owns it, and how many permits are left: what a thread dump does not have, of virtual
 * threads in particular. Taken by the JVM's attach listener, a platform thread, so that it works while all carriers are held.
 */
final class LockSnapshot {
    /** Those of more threads say nothing new, and each costs the JVM time. */
    private static final int MOST_PEERS = 1_000;
    private static final Path PROCESS = Path.of("/proc/self");

    private final JvmAccess jvm;
    private final ReleaseScan releases;
    private final KernelThreads kernel = new KernelThreads(PROCESS);
    private final Peers peers;
    /** Of virtual threads; null until one is seen that waits for a socket. */
    private Map<Thread, Integer> polled;
    private int peersAsked;
    private int objectsAsked;
    private final Map<Object, Map<Thread, Object>> queues = new IdentityHashMap<>();

    LockSnapshot(JvmAccess jvm, ReleaseScan releases) {
        this.jvm = jvm;
        this.releases = releases;
        peers = new Peers(jvm, PROCESS);
    }

    /** Writes a line per thread that waits for a lock, monitor or another machine, and a last line when all are written. */
    void writeTo(Output output) throws IOException {
        List<Thread> threads = new ArrayList<>();
        jvm.threads().forEach(1, threads::add);
        Givers givers = new Givers(jvm, threads);
        for (Thread thread : threads) {
            Thread.State state = thread.getState();
            Object blocker = blocker(thread, state);
            if (blocker != null || state == Thread.State.BLOCKED || isParked(state) && !thread.isVirtual()) {
                output.write(line(thread, state, blocker, givers.of(thread, blocker)));
            } else {
                writePeer(thread, state, output);
            }
        }
        givers.pools().lines().forEach(output::write);
        output.write(JsonLine.of("end", System.nanoTime()));
        if (!output.flush()) {
            throw new IOException("the snapshot of locks cannot be written");
        }
    }

    /** To whom the socket is connected that the thread reads or writes. */
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

    /** One that the JDK's poller has parked has no blocker; to ask for the poller where there is none would make it. */
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

    /** Of a virtual thread that waits at an object, only Java 25 and later say at which. */
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
                // Another one at a later snapshot: the thread was served meanwhile, and waits again.
                line.put("wait", System.identityHashCode(wait));
            }
            if (blocker.getClass().getEnclosingClass() == Semaphore.class) {
                line.put("gives_back", releases.isGivenBackOn(thread.getStackTrace()));
            }
        }
        return line;
    }

    /** A million threads may have as many blockers, and only a synchronizer has a queue. */
    private Map<Thread, Object> queueOf(Object blocker) {
        return blocker instanceof AbstractQueuedSynchronizer ? queues.computeIfAbsent(blocker, jvm::waitsFor) : Map.of();
    }
}
