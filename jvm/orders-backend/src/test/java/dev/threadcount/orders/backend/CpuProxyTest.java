package dev.threadcount.orders.backend;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.net.InetAddress;
import java.net.Socket;
import org.junit.jupiter.api.Test;

class CpuProxyTest {
    @Test
    void clientIsDisconnectedWhereWhatIsBehindTheProxyRefuses() throws Exception {
        var proxy = new CpuProxy(0, LocalBackends.freePort(), 0);
        proxy.start();
        for (int connection = 0; connection < 2; connection++) {
            try (var client = new Socket(InetAddress.getLoopbackAddress(), proxy.port())) {
                client.setSoTimeout(10_000);
                assertEquals(-1, client.getInputStream().read());
            }
        }
        proxy.stop();
    }
}
