package dev.threadcount.probe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

class KernelThreadsTest {
    private final KernelThreads kernel = new KernelThreads(Path.of("/proc/self"));

    /** Nobody reads, so that the buffers fill and the write blocks. For the JVM the thread runs. */
    @Test
    void threadThatWritesToAFullSocketWaits() throws Exception {
        InetAddress loopback = InetAddress.getLoopbackAddress();
        try (ServerSocket server = new ServerSocket(0, 1, loopback); Socket socket = new Socket(loopback, server.getLocalPort())) {
            Thread writer = Thread.ofPlatform().daemon().start(() -> {
                try {
                    while (true) {
                        socket.getOutputStream().write(new byte[65_536]);
                    }
                } catch (IOException closed) {
                    // The test ends by closing the socket.
                }
            });
            KernelThreads.Task task = null;
            while (task == null || !task.waits() || task.descriptor() < 0) {
                Thread.sleep(20);
                task = kernel.of(writer);
            }
            assertEquals(Thread.State.RUNNABLE, writer.getState());
        }
    }

    @Test
    void threadThatComputesDoesNotWait() throws Exception {
        AtomicBoolean begun = new AtomicBoolean();
        AtomicBoolean ended = new AtomicBoolean();
        Thread busy = Thread.ofPlatform().daemon().start(() -> {
            begun.set(true);
            while (!ended.get()) {
                Thread.onSpinWait();
            }
        });
        // Before that the thread waits until the JVM lets it begin.
        while (!begun.get()) {
            Thread.onSpinWait();
        }
        int waits = 0;
        for (int i = 0; i < 200; i++) {
            KernelThreads.Task task = kernel.of(busy);
            // Without a core the thread does not advance either, but is runnable. If the JVM has stopped it and lets it continue later than
            // us, it does wait.
            waits += task != null && task.waits() ? 1 : 0;
            Thread.sleep(1);
        }
        assertTrue(waits <= 20, waits + " of 200 times");
        ended.set(true);
        busy.join();
        assertNull(kernel.of(busy));
    }

    @Test
    void descriptorIsTheFirstArgumentOrOneInMemory() throws IOException {
        SystemCall calls = new SystemCall(java.util.Set.of(0), java.util.Set.of(7));
        assertEquals(5, calls.descriptor("0 0x5 0x7f 0x1 0x0 0x0 0x0 0x7ffd 0x7f99", address -> -2));
        assertEquals(9, calls.descriptor("7 0x7f10 0x1 0xffffffff 0x0 0x0 0x0 0x7ffd 0x7f99", address -> address == 0x7f10 ? 9 : -2));
        assertEquals(-1, calls.descriptor("7 0x7f10 0x2 0xffffffff 0x0", address -> 9));
        assertEquals(-1, calls.descriptor("202 0x5 0x7f 0x1", address -> -2));
        assertEquals(-1, calls.descriptor("running", address -> -2));
        assertEquals(-1, calls.descriptor(null, address -> -2));
    }
}
