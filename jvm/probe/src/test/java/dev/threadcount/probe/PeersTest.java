package dev.threadcount.probe;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class PeersTest {
    @Test
    void connectionsThatThisProcessMadeAreCountedByPeerAndThoseOfItsClientsAreNot() throws IOException {
        try (ServerSocket server = new ServerSocket(0, 10, InetAddress.getLoopbackAddress());
                Socket first = new Socket(server.getInetAddress(), server.getLocalPort());
                Socket second = new Socket(server.getInetAddress(), server.getLocalPort());
                Socket client = server.accept()) {
            var peers = new Peers(Path.of("/proc/self")).read();
            // Other tests have peers of their own.
            assertEquals(2, peers.get("127.0.0.1:" + server.getLocalPort()), peers.toString());
            assertEquals(null, peers.get("127.0.0.1:" + first.getLocalPort()), peers.toString());
            assertEquals(server.getLocalPort(), second.getPort());
            assertEquals(server.getLocalPort(), client.getLocalPort());
        }
    }

    @Test
    void addressesAreReadFromTheKernelsHexadecimals() {
        assertEquals("127.0.0.1:5432", Peers.address("0100007F:1538"));
        assertEquals("10.1.2.3:80", Peers.address("0000000000000000FFFF00000302010A:0050"));
        assertEquals("[2001:db8:0:0:0:0:0:1]:443", Peers.address("B80D0120000000000000000001000000:01BB"));
    }
}
