package dev.threadcount.crossover;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.List;
import packed.org.eclipse.jetty.Acceptor;

/** A listening socket of an unknown server, or of one with renamed packages. */
final class SocketSubject implements Subject {
    private final ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());

    private SocketSubject(boolean isPacked) throws IOException {
        Runnable accepting = () -> new Acceptor(socket).run();
        Thread.ofPlatform().daemon().name("http-nio-8080-Acceptor").start(isPacked ? new Acceptor(socket) : accepting);
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
        Subject.serve(new SocketSubject(List.of(arguments).contains("packed")));
    }
}
