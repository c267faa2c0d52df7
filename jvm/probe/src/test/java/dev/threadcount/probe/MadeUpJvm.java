package dev.threadcount.probe;

import dev.threadcount.probe.stacks.JvmAccess;
import dev.threadcount.probe.stacks.ThreadList;
import dev.threadcount.probe.stacks.ThreadStack;
import java.net.InetSocketAddress;
import java.util.Map;
import java.util.concurrent.ForkJoinPool;
import java.util.function.BiConsumer;
import java.util.function.Consumer;

/** A JVM without threads, of which tests override a part. */
class MadeUpJvm implements JvmAccess {
    @Override
    public ThreadList threads() {
        return list(ThreadList.UNKNOWN, (oneIn, consumer) -> {});
    }

    /**
     * A list of threads.
     *
     * @param virtualThreads the number that the list reports
     */
    static ThreadList list(int virtualThreads, BiConsumer<Integer, Consumer<Thread>> forEach) {
        return new ThreadList() {
            @Override
            public int virtualThreads() {
                return virtualThreads;
            }

            @Override
            public void forEach(int oneIn, Consumer<Thread> consumer) {
                forEach.accept(oneIn, consumer);
            }
        };
    }

    @Override
    public ThreadStack stackOf(Thread thread) {
        return ThreadStack.of(thread);
    }

    @Override
    public Thread carrierOf(Thread virtual) {
        return null;
    }

    @Override
    public Thread ownerOf(Object synchronizer) {
        return null;
    }

    @Override
    public long stateOf(Object synchronizer) {
        return -1;
    }

    @Override
    public Map<Thread, Integer> polledDescriptors() {
        return Map.of();
    }

    @Override
    public InetSocketAddress[] endsOf(int descriptor) {
        return null;
    }

    @Override
    public ForkJoinPool scheduler() {
        return null;
    }
}
