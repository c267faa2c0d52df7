package dev.threadcount.computation;

import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.infra.Blackhole;

/**
 * Measures the cost of running a short computation in a separate thread: the same computation in the caller's thread, in a new platform
 * thread, and in a new virtual thread. The caller waits for the thread.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
public class Computation {
    /** The size of the study's computation, in JMH's units of wasted work: about two microseconds. */
    static final int TOKENS = 1_024;

    /** The work, which a test replaces to check each benchmark against its name. */
    Runnable work = () -> Blackhole.consumeCPU(TOKENS);

    /** Runs in the caller's thread. */
    @Benchmark
    public void inCallersThread() {
        work.run();
    }

    /** Runs in a new platform thread, which the operating system makes and ends. */
    @Benchmark
    public void inNewPlatformThread() throws InterruptedException {
        Thread.ofPlatform().start(work).join();
    }

    /** Runs in a new virtual thread, which the JVM makes and runs on an existing carrier. */
    @Benchmark
    public void inNewVirtualThread() throws InterruptedException {
        Thread.ofVirtual().start(work).join();
    }
}
