package dev.threadcount.probe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.threadcount.probe.SemaphoreCalls.Calls;
import java.io.DataInputStream;
import java.io.IOException;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class ReleaseScanTest {
    /** Never run: its class file is read. */
    static final class Stage {
        private static final Semaphore SHARED = new Semaphore(1);
        private final Semaphore permits = new Semaphore(2);
        private final Semaphore done = new Semaphore(0);
        private int size;
        private Stage next;

        void limit() throws InterruptedException {
            permits.acquire();
            try {
                size++;
            } finally {
                permits.release();
            }
        }

        void timed(int choice) throws InterruptedException {
            switch (choice) {
                case 1 -> size = 2;
                case 500 -> size = 3;
                default -> size = 4;
            }
            if (permits.tryAcquire(5, TimeUnit.SECONDS)) {
                permits.release();
            }
        }

        void several() throws InterruptedException {
            permits.acquire(size);
            permits.release(size);
        }

        void pass() throws InterruptedException {
            permits.acquire();
            next.permits.release();
        }

        void acknowledge() throws InterruptedException {
            permits.acquire();
            done.release();
        }

        static void shared() throws InterruptedException {
            SHARED.acquire();
            SHARED.release();
        }

        static void parameter(Semaphore one) throws InterruptedException {
            one.acquire();
            one.release();
        }

        static void parameters(Semaphore one, Semaphore other) throws InterruptedException {
            one.acquire();
            other.release();
        }

        void take() throws InterruptedException {
            permits.acquire();
        }

        void around() throws InterruptedException {
            take();
            permits.release();
        }

        void aroundAnother() throws InterruptedException {
            take();
            done.release();
        }
    }

    private static Map<String, Calls> calls() throws IOException {
        try (var file = Stage.class.getResourceAsStream("ReleaseScanTest$Stage.class")) {
            return SemaphoreCalls.of(ClassFile.read(new DataInputStream(file)));
        }
    }

    private static boolean gives(String giver, String taker) throws IOException {
        Map<String, Calls> calls = calls();
        return ReleaseScan.gives(calls.get(giver), calls.get(taker));
    }

    @Test
    void permitsOfTheSameFieldOrVariableAreGivenBack() throws IOException {
        for (String method : Set.of("limit", "timed", "several", "shared", "parameter")) {
            assertTrue(gives(method, method), method);
        }
        assertTrue(gives("around", "take"), "by the caller");
    }

    @Test
    void permitsOfAnotherFieldVariableOrObjectAreASignal() throws IOException {
        for (String method : Set.of("pass", "acknowledge", "parameters", "take")) {
            assertFalse(gives(method, method), method);
        }
        assertFalse(gives("aroundAnother", "take"));
    }

    @Test
    void theSemaphoreIsNamedByTheFieldsThatLeadToIt() throws IOException {
        String stage = Stage.class.getName().replace('.', '/');
        Calls calls = calls().get("pass");
        assertEquals(Set.of("0>" + stage + ".permits"), calls.taken());
        assertEquals(Set.of("0>" + stage + ".next>" + stage + ".permits"), calls.given());
        assertEquals(Set.of("0>" + stage + ".permits"), calls().get("timed").taken());
    }
}
