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
 * What it costs to give a short computation a thread of its own: the same computation in the caller's thread, in a new
 * platform thread and in a new virtual thread that the caller waits for.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
public class Computation {
    /** The size of the study's computation, in JMH's units of wasted work: about two microseconds. */
    static final int TOKENS = 1_024;

    /** Where the work is done, for the test that checks the benchmarks against their names. */
    Runnable work = () -> Blackhole.consumeCPU(TOKENS);

    /** No new thread. */
    @Benchmark
    public void inCallersThread() {
        work.run();
    }

    /** A new platform thread: the operating system makes and ends it. */
    @Benchmark
    public void inNewPlatformThread() throws InterruptedException {
        Thread.ofPlatform().start(work).join();
    }

    /** A new virtual thread: the JVM makes it and runs it on a carrier that is there already. */
    @Benchmark
    public void inNewVirtualThread() throws InterruptedException {
        Thread.ofVirtual().start(work).join();
    }
}
