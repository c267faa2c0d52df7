package dev.threadcount.probe;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.threadcount.probe.stacks.State;
import dev.threadcount.probe.stacks.ThreadStack;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tests with a real thread that waits, and a kernel that is made up. */
@Timeout(60)
class SampleGroupsTest {
    /** The futex(2) of a parked thread, as in /proc. */
    private static final String PARKED = "202 0x7f8a 0x189 0x0 0x0 0x0 0xffffffff 0x7f8b 0x7f8c";
    private static final String READY = "running";

    @TempDir
    private Path process;

    private State stateWhileTheKernelSays(String call) throws Exception {
        var lock = new ReentrantLock();
        lock.lock();
        Thread waiter = Thread.ofPlatform().daemon().start(lock::lock);
        while (waiter.getState() != Thread.State.WAITING) {
            Thread.sleep(5);
        }
        var jvm = new MadeUpJvm() {
            @Override
            public ThreadStack stackOf(Thread thread) {
                return new ThreadStack(inTheApplication(thread.getStackTrace()), thread.getState(), false, true, LockSupport.getBlocker(thread), List.of());
            }
        };
        SampleGroups.Drawn drawn = null;
        // The thread may still compute for a moment while the JVM says that it waits.
        while (drawn == null || drawn.task() == null) {
            write(waiter, call);
            drawn = new SampleGroups(jvm, new KernelThreads(process), null).draw(waiter);
        }
        lock.unlock();
        waiter.join();
        return drawn.activity().state();
    }

    private static StackTraceElement[] inTheApplication(StackTraceElement[] frames) {
        StackTraceElement[] called = Arrays.copyOf(frames, frames.length + 1);
        called[frames.length] = new StackTraceElement("shop.Orders", "save", "Orders.java", 88);
        return called;
    }

    private void write(Thread thread, String call) throws IOException {
        Path task = Files.createDirectories(process.resolve("task").resolve("4711"));
        Files.writeString(task.resolve("syscall"), call + "\n");
        Files.writeString(task.resolve("schedstat"), cpuNs(thread) + " 0 1\n");
    }

    private static long cpuNs(Thread thread) {
        return ManagementFactory.getThreadMXBean().getThreadCpuTime(thread.threadId());
    }

    @Test
    void threadThatHoldsWhatItWaitedForAndHasNoCoreRuns() throws Exception {
        assertEquals(State.RUNNING, stateWhileTheKernelSays(READY));
    }

    @Test
    void threadThatTheKernelKeepsWaitingWaits() throws Exception {
        assertEquals(State.LOCK, stateWhileTheKernelSays(PARKED));
    }
}
