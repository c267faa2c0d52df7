package dev.threadcount.probe;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.threadcount.probe.stacks.State;
import dev.threadcount.probe.stacks.ThreadStack;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A real thread that waits, and a kernel that is made up. */
class SampleGroupsTest {
    /** futex(2) of a parked thread, as /proc has it. */
    private static final String PARKED = "202 0x7f8a 0x189 0x0 0x0 0x0 0xffffffff 0x7f8b 0x7f8c";
    private static final String READY = "running";

    @TempDir
    private Path process;

    private State stateWhileTheKernelSays(String call) throws Exception {
        var lock = new ReentrantLock();
        lock.lock();
        Thread waiter = Thread.ofPlatform().daemon().start(lock::lock);
        long cpuNs = -1;
        // It still computes for a moment while the JVM says that it waits.
        while (waiter.getState() != Thread.State.WAITING || cpuNs != cpuNs(waiter)) {
            cpuNs = cpuNs(waiter);
            Thread.sleep(20);
        }
        var jvm = new MadeUpJvm() {
            @Override
            public ThreadStack stackOf(Thread thread) {
                return new ThreadStack(thread.getStackTrace(), thread.getState(), false, true, LockSupport.getBlocker(thread), List.of());
            }
        };
        write(waiter, call);
        State state = new SampleGroups(jvm, new KernelThreads(process), null).draw(waiter).activity().state();
        lock.unlock();
        waiter.join();
        return state;
    }

    /** Its CPU time stands still, and the stack costs it none. */
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
