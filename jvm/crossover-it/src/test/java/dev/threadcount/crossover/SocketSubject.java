package dev.threadcount.crossover;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;

/** A listening socket of an unknown server. */
final class SocketSubject implements Subject {
    private final ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());

    private SocketSubject() throws IOException {
        Thread.ofPlatform().daemon().name("http-nio-8080-Acceptor").start(() -> {
            try {
                while (true) {
                    socket.accept().close();
                }
            } catch (IOException closed) {
                // The test is over.
            }
        });
    }

    @Override
    public int port() {
        return socket.getLocalPort();
    }

    @Override
    public void stop() throws IOException {
        socket.close();
    }

    @Override
    public Object executor() {
        return this;
    }

    public static void main(String[] arguments) throws Exception {
        Subject.serve(new SocketSubject());
    }
}
