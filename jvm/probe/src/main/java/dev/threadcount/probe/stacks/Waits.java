package dev.threadcount.probe.stacks;

import static dev.threadcount.probe.stacks.State.CONNECT;
import static dev.threadcount.probe.stacks.State.FILE;
import static dev.threadcount.probe.stacks.State.FUTURE;
import static dev.threadcount.probe.stacks.State.LOCK;
import static dev.threadcount.probe.stacks.State.NAME_LOOKUP;
import static dev.threadcount.probe.stacks.State.QUEUE;
import static dev.threadcount.probe.stacks.State.SELECT;
import static dev.threadcount.probe.stacks.State.SEMAPHORE;
import static dev.threadcount.probe.stacks.State.SLEEP;
import static dev.threadcount.probe.stacks.State.SOCKET;
import static dev.threadcount.probe.stacks.State.SOCKET_WRITE;

/** Finds what the JDK's frames at the top of a stack wait for. The topmost frame with a meaning decides. */
final class Waits {
    private record Wait(State state, Mark mark) {}

    private static final String CONCURRENT = "java.util.concurrent.";
    private static final String[] IN_OR_OUT =
            {"take", "poll", "put", "offer", "transfer", "tryTransfer", "xfer", "pop", "exchange"};

    private static final Wait[] WAITS = {
        new Wait(SLEEP, new Mark("java.lang.Thread", "sleep")),
        new Wait(SEMAPHORE, new Mark(CONCURRENT + "Semaphore", "acquire", "tryAcquire")),
        new Wait(LOCK, new Mark(CONCURRENT + "locks.ReentrantLock", "lock", "tryLock")),
        new Wait(LOCK, new Mark(CONCURRENT + "locks.ReentrantReadWriteLock$*", "lock", "tryLock")),
        new Wait(LOCK, new Mark(CONCURRENT + "locks.StampedLock", "readLock", "writeLock", "acquire", "tryReadLock", "tryWriteLock")),
        new Wait(SELECT, new Mark("sun.nio.ch.SelectorImpl")),
        new Wait(SELECT, new Mark("sun.nio.ch.NioSocketImpl", "accept")),
        new Wait(SELECT, new Mark("sun.nio.ch.ServerSocketChannelImpl", "accept")),
        new Wait(CONNECT, new Mark("sun.nio.ch.NioSocketImpl", "connect", "timedFinishConnect")),
        new Wait(CONNECT, new Mark("sun.nio.ch.SocketChannelImpl", "connect", "finishConnect", "blockingConnect")),
        new Wait(SOCKET, new Mark("sun.nio.ch.NioSocketImpl", "read", "implRead", "timedRead")),
        new Wait(SOCKET, new Mark("sun.nio.ch.SocketChannelImpl", "read", "blockingRead")),
        new Wait(SOCKET, new Mark("sun.nio.ch.DatagramChannelImpl", "receive", "blockingReceive")),
        new Wait(SOCKET_WRITE, new Mark("sun.nio.ch.NioSocketImpl", "write", "implWrite", "tryWrite")),
        new Wait(SOCKET_WRITE, new Mark("sun.nio.ch.SocketChannelImpl", "write", "blockingWrite")),
        new Wait(SOCKET_WRITE, new Mark("sun.nio.ch.DatagramChannelImpl", "send", "write")),
        new Wait(NAME_LOOKUP, new Mark("java.net.Inet6AddressImpl", "lookupAllHostAddr", "getHostByAddr")),
        new Wait(NAME_LOOKUP, new Mark("java.net.Inet4AddressImpl", "lookupAllHostAddr", "getHostByAddr")),
        new Wait(FILE, new Mark("sun.nio.ch.FileChannelImpl")),
        new Wait(FILE, new Mark("sun.nio.fs.Unix*")),
        new Wait(FILE, new Mark("java.io.FileInputStream")),
        new Wait(FILE, new Mark("java.io.FileOutputStream")),
        new Wait(FILE, new Mark("java.io.RandomAccessFile")),
        new Wait(FILE, new Mark("java.io.FileDescriptor", "sync")),
        new Wait(FILE, new Mark("java.io.UnixFileSystem")),
        new Wait(QUEUE, new Mark(CONCURRENT + "LinkedBlockingQueue", IN_OR_OUT)),
        new Wait(QUEUE, new Mark(CONCURRENT + "ArrayBlockingQueue", IN_OR_OUT)),
        new Wait(QUEUE, new Mark(CONCURRENT + "SynchronousQueue", IN_OR_OUT)),
        new Wait(QUEUE, new Mark(CONCURRENT + "LinkedTransferQueue", IN_OR_OUT)),
        new Wait(QUEUE, new Mark(CONCURRENT + "PriorityBlockingQueue", IN_OR_OUT)),
        new Wait(QUEUE, new Mark(CONCURRENT + "LinkedBlockingDeque", IN_OR_OUT)),
        new Wait(QUEUE, new Mark(CONCURRENT + "DelayQueue", IN_OR_OUT)),
        new Wait(QUEUE, new Mark(CONCURRENT + "ScheduledThreadPoolExecutor$DelayedWorkQueue", IN_OR_OUT)),
        new Wait(QUEUE, new Mark(CONCURRENT + "Exchanger", IN_OR_OUT)),
        new Wait(FUTURE, new Mark(CONCURRENT + "CompletableFuture", "get", "join")),
        new Wait(FUTURE, new Mark(CONCURRENT + "FutureTask", "get")),
        new Wait(FUTURE, new Mark(CONCURRENT + "ForkJoinTask", "get", "join", "invoke")),
        new Wait(FUTURE, new Mark(CONCURRENT + "CountDownLatch", "await")),
        new Wait(FUTURE, new Mark(CONCURRENT + "CyclicBarrier", "await")),
        new Wait(FUTURE, new Mark(CONCURRENT + "StructuredTaskScope*", "join")),
        new Wait(FUTURE, new Mark("java.lang.Thread", "join")),
    };

    /**
     * The index of the frame that decides, or -1.
     *
     * @param end the index of the first frame outside the JDK
     */
    static int place(StackTraceElement[] frames, int end) {
        for (int i = 0; i < end; i++) {
            if (stateOf(frames[i]) != null) {
                return i;
            }
        }
        return -1;
    }

    /** The frame of the same kind that was called first, because one queue may be made of another, as a SynchronousQueue is. */
    static int lowestPlace(StackTraceElement[] frames, int end) {
        int lowest = place(frames, end);
        State state = stateOf(frames[lowest]);
        for (int i = lowest; i < end; i++) {
            if (stateOf(frames[i]) == state) {
                lowest = i;
            }
        }
        return lowest;
    }

    static State stateOf(StackTraceElement frame) {
        for (Wait wait : WAITS) {
            if (wait.mark().matches(frame)) {
                return wait.state();
            }
        }
        return null;
    }

    private Waits() {}
}
