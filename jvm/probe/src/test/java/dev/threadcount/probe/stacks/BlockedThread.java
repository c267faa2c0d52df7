package dev.threadcount.probe.stacks;

import java.time.Duration;
import java.util.concurrent.Callable;

/** A thread that does something endless. Closing it interrupts the thread. */
final class BlockedThread implements AutoCloseable {
    private static final long LIMIT_NS = 60_000_000_000L;

    private final Thread thread;
    private volatile Exception ended;

    private BlockedThread(Thread.Builder builder, Callable<?> body) {
        thread = builder.start(() -> call(body));
    }

    static BlockedThread platform(Callable<?> body) {
        return new BlockedThread(Thread.ofPlatform().daemon(), body);
    }

    static BlockedThread virtual(Callable<?> body) {
        return new BlockedThread(Thread.ofVirtual(), body);
    }

    Thread thread() {
        return thread;
    }

    private void call(Callable<?> body) {
        try {
            body.call();
        } catch (Exception exception) {
            // The test interrupts it when it has seen enough.
            ended = exception;
        }
    }

    /** The thread's activity as soon as it is in the body and has the expected state. After 60 s, whatever activity it has. */
    Activity activity(State expected) {
        long giveUpNs = System.nanoTime() + LIMIT_NS;
        while (true) {
            ThreadStack stack = ThreadStack.of(thread);
            Activity activity = stack.frames().length == 0 ? null : Classifier.classify(stack);
            if (!thread.isAlive()) {
                throw new AssertionError("it ended before it was seen", ended);
            }
            boolean isThere = activity != null && activity.state() == expected && isInBody(activity.application());
            if (isThere || System.nanoTime() > giveUpNs) {
                return activity;
            }
            Thread.onSpinWait();
        }
    }

    /** Waits at most 60 s until the thread ends. */
    boolean ends() throws InterruptedException {
        return thread.join(Duration.ofNanos(LIMIT_NS));
    }

    private static boolean isInBody(String application) {
        return application != null && !application.startsWith(BlockedThread.class.getName() + ".");
    }

    @Override
    public void close() {
        thread.interrupt();
    }
}
