package dev.threadcount.orders.backend;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;

/**
 * Passes the bytes of each connection on to another port, and uses CPU for each piece from the client. In front of the database it is the
 * bottleneck on purpose, to check that a report says so.
 */
final class CpuProxy {
    private final ServerSocket listener;
    private final int to;
    private final long cpuNanos;
    private final ThreadMXBean threads = ManagementFactory.getThreadMXBean();

    CpuProxy(int port, int to, long cpuMicros) throws IOException {
        this.listener = new ServerSocket(port, 200, InetAddress.getLoopbackAddress());
        this.to = to;
        this.cpuNanos = cpuMicros * 1_000;
    }

    int port() {
        return listener.getLocalPort();
    }

    /** Accepts connections until it is closed. */
    void start() {
        Thread.ofPlatform().name("accept").start(() -> {
            while (!listener.isClosed()) {
                try {
                    relay(listener.accept());
                } catch (IOException closed) {
                    System.err.println("a connection was not relayed: " + closed);
                }
            }
        });
    }

    void stop() throws IOException {
        listener.close();
    }

    private void relay(Socket client) throws IOException {
        try {
            var server = new Socket(InetAddress.getLoopbackAddress(), to);
            client.setTcpNoDelay(true);
            server.setTcpNoDelay(true);
            copy(client, server, cpuNanos);
            copy(server, client, 0);
        } catch (IOException refused) {
            // Otherwise the client waits for a response without end.
            client.close();
            throw refused;
        }
    }

    /** Copies on platform threads, because the JVM counts the CPU time of each. */
    private void copy(Socket from, Socket to, long cpuNanosPerPiece) {
        Thread.ofPlatform().daemon().start(() -> {
            try (from; to) {
                InputStream in = from.getInputStream();
                OutputStream out = to.getOutputStream();
                byte[] piece = new byte[16 * 1024];
                for (int length = in.read(piece); length > 0; length = in.read(piece)) {
                    use(cpuNanosPerPiece);
                    out.write(piece, 0, length);
                }
            } catch (IOException closed) {
                // One side has closed. The other side is closed here.
            }
        });
    }

    private void use(long nanos) {
        long end = threads.getCurrentThreadCpuTime() + nanos;
        while (nanos > 0 && threads.getCurrentThreadCpuTime() < end) {
            Thread.onSpinWait();
        }
    }
}
