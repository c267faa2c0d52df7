package dev.threadcount.computation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class ComputationTest {
    private final List<Thread> workers = new ArrayList<>();
    private final Computation computation = new Computation();

    ComputationTest() {
        computation.work = () -> workers.add(Thread.currentThread());
    }

    @Test
    void eachBenchmarkWorksOnceInTheThreadOfItsName() throws InterruptedException {
        computation.inCallersThread();
        computation.inNewPlatformThread();
        computation.inNewVirtualThread();
        assertEquals(3, workers.size());
        assertEquals(Thread.currentThread(), workers.get(0));
        assertNotEquals(Thread.currentThread(), workers.get(1));
        assertFalse(workers.get(1).isVirtual());
        assertTrue(workers.get(2).isVirtual());
    }

    @Test
    void theWorkIsOverWhenTheBenchmarkReturns() throws InterruptedException {
        computation.inNewPlatformThread();
        computation.inNewVirtualThread();
        assertEquals(List.of(Thread.State.TERMINATED, Thread.State.TERMINATED),
                workers.stream().map(Thread::getState).toList());
    }
}
