package dev.threadcount.probe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class PeersTest {
    private final KernelThreads kernel = new KernelThreads(Path.of("/proc/self"));
    private Socket current;
    private final Peers peers = new Peers(new MadeUpJvm() {
        @Override
        public InetSocketAddress[] endsOf(int descriptor) {
            return new InetSocketAddress[] {
                (InetSocketAddress) current.getLocalSocketAddress(), (InetSocketAddress) current.getRemoteSocketAddress()
            };
        }
    }, Path.of("/proc/self"));

    /** The peer of a socket from which a thread reads. The kernel is asked until the thread has come to rest. */
    private String peer(Socket socket) throws InterruptedException {
        Thread reader = Thread.ofPlatform().daemon().start(() -> {
            try {
                socket.getInputStream().read();
            } catch (IOException closed) {
                // The test ends by closing the socket.
            }
        });
        current = socket;
        while (true) {
            KernelThreads.Task task = kernel.of(reader);
            if (task != null && task.waits() && task.descriptor() >= 0 && isReading(reader)) {
                return peers.of(task.descriptor());
            }
            Thread.sleep(20);
        }
    }

    private static boolean isReading(Thread reader) {
        StackTraceElement[] frames = reader.getStackTrace();
        return frames.length > 0 && frames[0].getClassName().startsWith("sun.nio.ch.");
    }

    @Test
    void eachReadHasThePeerOfItsOwnSocketAndOneFromAClientHasNone() throws Exception {
        InetAddress loopback = InetAddress.getLoopbackAddress();
        try (ServerSocket one = new ServerSocket(0, 10, loopback); ServerSocket other = new ServerSocket(0, 10, loopback);
                Socket first = new Socket(loopback, one.getLocalPort());
                Socket second = new Socket(loopback, other.getLocalPort());
                Socket client = one.accept(); Socket timed = new Socket(loopback, other.getLocalPort())) {
            // With a timeout the thread is in poll(2), whose argument is in memory.
            timed.setSoTimeout(3_600_000);
            assertEquals("127.0.0.1:" + one.getLocalPort(), peer(first));
            assertEquals("127.0.0.1:" + other.getLocalPort(), peer(second));
            assertEquals("127.0.0.1:" + other.getLocalPort(), peer(timed));
            assertNull(peer(client));
        }
    }

    @Test
    void addressesAreWrittenAsInAddressesOfTheWeb() throws IOException {
        assertEquals("10.1.2.3:80", Peers.name(new InetSocketAddress(InetAddress.getByName("10.1.2.3"), 80)));
        assertEquals("[2001:db8:0:0:0:0:0:1]:443", Peers.name(new InetSocketAddress(InetAddress.getByName("2001:db8::1"), 443)));
    }
}
